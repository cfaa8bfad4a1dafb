"""The tree of a YAML text, in which every value has its place, so that a later check can point at it.

Scalars are read as YAML 1.2 reads them: `1e-6` is a number, `no` and `2026-11-22` and `12:30` are text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sitegen.diagnostics import Span

YamlScalar = None | bool | int | float | str
YamlValue = YamlScalar | tuple["Node", ...] | Mapping[str, "Node"]

_WORDS: Mapping[str, YamlScalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place; `text` is a scalar as the author wrote it, without quotes."""

    value: YamlValue
    span: Span
    """Place of a scalar's text, or of the first line of a list or mapping."""
    text: str = ""
    key: Span | None = None
    """Place of the key of this value, when it stands in a mapping."""

    def get(self, key: str) -> Node | None:
        """Return the value of a key; None when this is no mapping or the key is missing."""
        return self.value.get(key) if isinstance(self.value, Mapping) else None

    @property
    def at(self) -> Span:
        """Place of the key when there is one, else of the value: a mistake about the whole entry is shown here."""
        return self.key or self.span


def without_places(node: Node) -> Any:
    """Return the tree as dicts, lists and scalars, without places."""
    if isinstance(node.value, Mapping):
        return {key: without_places(child) for key, child in node.value.items()}
    if isinstance(node.value, tuple):
        return [without_places(child) for child in node.value]
    return node.value


def plain_scalar(text: str) -> YamlScalar:
    """Return the value of a word without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
