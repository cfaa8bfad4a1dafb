"""Records of measurements: keys, freshness with reasons, the JSON store, figures, comparison.  Pure but for `store`.

Codes of this room: SG301 not JSON or not UTF-8 · SG302 wrong shape or unknown field · SG303 another schema
SG304 the record of another kernel, GPU or cell · SG305 unknown run · SG306 a time without a check
"""
