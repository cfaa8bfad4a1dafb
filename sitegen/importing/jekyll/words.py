"""Tell whether a text of Jekyll says something of its own, or is a template for Liquid."""

from __future__ import annotations

import re

from sitegen.importing.closed import COMMENT, closed, element

_LOOP = closed(r"\{%-?\s*for\b", r"\{%-?\s*endfor\b")
_MARKUP = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|<[^<>]*>|\]\([^()]*\)|&\w+;|^[ \t]*\[[^\]\n]+\]:[^\n]*", re.DOTALL | re.M)
_WORD = re.compile(r"\w+")
FEW = 20
"""The number of words that a text may have beside its Liquid and still count as a template."""


def has_words(text: str) -> bool:
    """Return whether a text says something beside its tags, its scripts, its loops and its Liquid."""
    for unseen in (COMMENT, element("script"), element("style")):
        text = unseen.replaced(text, "")
    return len(_WORD.findall(_MARKUP.sub(" ", _LOOP.replaced(text, "{%")))) > FEW
