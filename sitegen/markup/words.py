"""Turn tokens into plain text, keep a number and its unit on one line, and count a reader's words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from markdown_it.token import Token

_UNIT = re.compile(
    r" (?:(?<=\d )(?=(?:%|[µmn]?s|[KMGT]?i?B(?:/s)?|[GMTP]?FLOP(?:/s)?|[GM]Hz|W|V|(?:byte|bit|cycle)s?|×)(?:\W|$)|· \d)"
    r"|(?<=\d [×·] )(?=\d))"
)
"""A space between a number and its unit.  Both branches begin with the space, so that `re` goes from space to space."""
_AFTER_DIGIT = re.compile(r"(?<=\d) ")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
"""Scripts that write no spaces: a character is about half a word there."""


def plain_text(tokens: Iterable[Token]) -> str:
    """Return the words that a reader sees of inline tokens, without markup."""
    parts: list[str] = []
    for token in tokens:
        if token.type == "text":
            parts.append(token.content.replace("\n", " "))
        elif token.type == "code_inline":
            parts.append(token.content)
        elif token.nesting:
            continue
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.type == "image":
            parts.append(plain_text(token.children or ()))
        elif token.type == "role":
            parts.append(token.meta.get("said", token.content))
        elif token.type in ("math_inline", "text_special", "citation"):
            parts.append(token.content)
    return "".join(parts)


def join_units(text: str) -> str:
    """Return an author's sentence with a no-break space between a number and its unit, in `8 × 8` and in `8 · 8`."""
    return _UNIT.sub("\u00a0", text)


def join_figure(text: str) -> str:
    """Return a figure on one line, with a no-break space behind each number: `64 K registers`."""
    return _AFTER_DIGIT.sub("\u00a0", text)


def are_words(tokens: Sequence[Token]) -> bool:
    """Return whether the tokens are one text and nothing else."""
    return len(tokens) == 1 and tokens[0].type == "text"


def _words_of(block: Token) -> str:
    if block.children is None:
        return block.content
    return block.children[0].content if are_words(block.children) else plain_text(block.children)


def count_words(tokens: Iterable[Token]) -> int:
    """Return the number of words of prose; listings are not read word by word."""
    text = " ".join([_words_of(token) for token in tokens if token.type in ("inline", "table_rows")])
    if text.isascii():
        return len(text.split())
    others, runs = _CJK.subn(" ", text)
    alone = len(text) - len(others) + runs  # a space stands for each run of them
    return len(others.split()) + (alone + 1) // 2
