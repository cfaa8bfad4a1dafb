"""Tokens → plain text, and how many words a reader reads."""

from __future__ import annotations

import re
from collections.abc import Iterable

from markdown_it.token import Token

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
"""Scripts that write no spaces: a character is about half a word there."""


def plain_text(tokens: Iterable[Token]) -> str:
    """What a reader sees of inline tokens, without markup."""
    parts: list[str] = []
    for token in tokens:
        if token.type == "text":
            parts.append(token.content.replace("\n", " "))
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.type == "image":
            parts.append(plain_text(token.children or ()))
        elif token.type == "role" and token.info == "term":
            parts.append(token.content.partition(" <")[0])
        elif token.type in ("code_inline", "math_inline", "text_special", "role", "citation"):
            parts.append(token.content)
    return "".join(parts)


def count_words(tokens: Iterable[Token]) -> int:
    """Of prose; code and tables of figures are not read word by word."""
    text = " ".join(plain_text(token.children or ()) for token in tokens if token.type == "inline")
    if text.isascii():
        return len(text.split())
    alone = len(_CJK.findall(text))
    return len(_CJK.sub(" ", text).split()) + (alone + 1) // 2
