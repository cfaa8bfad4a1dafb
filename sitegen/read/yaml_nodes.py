"""YAML text → a tree of `Node`s, each of which knows its place, so that any later check can point at it.

Scalars are read as YAML 1.2 reads them: `1e-6` is a number, `no` and `2026-11-22` and `12:30` are text.  Front matter
is nearly always lines of `key: value`, which are read here at once; whatever else a text is, `yaml_events` reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sitegen.diagnostics import Diagnostic, Span

Scalar = None | bool | int | float | str
Value = Scalar | tuple["Node", ...] | Mapping[str, "Node"]

_WORDS: Mapping[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_QUOTED = r'"[^"\\]*"'
_WORD = r"[A-Za-z0-9](?:[\w./+-]| (?=[A-Za-z0-9]))*"
_WORDS_AND_COLONS = r"[A-Za-z0-9](?:[\w./+,;()'!?%-]|:(?=[A-Za-z0-9])| (?=[A-Za-z0-9(]))*"
_ITEM = re.compile(f"{_QUOTED}|{_WORD}", re.ASCII)
_LIST = rf"\[(?:(?:{_QUOTED}|{_WORD})(?:, *(?:{_QUOTED}|{_WORD}))*)?\]"
_VALUE = f"{_QUOTED}|(?P<list>{_LIST})|{_WORDS_AND_COLONS}"
_LINE = re.compile(rf"(?P<key>[A-Za-z_][\w-]*): +(?P<value>{_VALUE})", re.ASCII)
"""A mapping's line on which every character is what it seems to be."""


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


def parse_yaml(
    text: str, path: str, first_line: int = 1, first_col: int = 1
) -> tuple[Node | None, tuple[Diagnostic, ...]]:
    """The document's tree, or None when it is not YAML; `text` begins at this line and column of its file."""
    if found := _simple_mapping(text, path, first_line, first_col):
        return found, ()
    from sitegen.read.yaml_events import read_events

    return read_events(text, path, first_line, first_col)


def _simple_mapping(text: str, path: str, line: int, col: int) -> Node | None:
    """None of what is anything else."""
    children: dict[str, Node] = {}
    lines = text.removesuffix("\n").split("\n")
    for number, each in enumerate(lines, start=line):
        found = _LINE.fullmatch(each)
        if not found or not each.isprintable() or found["key"] in children:
            return None
        key = Span(path, number, col, len(found["key"]))
        children[found["key"]] = _value(found, path, number, col, key)
    return Node(children, Span(path, line, col, len(lines[0])))


def _value(found: re.Match[str], path: str, line: int, col: int, key: Span) -> Node:
    if not found["list"]:
        return _scalar(found["value"], path, line, col + found.start("value"), key)
    items = _ITEM.finditer(found.string, found.start("list") + 1)
    nodes = tuple(_scalar(item[0], path, line, col + item.start()) for item in items)
    return Node(nodes, Span(path, line, col + found.start("list"), len(found["list"])), "", key)


def _scalar(written: str, path: str, line: int, col: int, key: Span | None = None) -> Node:
    if written.startswith('"'):
        return Node(written[1:-1], Span(path, line, col + 1, max(1, len(written) - 2)), written[1:-1], key)
    return Node(plain_scalar(written), Span(path, line, col, len(written)), written, key)


def plain_scalar(text: str) -> Scalar:
    """What a word without quotes is."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
