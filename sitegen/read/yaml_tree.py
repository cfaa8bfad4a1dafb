"""The tree of a YAML text: values that know their places, so that any later check can point at them.

Scalars are read as YAML 1.2 reads them: `1e-6` is a number, `no` and `2026-11-22` and `12:30` are text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sitegen.diagnostics import Span

Scalar = None | bool | int | float | str
Value = Scalar | tuple["Node", ...] | Mapping[str, "Node"]

_WORDS: Mapping[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place.  Of a scalar, `text` is what the author wrote, without quotes."""

    value: Value
    span: Span
    """Of a scalar its text; of a list or mapping its first line."""
    text: str = ""
    key: Span | None = None
    """Where the key of this value stands, in a mapping."""

    def get(self, key: str) -> Node | None:
        return self.value.get(key) if isinstance(self.value, Mapping) else None

    @property
    def at(self) -> Span:
        """The key when there is one, else the value: where a mistake about the whole entry is shown."""
        return self.key or self.span


def plain(node: Node) -> Any:
    """Dicts, lists and scalars, without places."""
    if isinstance(node.value, Mapping):
        return {key: plain(child) for key, child in node.value.items()}
    if isinstance(node.value, tuple):
        return [plain(child) for child in node.value]
    return node.value


def plain_scalar(text: str) -> Scalar:
    """Return the value of a word without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
