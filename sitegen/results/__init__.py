"""Load, check, compare and store records of measurements, and compute figures from them.  Only `store` opens files.

Codes of this room: SG301 not JSON or not UTF-8 · SG302 wrong shape or unknown field · SG303 another schema
SG304 the record of another kernel, GPU or cell · SG305 unknown run · SG306 a time without a check
"""
