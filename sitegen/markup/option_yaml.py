"""YAML in the option lines of a fence → values without types, with their places; since every option says what it takes.

PyYAML is imported here alone: most texts have no such line, and one edited text should not wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

Value = Any
"""Text, or a tuple or dict of Values."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 8


class NotYamlError(ValueError):
    """Text that cannot be read; `row` and `column` count from 0, None where the place is not known."""

    def __init__(self, reason: str, row: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.row, self.column = row, column


class NoMappingError(ValueError):
    """YAML, but not `key: value`."""


@dataclass(frozen=True, slots=True)
class Place:
    """Counts from 0."""

    row: int
    column: int
    length: int


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    """Empty when the key is no word."""
    value: Value
    key_place: Place
    place: Place


def read_value(text: str) -> Value:
    """Raises NotYamlError."""
    try:
        return _plain(_composed(text))
    except (yaml.YAMLError, ValueError) as mistake:
        raise _unreadable(mistake) from mistake


def read_mapping(text: str) -> Iterator[Entry]:
    """The entries as far as they can be read.  Raises NotYamlError and NoMappingError."""
    try:
        node = _composed(text)
        if node is not None and not isinstance(node, yaml.MappingNode):
            raise NoMappingError
        for key, value in node.value if node is not None else ():
            name = str(_plain(key)) if isinstance(key, yaml.ScalarNode) else ""
            key_place = Place(key.start_mark.line, key.start_mark.column, len(name))
            yield Entry(name, _plain(value), key_place, _place_of(value, text))
    except NoMappingError:
        raise
    except (yaml.YAMLError, ValueError) as mistake:
        raise _unreadable(mistake) from mistake


def _composed(text: str) -> yaml.Node | None:
    if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=_LOADER)):
        raise ValueError("an alias (`*name`) has no place in an option")
    return yaml.compose(text, Loader=_LOADER)


def _plain(node: yaml.Node | None, depth: int = 0) -> Value:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(node, yaml.MappingNode):
        return _plain_mapping(node, depth)
    if isinstance(node, yaml.SequenceNode):
        return tuple(_plain(item, depth + 1) for item in node.value)
    return str(node.value) if node is not None else ""


def _plain_mapping(node: yaml.MappingNode, depth: int) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for key, value in node.value:
        name = _plain(key, depth + 1)
        if not isinstance(name, str):
            raise ValueError("a key is a word")
        if name in values:
            raise ValueError(f"`{name}` is given twice")
        values[name] = _plain(value, depth + 1)
    return values


def _place_of(node: yaml.Node, text: str) -> Place:
    """On its first line."""
    start, end = node.start_mark, node.end_mark
    lines = text.split("\n")
    stop = end.column if end.line == start.line else len(lines[min(start.line, len(lines) - 1)])
    return Place(start.line, start.column, stop - start.column)


def _unreadable(mistake: Exception) -> NotYamlError:
    if not isinstance(mistake, yaml.MarkedYAMLError):
        return NotYamlError(str(mistake).split("\n", 1)[0])
    mark = mistake.problem_mark or mistake.context_mark
    return NotYamlError(mistake.problem or "it cannot be read", *((mark.line, mark.column) if mark else ()))
