"""Write JSON that a person can review in a diff, and find the place of a value in a JSON text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from sitegen.model.plain import to_plain

WIDTH = 140
"""Most characters of a line that holds a small object."""
DIGITS = 6
"""Significant digits of a stored float: more than a measurement has, and few enough to be equal on every machine."""

_SPACE = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder()


def to_stored(value: Any) -> Any:
    """Return plain JSON values without the fields that are None or empty and have such a default."""
    if is_dataclass(value) and not isinstance(value, type):
        members = {f.name: (getattr(value, f.name), f) for f in fields(value)}
        return {name: to_stored(one) for name, (one, f) in members.items() if not (_is_empty(one) and _is_optional(f))}
    if isinstance(value, Mapping):
        return {str(key): to_stored(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [to_stored(one) for one in value]
    return to_plain(value)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | tuple | list | Mapping) and not value)


def _is_optional(field: Field[Any]) -> bool:
    """Tell whether the default of a field is None or empty."""
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return default is not MISSING and _is_empty(default)


def dump(value: Any) -> str:
    """Return JSON with sorted keys, LF and floats of six significant digits; small objects stay on one line."""
    return _dumped(rounded(value), "") + "\n"


def dump_line(value: Any) -> str:
    """Return the JSON on one line, for a history, with keys and floats as in `dump`."""
    return json.dumps(rounded(value), sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"


def rounded(value: Any) -> Any:
    """Return the value with its floats rounded, except those in `params`, which an author wrote."""
    if isinstance(value, Mapping):
        return {key: item if key == "params" else rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
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
    """Tell whether a value stays on one line: a list of numbers, or scalars and lists of numbers that fit."""
    items = list(value.values()) if isinstance(value, dict) else value
    flat = all(not isinstance(item, dict) and (not isinstance(item, list) or _are_numbers(item)) for item in items)
    return (isinstance(value, list) and _are_numbers(value)) or (flat and width <= WIDTH)


def _are_numbers(items: list[Any]) -> bool:
    return all(isinstance(item, int | float) for item in items)


def position(text: str, path: Sequence[str | int]) -> tuple[int, int, int]:
    """Return line, column (from 1) and length of the value at `path` in a valid JSON text.

    A member of an object is marked at its key, an element of an array at its first character.  When the path leads to
    nothing, the last value on the way is marked.
    """
    at, end = _extent(text, _skip(text, 0), list(path))
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return line, column, max(1, min(end, text.find("\n", at) if "\n" in text[at:end] else end) - at)


def _extent(text: str, at: int, path: list[str | int]) -> tuple[int, int]:
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
    """Return the offsets of each key and of its value in the object or array at `at`; equal in an array."""
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
    match = _SPACE.match(text, at)
    return match.end() if match else at
