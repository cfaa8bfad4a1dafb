"""Turn `{layout}`, `{memory-access}`, `{timeline}` and `{mermaid}` fences into figures that are computed, never typed.

Codes: SG130 layout · SG131 address · SG132 timeline · SG133 diagram · SG134 the library for diagrams is missing
"""
