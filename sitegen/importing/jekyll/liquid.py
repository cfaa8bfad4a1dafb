"""Liquid → its pieces, and the value of an expression.

A tokenizer of our own: Liquid itself finds its tags by one regular expression, before it knows any tag, and what an
import does not know must stay as it was written, at its place.  A library's parser gives a tree of the tags that were
registered with it, without their source, and stops at the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

_TOKEN = re.compile(
    r"\{%-?\s*(?P<verbatim>raw|comment)\s*-?%\}(?P<inside>.*?)\{%-?\s*end(?P=verbatim)\s*-?%\}"
    r"|\{%(?P<before>-?)\s*(?P<name>\w+)(?P<markup>.*?)(?P<after>-?)%\}"
    r"|\{\{(?P<lstrip>-?)(?P<expression>.*?)(?P<rstrip>-?)\}\}",
    re.DOTALL,
)
_QUOTED = r"\"[^\"]*\"|'[^']*'"
_PIPE = re.compile(rf"((?:{_QUOTED}|[^|\"'])+)")
_VARIABLE = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*|\[(?:\"[^\"]*\"|'[^']*')\])*")
_ARGUMENT = re.compile(rf"{_QUOTED}|[^,\s]+")
_PARAMETER = re.compile(r"([\w-]+)\s*=\s*(?:\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)'|([^\s'\"]+))", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text; `source` is all of it, `start` where it begins."""

    kind: str
    """`text`, `raw` (text that is no Liquid), `comment`, `tag` or `output`."""
    source: str
    start: int
    name: str = ""
    markup: str = ""
    """Of a tag what follows its name, of an output its expression, of raw text and comments what is inside."""
    trims: tuple[bool, bool] = (False, False)
    """Whether it takes away the white space before and after it."""


def tokens(text: str) -> Iterator[Token]:
    at = 0
    for found in _TOKEN.finditer(text):
        if found.start() > at:
            yield Token("text", text[at : found.start()], at)
        yield _token(found)
        at = found.end()
    if at < len(text):
        yield Token("text", text[at:], at)


def block_end(pieces: Sequence[Token], at: int) -> int | None:
    """The index of the tag that closes the block which begins at `at`; None where nothing closes it."""
    name, depth = pieces[at].name, 0
    for index in range(at, len(pieces)):
        if pieces[index].kind == "tag" and pieces[index].name in (name, f"end{name}"):
            depth += 1 if pieces[index].name == name else -1
            if depth == 0:
                return index
    return None


def parameters(markup: str) -> dict[str, str]:
    """`path="a.png" width=3` → values by name, as they were written but for their quotes."""
    found = {}
    for name, double, single, bare in _PARAMETER.findall(markup):
        found[name] = double.replace('\\"', '"') or single.replace("\\'", "'") or bare
    return found


def value_of(expression: str, variables: Mapping[str, str], filters: Mapping[str, Callable[..., str]]) -> str | None:
    """What an output prints; None where a variable, a filter or its arguments are not known."""
    head, *steps = (part.strip() for part in _PIPE.findall(expression.strip())) if expression.strip() else [""]
    value = _operand(head, variables)
    for step in steps:
        name, _, rest = step.partition(":")
        arguments = [_operand(word, variables) for word in _ARGUMENT.findall(rest)]
        known = filters.get(name.strip())
        if value is None or known is None or any(argument is None for argument in arguments):
            return None
        try:
            value = known(value, *arguments)
        except (TypeError, ValueError):
            return None
    return value


def text_filters() -> dict[str, Callable[..., str]]:
    """Filters that need nothing but the text."""
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


def _token(found: re.Match[str]) -> Token:
    source, start = found[0], found.start()
    if found["verbatim"]:
        kind = found["verbatim"]
        return Token(kind, source, start, kind, found["inside"])
    if found["name"]:
        trims = (bool(found["before"]), bool(found["after"]))
        return Token("tag", source, start, found["name"], found["markup"].strip(), trims)
    trims = (bool(found["lstrip"]), bool(found["rstrip"]))
    return Token("output", source, start, "", found["expression"].strip(), trims)


def _operand(word: str, variables: Mapping[str, str]) -> str | None:
    """A literal or a variable."""
    if re.fullmatch(_QUOTED, word):
        return word[1:-1]
    if re.fullmatch(r"-?\d+(\.\d+)?", word):
        return word
    return variables.get(word) if _VARIABLE.fullmatch(word) else None
