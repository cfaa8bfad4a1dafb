"""YAML text → a tree of `Node`s.

Front matter is nearly always lines of `key: value`, which this module reads by itself; `yaml_events` reads every other
text.
"""

from __future__ import annotations

import re

from sitegen.diagnostics import Diagnostic, Span
from sitegen.read.yaml_tree import Node, plain, plain_scalar

__all__ = ["Node", "parse_yaml", "plain"]

_QUOTED = r'"[^"\\]*"'
_WORD = r"[A-Za-z0-9](?:[\w./+-]| (?=[A-Za-z0-9]))*"
_WORDS_AND_COLONS = r"[A-Za-z0-9](?:[\w./+,;()'!?%-]|:(?=[A-Za-z0-9])| (?=[A-Za-z0-9(]))*"
_ITEM = re.compile(f"{_QUOTED}|{_WORD}", re.ASCII)
_LIST = rf"\[(?:(?:{_QUOTED}|{_WORD})(?:, *(?:{_QUOTED}|{_WORD}))*)?\]"
_VALUE = f"{_QUOTED}|(?P<list>{_LIST})|{_WORDS_AND_COLONS}"
_LINE = re.compile(rf"(?P<key>[A-Za-z_][\w-]*): +(?P<value>{_VALUE})", re.ASCII)
"""A mapping's line on which every character is what it seems to be."""


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
