"""Mend the mistakes that an imported text brought along, each by its code and its place.

`text` takes a text with its mistakes and returns the mended text with a warning for each mend.  `places` finds what
stands around a place of a text: a link, a tag, a formula, a fence, a block.  `rules` has the mend of each code; `tex`
turns TeX of MathJax into TeX that the engine here knows.  What no rule can mend is shown as code.
"""
