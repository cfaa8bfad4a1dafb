"""kramdown's `{: #id .class key="value"}` → `{#id .class}`, which is all that a text has here."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sitegen.importing.jekyll.work import Work

_PART = re.compile(r"([\w:.-]+)=(?:\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)')|((?:[#.][\w:-]+)+)|(\S+)")
_ID_OR_CLASS = re.compile(r"#([\w:.-]+?)(?=[#.]|$)|\.([\w:-]+)")
_SILENT = frozenset({"no_toc", "toc"})
"""Names that say what is so anyhow: contents stand beside every text."""


@dataclass(frozen=True, slots=True)
class Attributes:
    id: str = ""
    classes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """As written: `key="value"`, and names that are not defined."""


def read_attributes(text: str, work: Work) -> Attributes:
    """Named lists that were defined above are taken in."""
    chosen, classes = "", list[str]()
    others: list[str] = []
    for found in _PART.finditer(text):
        if found[4]:
            for name, style in _ID_OR_CLASS.findall(found[4]):
                chosen = name or chosen
                classes += [style] if style else []
        elif found[5] and found[5] in work.lists:
            inner = read_attributes(work.lists[found[5]], work)
            chosen, classes, others = inner.id or chosen, [*classes, *inner.classes], [*others, *inner.others]
        elif found[1] == "id":
            chosen = found[2] or found[3] or ""
        elif found[1] == "class":
            classes += (found[2] or found[3] or "").split()
        else:
            others.append(found[0])
    return Attributes(chosen, tuple(classes), tuple(others))


def written(given: Attributes) -> str:
    """`{#id .class}`, or nothing."""
    classes = [name for name in given.classes if name not in _SILENT and re.fullmatch(r"[A-Za-z][\w-]*", name)]
    parts = [*([f"#{given.id}"] if given.id else []), *(f".{name}" for name in classes)]
    return f"{{{' '.join(parts)}}}" if parts else ""


def say_others(given: Attributes, work: Work, line: int, source: str) -> None:
    """A theme's own sizes and styles have no place."""
    others = [part for part in given.others if part not in _SILENT and not part.startswith(("target=", "rel="))]
    if others:
        work.warn("SG605", f"left out: {', '.join(others)}", source, line, "an id and classes are what a text has")
