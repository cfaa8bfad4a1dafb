"""Bound the size of what a template of a site makes: values in, an upper bound of their size as text out.

A template can double a text in each round of a loop, so that some thirty rounds fill the memory of a machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, MappingView, Sequence
from types import GeneratorType
from typing import Any

from jinja2.exceptions import SecurityError
from jinja2.utils import Namespace

MOST_TEXT = 16_000_000
"""The most characters that one text may have."""
NESTED = (list, tuple, Mapping, MappingView)
"""The types of collections that may hold further ones."""
_OTHER = 16
"""The size of a value that is no text and holds no other values."""


def refuse_text(size: float) -> None:
    """Raise SecurityError for a text of so many characters, if it is too long."""
    if size > MOST_TEXT:
        raise SecurityError(f"a text of more than {MOST_TEXT} characters is refused")


def joined(parts: Iterable[str]) -> str:
    """Return the parts as one text; too long a text is an error of the line of the template that yields the part."""
    if isinstance(parts, list):
        refuse_text(sum(map(len, parts)))
        return "".join(parts)
    kept, size = [], 0
    for part in parts:
        size += len(part)
        if size > MOST_TEXT and isinstance(parts, GeneratorType):
            parts.throw(SecurityError(f"a text of more than {MOST_TEXT} characters is refused"))
        kept.append(part)
    return "".join(kept)


def weight(value: Any, known: dict[int, int] | None = None) -> int:
    """Return the characters of a text, and of all texts in a collection, each as often as the collection holds it."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Namespace):
        value = vars(value)
    if isinstance(value, int):
        return _OTHER + value.bit_length() // 8
    if not isinstance(value, NESTED):
        return _OTHER
    known = {} if known is None else known
    if id(value) not in known:
        known[id(value)] = 0  # a collection that holds itself
        known[id(value)] = sum(1 + weight(item, known) for item in _items(value))
    return known[id(value)]


def _items(value: Any) -> Iterable[Any]:
    """Return what a collection holds, of a mapping the keys and the values."""
    held = getattr(value, "mapping", {}) if isinstance(value, MappingView) else value
    return [*held.keys(), *held.values()] if isinstance(held, Mapping) else held


def counted(values: Iterator[Any]) -> Iterator[Any]:
    """Yield the values, and raise SecurityError as soon as all of them together are too long a text."""
    size = 0
    for value in values:
        size += 1 + weight(value)
        refuse_text(size)
        yield value


def format_size(text: str, values: Sequence[Any], widths: Sequence[int]) -> int:
    """Return an upper bound of the size of a text that is formatted with values, of which some may be widths."""
    widths = [*map(int, re.findall(r"\d+", text)), *widths]
    fields = text.count("%") + text.count("{")
    return len(text) + fields * (max(map(weight, values), default=0) + max(widths, default=0))


def filter_size(name: str, values: Sequence[Any]) -> int:
    """Return an upper bound of the size of what a filter or a method of this name makes of values, the first of which
    it changes.
    """
    size, first = weight(values), values[0] if values else ""
    others = sum(weight(value) for value in values[1:] if isinstance(value, (str, list, tuple, Mapping)))
    count = len(first) if isinstance(first, (str, list, tuple, Mapping)) else 0
    if name == "replace" and len(values) > 2:
        return size + str(first).count(str(values[1])) * weight(values[2])
    if name in ("indent", "expandtabs"):
        lines = str(first).count("\n") + str(first).count("\t") + 1
        return size + lines * max(
            (value if isinstance(value, int) else weight(value) for value in values[1:]), default=8
        )
    if name in ("join", "wordwrap", "translate"):
        return size + count * others
    if name == "urlize":
        return size + str(first).count("\n") + (str(first).count(" ") + 1) * others
    if name == "tojson" and len(values) > 1:
        return size * (1 + (values[1] if isinstance(values[1], int) else weight(values[1])))
    return size
