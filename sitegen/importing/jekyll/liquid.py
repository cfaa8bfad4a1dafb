"""Split Liquid into tokens, and compute the value of an expression.

The tokenizer is our own because unknown Liquid must stay in the text as it was written.  A library's parser returns a
tree of registered tags without their source, and stops at other tags.  Liquid itself, too, splits a text by one regular
expression before it knows any tag.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape

MOST_CHARACTERS = 10_000
"""Most characters of a text that a filter changes, and of each of its arguments."""
_END = re.compile(r"\{%-?\s*end(raw|comment)\s*-?%\}|%\}|\}\}")
_BEGIN = {"%}": "{%", "}}": "{{"}
_TAG = r"\{%(?P<before>-?)\s*(?P<name>\w+)(?P<markup>.*?)(?P<after>-?)%\}"
_OUTPUT = r"\{\{(?P<lstrip>-?)(?P<expression>.*?)(?P<rstrip>-?)\}\}"
_QUOTED = r"\"[^\"]*\"|'[^']*'"
_PIPE = re.compile(rf"((?:{_QUOTED}|[^|\"'])+)")
_VARIABLE = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*|\[(?:\"[^\"]*\"|'[^']*')\])*")
_ARGUMENT = re.compile(rf"{_QUOTED}|[^,\s]+")
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


def parameters(markup: str) -> dict[str, str]:
    """Return the parameters `path="a.png" width=3` as values by name, without their quotes."""
    values = {}
    for name, double, single, bare in _PARAMETER.findall(markup):
        values[name] = double.replace('\\"', '"') or single.replace("\\'", "'") or bare
    return values


def value_of(expression: str, variables: Mapping[str, str], filters: Mapping[str, Callable[..., str]]) -> str | None:
    """Return the text that an output prints; None where a variable, a filter or its arguments are not known."""
    head, *steps = (part.strip() for part in _PIPE.findall(expression.strip())) if expression.strip() else [""]
    value = _operand(head, variables)
    for step in steps:
        name, _, rest = step.partition(":")
        arguments = [_operand(word, variables) for word in _ARGUMENT.findall(rest)]
        known = filters.get(name.strip())
        if value is None or known is None or any(argument is None for argument in arguments):
            return None
        if max(len(text or "") for text in (value, *arguments)) > MOST_CHARACTERS:
            return None
        try:
            value = known(value, *arguments)
        except (TypeError, ValueError):
            return None
    return value


def text_filters() -> dict[str, Callable[..., str]]:
    """Return the filters that need nothing but the text, by name."""
    return {
        "append": lambda text, more: text + more,
        "capitalize": lambda text: text[:1].upper() + text[1:],
        "downcase": str.lower,
        "escape": escape,
        "prepend": lambda text, more: more + text,
        "remove": lambda text, part: text.replace(part, ""),
        "remove_first": lambda text, part: text.replace(part, "", 1),
        "replace": lambda text, part, other: text.replace(part, other),
        "replace_first": lambda text, part, other: text.replace(part, other, 1),
        "strip": str.strip,
        "upcase": str.upper,
    }


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


def _operand(word: str, variables: Mapping[str, str]) -> str | None:
    """Return the value of a literal or a variable; None where it is not known."""
    if re.fullmatch(_QUOTED, word):
        return word[1:-1]
    if re.fullmatch(r"-?\d+(\.\d+)?", word):
        return word
    return variables.get(word) if _VARIABLE.fullmatch(word) else None
