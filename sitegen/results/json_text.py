"""JSON that a person can review in a diff, and the place of a value in a JSON text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from sitegen.model.plain import to_plain

WIDTH = 140
"""Of a line that holds a small object."""
DIGITS = 6
"""Significant digits of a stored float: more than any measurement has, few enough to be the same everywhere."""

_SPACE = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder()


def stored(value: Any) -> Any:
    """A dataclass as plain JSON without what says nothing: fields that are None or empty, and would be if they were not
    there.
    """
    if is_dataclass(value) and not isinstance(value, type):
        members = {f.name: (getattr(value, f.name), f) for f in fields(value)}
        return {name: stored(one) for name, (one, f) in members.items() if not (_is_empty(one) and _is_optional(f))}
    if isinstance(value, Mapping):
        return {str(key): stored(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [stored(one) for one in value]
    return to_plain(value)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | tuple | list | Mapping) and not value)


def _is_optional(field: Field[Any]) -> bool:
    """Whether the class makes it empty by itself."""
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return default is not MISSING and _is_empty(default)


def dump(value: Any) -> str:
    """Sorted keys, LF, floats of six significant digits; numbers and small objects stay on one line."""
    return _dumped(stable(value), "") + "\n"


def dump_line(value: Any) -> str:
    """The same on one line, for a history."""
    return json.dumps(stable(value), sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"


def stable(value: Any) -> Any:
    """The value with its floats rounded; params are what the author wrote, not a measurement."""
    if isinstance(value, Mapping):
        return {key: item if key == "params" else stable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [stable(item) for item in value]
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.{DIGITS}g}")
    return value


def _dumped(value: Any, indent: str) -> str:
    line = json.dumps(value, sort_keys=True, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or _is_row(value, len(line) + len(indent)):
        return line
    deeper = indent + " "
    if isinstance(value, list):
        items = [_dumped(item, deeper) for item in value]
    else:
        items = [f"{json.dumps(k, ensure_ascii=False)}: {_dumped(v, deeper)}" for k, v in sorted(value.items())]
    body = ",\n".join(deeper + item for item in items)
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return f"{opening}\n{body}\n{indent}{closing}"


def _is_row(value: dict[str, Any] | list[Any], width: int) -> bool:
    """A list of numbers of any length; else scalars and lists of numbers that fit."""
    items = list(value.values()) if isinstance(value, dict) else value
    flat = all(not isinstance(item, dict) and (not isinstance(item, list) or _are_numbers(item)) for item in items)
    return (isinstance(value, list) and _are_numbers(value)) or (flat and width <= WIDTH)


def _are_numbers(items: list[Any]) -> bool:
    return all(isinstance(item, int | float) for item in items)


def position(text: str, path: Sequence[str | int]) -> tuple[int, int, int]:
    """Line, column (from 1) and length of the value that `path` leads to, of a valid JSON text; as deep as it goes.

    A member is marked at its key, an element at its first character.
    """
    at, end = _found(text, _skip(text, 0), list(path))
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return line, column, max(1, min(end, text.find("\n", at) if "\n" in text[at:end] else end) - at)


def _found(text: str, at: int, path: list[str | int]) -> tuple[int, int]:
    mark = (at, at + 1)
    while path:
        step = path.pop(0)
        entries = _entries(text, at)
        if step not in entries:
            return mark
        key_at, at = entries[step]
        mark = (key_at, _end(text, key_at))
    return mark


def _entries(text: str, at: int) -> dict[str | int, tuple[int, int]]:
    """Of the object or array at `at`: where each key stands and where its value begins (arrays: the same place)."""
    entries: dict[str | int, tuple[int, int]] = {}
    if text[at] not in "{[":
        return entries
    is_object, at = text[at] == "{", _skip(text, at + 1)
    while text[at] not in "}]":
        key_at = at
        if is_object:
            key, at = _decoder.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        entries[key if is_object else len(entries)] = (key_at, at)
        at = _skip(text, _end(text, at))
        at = _skip(text, at + 1) if text[at] == "," else at
    return entries


def _end(text: str, at: int) -> int:
    return int(_decoder.raw_decode(text, at)[1])


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
