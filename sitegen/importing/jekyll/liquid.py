"""Split Liquid into tokens.

The tokenizer is our own because unknown Liquid must stay in the text as it was written.  A library's parser returns a
tree of registered tags without their source, and stops at other tags.  Liquid itself, too, splits a text by one regular
expression before it knows any tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

_END = re.compile(r"\{%-?\s*end(raw|comment)\s*-?%\}|%\}|\}\}")
_BEGIN = {"%}": "{%", "}}": "{{"}
_TAG = r"\{%(?P<before>-?)\s*(?P<name>\w+)(?P<markup>.*?)(?P<after>-?)%\}"
_OUTPUT = r"\{\{(?P<lstrip>-?)(?P<expression>.*?)(?P<rstrip>-?)\}\}"
_PARAMETER = re.compile(
    r"(?<![\w-])([\w-]++)\s*+=\s*+(?:\"((?:\\.|[^\"\\])*+)\"|'((?:\\.|[^'\\])*+)'|([^\s'\"]++))", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text: its `source`, and the index `start` at which it begins."""

    kind: str
    """`text`, `raw` (text that is no Liquid), `comment`, `tag` or `output`."""
    source: str
    start: int
    name: str = ""
    markup: str = ""
    """The text behind a tag's name, the expression of an output, or the text within `raw` or `comment`."""
    trims: tuple[bool, bool] = (False, False)
    """True if the token removes the white space before it, and the same for the white space after it."""


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text; joined, their sources are the text."""
    at, ends = 0, {match[1] or match[0]: match.start() for match in _END.finditer(text)}
    begins = dict.fromkeys(_BEGIN, -1)
    while match := _token_pattern(_reached(text, at, begins, ends)).search(text, at):
        if match.start() > at:
            yield Token("text", text[at : match.start()], at)
        yield _token(match)
        at = match.end()
    if at < len(text):
        yield Token("text", text[at:], at)


def _reached(text: str, at: int, begins: dict[str, int], ends: Mapping[str, int]) -> frozenset[str]:
    """Return the ends that stand behind the first beginning from `at` on; `begins` keeps these beginnings."""
    for end, begin in _BEGIN.items():
        if begins[end] < at:
            found = text.find(begin, at)
            begins[end] = found if found >= 0 else len(text)
    return frozenset(end for end, last in ends.items() if last >= begins.get(end, at))


@cache
def _token_pattern(ends: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of a token that ends by one of these: without an end, a search would read all the rest.

    `ends` are `%}`, `}}`, and the blocks that are no Liquid and have an end: `raw`, `comment`.
    """
    names = "|".join(sorted(ends & {"raw", "comment"})) or "(?!)"
    verbatim = rf"\{{%-?\s*(?P<verbatim>{names})\s*-?%\}}(?P<inside>.*?)\{{%-?\s*end(?P=verbatim)\s*-?%\}}"
    tag = _TAG if ends & {"%}", "raw", "comment"} else f"(?!){_TAG}"
    output = _OUTPUT if "}}" in ends else f"(?!){_OUTPUT}"
    return re.compile(f"{verbatim}|{tag}|{output}", re.DOTALL)


def block_ends(pieces: Sequence[Token]) -> dict[int, int]:
    """Return the index of the tag that closes each block, by the index of the tag that begins it.

    A block that nothing closes is not in it.
    """
    ends: dict[int, int] = {}
    open_at: dict[str, list[int]] = {}
    for at, piece in enumerate(pieces):
        if piece.kind == "tag" and (begun := open_at.get(piece.name.removeprefix("end"))) and piece.name[:3] == "end":
            ends[begun.pop()] = at
        elif piece.kind == "tag":
            open_at.setdefault(piece.name, []).append(at)
    return ends


def parameters(markup: str) -> Iterator[tuple[str, str, bool]]:
    """Yield each parameter of `path="a.png" width=page.width`: name, value without quotes, whether it had none."""
    for name, double, single, bare in _PARAMETER.findall(markup):
        yield name, double.replace('\\"', '"') or single.replace("\\'", "'") or bare, bool(bare)


def _token(match: re.Match[str]) -> Token:
    source, start = match[0], match.start()
    if match["verbatim"]:
        kind = match["verbatim"]
        return Token(kind, source, start, kind, match["inside"])
    if match["name"]:
        trims = (bool(match["before"]), bool(match["after"]))
        return Token("tag", source, start, match["name"], match["markup"].strip(), trims)
    trims = (bool(match["lstrip"]), bool(match["rstrip"]))
    return Token("output", source, start, "", match["expression"].strip(), trims)
