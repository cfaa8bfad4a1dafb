"""Turn texts of the program into Markdown: prose, cells of tables, front matter, words for the type of a value."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from sitegen.model.kernel import Scalar
from sitegen.model.site import Ref
from sitegen.read.forms import Either, ListOf, MapOf, OneOf, simple_type

DAY_OF_PAGES = "2026-11-24"
_PLAIN = {
    str: "text",
    Ref: "text",
    bool: "`true` or `false`",
    int: "a whole number",
    float: "a number",
    dt.date: "a date",
}
_UNIONS = {
    (dt.date, dt.datetime): "a date, with a time or without",
    get_args(Scalar): "a number, a word or a truth value",
}
_CODE = re.compile(r"(`+[^`].*?[^`]?`+(?!`))")


def prose(text: str) -> str:
    """Escape what Markdown would take for something else outside of code: `@key`, `[…]`, `$`, `<`, `{`."""
    parts = _CODE.split(" ".join(text.split()))
    return "".join(part if part.startswith("`") else re.sub(r"([@\[\]$<{}*_\\])", r"\\\1", part) for part in parts)


def front_matter(title: str, address: str, description: str) -> str:
    """Return the head of a generated page."""
    return (
        f"---\ntitle: {title}\ndate: {DAY_OF_PAGES}\npermalink: /{address}/\ndescription: {description}\n---\n"
        "<!-- Written by docs/generate from the program: change the texts there. -->\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a bar within a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def words_of(hint: Any, links: Mapping[Any, str]) -> str:
    """Return what a type of value is called, as in `a list of texts`; `links` has the words for each dataclass."""
    match simple_type(hint):
        case OneOf(words):
            return _listed([f"`{word}`" for word in words])
        case Either(types):
            return _UNIONS.get(types) or " or ".join(words_of(one, links) for one in types)
        case ListOf(item):
            return f"a list; each is {words_of(item, links)}"
        case MapOf(value):
            return f"lines `name: …`; each is {words_of(value, links)}"
        case plain if plain in _PLAIN:
            return _PLAIN[plain]
        case dataclass:
            return links[dataclass]


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
