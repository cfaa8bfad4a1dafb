"""Turn text into the terms under which search finds it.  `templates/assets/finding.js` does the same with a question.

A term is a word in small letters without its ending, so that `tiles`, `tiled` and `tiling` are one term.  A symbol with
underscores is a term as it stands, beside the terms of its parts.  Chinese and Japanese are written without spaces:
their terms are all pairs of neighbouring characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

_UNSPACED = "\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff"
_TOKEN = re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+")
_PAIRED = re.compile(rf"[{_UNSPACED}]{{2,}}")
_APOSTROPHE = re.compile("['’]")
_OF_SEVERAL = re.compile(r"[A-Za-z]*[a-z][A-Z][A-Za-z]*")
_CAPITAL_INSIDE = re.compile("(?<=[a-z])(?=[A-Z])")
_ENDING = re.compile(r"([a-z]{3,}?)(?:(?<!e)ed|ings?|i?es|ied|[sey])")
_DOUBLED = re.compile(r"([^aeiou])\1$")
_INFLECTED = re.compile(r"[a-z]{4,}")
_PREFIX = 3
"""Letters of a term that decide its file: a question finds all terms that begin with them in one file."""
_ALPHABETS = "\u2e80"
"""The first character of the scripts in which one character says as much as several letters."""


def tokens(text: str) -> Counter[str]:
    """Return the words of a text in small letters, and how often each stands in it.

    `FlashAttention` is three words: itself and its parts.
    """
    parts = " ".join(_CAPITAL_INSIDE.sub(" ", word) for word in _OF_SEVERAL.findall(text))
    plain = unicodedata.normalize("NFKC", f"{text} {parts}").lower()
    return Counter(_TOKEN.findall(_APOSTROPHE.sub("", plain)))


@lru_cache(maxsize=50_000)
def terms(token: str) -> tuple[str, ...]:
    """Return the terms of a token."""
    if _PAIRED.fullmatch(token):
        return tuple(token[at : at + 2] for at in range(len(token) - 1))
    parts = [part for part in token.split("_") if part] if "_" in token else []
    return tuple(dict.fromkeys((stem(token), *map(stem, parts))))


def stem(word: str) -> str:
    """Return an English word without its ending; any other word as it is."""
    if not _INFLECTED.fullmatch(word):
        return word
    inflected = _ENDING.fullmatch(word)
    return _DOUBLED.sub(r"\1", inflected[1] if inflected else word)


def file_number(term: str, files: int) -> int:
    """Return the number of the file of a term, among `files` files."""
    beginning, number = term.lstrip("_"), 0
    for character in beginning[: 1 if beginning[:1] >= _ALPHABETS else _PREFIX]:
        number = (number * 33 + ord(character)) % 65521
    return number % files
