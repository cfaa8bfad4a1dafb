"""Turn YAML in the option lines of a fence into values without types, with their places; each option checks its type.

PyYAML is imported here alone: most texts have no such line, and one edited text should not wait for it.  Its events are
read, because `yaml.compose` recurses in C, where 60,000 brackets end the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

OptionValue = Any
"""Text, or a tuple or dict of Values."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 8
_STARTS = (yaml.SequenceStartEvent, yaml.MappingStartEvent)
_ENDS = (yaml.SequenceEndEvent, yaml.MappingEndEvent)
_FRAME = (yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentStartEvent, yaml.DocumentEndEvent)


class NotYamlError(ValueError):
    """Text that cannot be read; `row` and `column` count from 0, None where the place is not known."""

    def __init__(self, reason: str, row: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.row, self.column = row, column


class NoMappingError(ValueError):
    """The text is YAML, but not `key: value`."""


@dataclass(frozen=True, slots=True)
class OptionPlace:
    """The place of a key or a value in the text; row and column count from 0."""

    row: int
    column: int
    length: int


@dataclass(frozen=True, slots=True)
class _OptionNode:
    """A scalar, a sequence or a mapping; `value` is text, a list of nodes, or a list of pairs of nodes."""

    value: Any
    start: Any
    end: Any
    is_mapping: bool = False
    too_deep: bool = False


@dataclass(frozen=True, slots=True)
class OptionEntry:
    name: str
    """The key; empty when it is no word."""
    value: OptionValue
    key_place: OptionPlace
    place: OptionPlace


def read_value(text: str) -> OptionValue:
    """Return the value of a YAML text.  Raises NotYamlError."""
    try:
        return _plain(_tree(text))
    except (yaml.YAMLError, ValueError) as mistake:
        raise _unreadable(mistake) from mistake


def read_mapping(text: str) -> Iterator[OptionEntry]:
    """Yield the entries as far as they can be read.  Raises NotYamlError and NoMappingError."""
    try:
        node = _tree(text)
        if node is not None and not node.is_mapping:
            raise NoMappingError
        for key, value in node.value if node is not None else ():
            name = str(key.value) if isinstance(key.value, str) else ""
            key_place = OptionPlace(key.start.line, key.start.column, len(name))
            yield OptionEntry(name, _plain(value), key_place, _place_of(value, text))
    except NoMappingError:
        raise
    except (yaml.YAMLError, ValueError) as mistake:
        raise _unreadable(mistake) from mistake


def _tree(text: str) -> _OptionNode | None:
    """Return the node of the only document; None for an empty text."""
    events = [event for event in yaml.parse(text, Loader=_LOADER) if not isinstance(event, _FRAME)]
    if any(isinstance(event, yaml.AliasEvent) for event in events):
        raise ValueError("an alias (`*name`) has no place in an option")
    rest = iter(events)
    first = next(rest, None)
    node = _node(first, rest, 0) if first else None
    if another := next(rest, None):
        mark: Any = another.start_mark
        raise yaml.MarkedYAMLError(problem="an option is one document", problem_mark=mark)
    return node


def _node(event: Any, rest: Iterator[Any], depth: int) -> _OptionNode:
    """Return the node that begins with `event`; the events of its content are taken from `rest`."""
    start = event.start_mark
    if isinstance(event, yaml.ScalarEvent):
        return _OptionNode(event.value, start, event.end_mark)
    if depth > _DEEPEST:
        return _OptionNode("", start, _passed(rest), too_deep=True)
    items: list[_OptionNode] = []
    while not isinstance(following := next(rest), _ENDS):
        items.append(_node(following, rest, depth + 1))
    if isinstance(event, yaml.MappingStartEvent):
        pairs = list(zip(items[::2], items[1::2], strict=True))
        return _OptionNode(pairs, start, following.end_mark, is_mapping=True)
    return _OptionNode(items, start, following.end_mark)


def _passed(rest: Iterator[Any]) -> Any:
    """Return the mark at the end of a collection whose content is skipped."""
    depth = 1
    for event in rest:
        depth += isinstance(event, _STARTS) - isinstance(event, _ENDS)
        if not depth:
            break
    return event.end_mark


def _plain(node: _OptionNode | None, depth: int = 0) -> OptionValue:
    if node is None:
        return ""
    if depth > _DEEPEST or node.too_deep:
        raise ValueError("nested too deeply")
    if node.is_mapping:
        return _plain_mapping(node, depth)
    if isinstance(node.value, list):
        return tuple(_plain(item, depth + 1) for item in node.value)
    return str(node.value)


def _plain_mapping(node: _OptionNode, depth: int) -> dict[str, OptionValue]:
    values: dict[str, OptionValue] = {}
    for key, value in node.value:
        name = _plain(key, depth + 1)
        if not isinstance(name, str):
            raise ValueError("a key is a word")
        if name in values:
            raise ValueError(f"`{name}` is given twice")
        values[name] = _plain(value, depth + 1)
    return values


def _place_of(node: _OptionNode, text: str) -> OptionPlace:
    """Return the place of the part of a node that stands on its first line."""
    start, end = node.start, node.end
    lines = text.split("\n")
    stop = end.column if end.line == start.line else len(lines[min(start.line, len(lines) - 1)])
    return OptionPlace(start.line, start.column, stop - start.column)


def _unreadable(mistake: Exception) -> NotYamlError:
    if not isinstance(mistake, yaml.MarkedYAMLError):
        return NotYamlError(str(mistake).split("\n", 1)[0])
    mark = mistake.problem_mark or mistake.context_mark
    return NotYamlError(mistake.problem or "it cannot be read", *((mark.line, mark.column) if mark else ()))
