"""Turn kramdown's `{: #id .class key="value"}` into `{#id .class}`, which is all that a text of sitegen has."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sitegen.importing.jekyll.conversion import Conversion

_PART = re.compile(r"([\w:.-]+)=(?:\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)')|((?:[#.][\w:-]+)+)|(\S+)")
_ID_OR_CLASS = re.compile(r"#([\w:.-]+?)(?=[#.]|$)|\.([\w:-]+)")
MOST_NAMED = 100
"""The most names that one list may lead to."""
_SILENT = frozenset({"no_toc", "toc"})
"""Names without effect here: a table of contents stands beside every text."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """The id, the classes and the other attributes of one list."""

    id: str = ""
    classes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """The remaining parts as they were written: `key="value"`, and names that are not defined."""


def read_attributes(text: str, conversion: Conversion, named: set[str] | None = None) -> Attributes:
    """Return the attributes of a list; a name in it stands for the list that was defined under that name.

    Each defined list is read once: a list may name itself, and lists that name others twice would grow without end.
    `named` has the names that were read already; a name after MOST_NAMED others is left out.
    """
    named = set() if named is None else named
    chosen, classes = "", list[str]()
    others: list[str] = []
    for match in _PART.finditer(text):
        if match[4]:
            for name, style in _ID_OR_CLASS.findall(match[4]):
                chosen = name or chosen
                classes += [style] if style else []
        elif match[5] and match[5] in named:
            continue
        elif match[5] and match[5] in conversion.lists and len(named) < MOST_NAMED:
            named.add(match[5])
            inner = read_attributes(conversion.lists[match[5]], conversion, named)
            chosen, classes, others = inner.id or chosen, [*classes, *inner.classes], [*others, *inner.others]
        elif match[1] == "id":
            chosen = match[2] or match[3] or ""
        elif match[1] == "class":
            classes += (match[2] or match[3] or "").split()
        else:
            others.append(match[0])
    return Attributes(chosen, tuple(classes), tuple(others))


def attribute_list(attributes: Attributes) -> str:
    """Return `{#id .class}`, or an empty text."""
    classes = [name for name in attributes.classes if name not in _SILENT and re.fullmatch(r"[A-Za-z][\w-]*", name)]
    parts = [*([f"#{attributes.id}"] if attributes.id else []), *(f".{name}" for name in classes)]
    return f"{{{' '.join(parts)}}}" if parts else ""


def report_left_out(attributes: Attributes, conversion: Conversion, line: int, source: str) -> None:
    """Warn of the attributes that are left out, such as a theme's sizes and styles."""
    others = [part for part in attributes.others if part not in _SILENT and not part.startswith(("target=", "rel="))]
    if others:
        conversion.warn(
            "SG605", f"left out: {', '.join(others)}", source, line, "an id and classes are what a text has"
        )
