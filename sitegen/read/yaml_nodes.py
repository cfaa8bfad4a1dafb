"""Read YAML text into a tree of `Node`s.

Front matter is nearly always lines of `key: value`, which this module reads by itself; `yaml_events` reads every other
text.
"""

from __future__ import annotations

import re

from sitegen.diagnostics import Diagnostic, Span
from sitegen.read.yaml_tree import Node, plain_scalar, without_places

__all__ = ["Node", "parse_yaml", "without_places"]

_QUOTED = r'"[^"\\]*"'
_WORD = r"[A-Za-z0-9](?:[\w./+-]| (?=[A-Za-z0-9]))*"
_WORDS_AND_COLONS = r"[A-Za-z0-9](?:[\w./+,;()'!?%-]|:(?=[A-Za-z0-9])| (?=[A-Za-z0-9(]))*"
_ITEM = re.compile(f"{_QUOTED}|{_WORD}", re.ASCII)
_LIST = rf"\[(?:(?:{_QUOTED}|{_WORD})(?:, *(?:{_QUOTED}|{_WORD}))*)?\]"
_VALUE = f"{_QUOTED}|(?P<list>{_LIST})|{_WORDS_AND_COLONS}"
_LINE = re.compile(rf"(?P<key>[A-Za-z_][\w-]*): +(?P<value>{_VALUE})", re.ASCII)
"""Pattern of a line `key: value` whose meaning does not depend on the lines around it."""


def parse_yaml(
    text: str, path: str, first_line: int = 1, first_col: int = 1
) -> tuple[Node | None, tuple[Diagnostic, ...]]:
    """Return the tree of a document, or None when it is not YAML, and its mistakes.

    `text` begins at this line and column of its file.
    """
    if mapping := _simple_mapping(text, path, first_line, first_col):
        return mapping, ()
    from sitegen.read.yaml_events import read_events

    return read_events(text, path, first_line, first_col)


def _simple_mapping(text: str, path: str, line: int, col: int) -> Node | None:
    """Return the mapping of a text in which every line matches `_LINE`; None for every other text."""
    children: dict[str, Node] = {}
    lines = text.removesuffix("\n").split("\n")
    for number, each in enumerate(lines, start=line):
        match = _LINE.fullmatch(each)
        if not match or not each.isprintable() or match["key"] in children:
            return None
        key = Span(path, number, col, len(match["key"]))
        children[match["key"]] = _value(match, path, number, col, key)
    return Node(children, Span(path, line, col, len(lines[0])))


def _value(match: re.Match[str], path: str, line: int, col: int, key: Span) -> Node:
    if not match["list"]:
        return _scalar(match["value"], path, line, col + match.start("value"), key)
    items = _ITEM.finditer(match.string, match.start("list") + 1)
    nodes = tuple(_scalar(item[0], path, line, col + item.start()) for item in items)
    return Node(nodes, Span(path, line, col + match.start("list"), len(match["list"])), "", key)


def _scalar(written: str, path: str, line: int, col: int, key: Span | None = None) -> Node:
    if written.startswith('"'):
        return Node(written[1:-1], Span(path, line, col + 1, max(1, len(written) - 2)), written[1:-1], key)
    return Node(plain_scalar(written), Span(path, line, col, len(written)), written, key)
