"""Convert dataclasses to plain JSON values and back, by their annotations.

This is the only one of the three validators that works without any package, since a GPU machine may have none, and
the only one that also writes.  It serves the two ends of one program, which exchange jobs and results: the first
wrong value raises an exception.  Files that a person may edit are read by `read/shape.py` (YAML of authors, every
mistake at its place) and `results/shape.py` (stored records, by pydantic).
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from datetime import date
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """Return plain JSON values: dataclasses and mappings become dicts, sequences lists, enums their values, NaN and
    infinity strings.  Nothing is dropped or sorted.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(k): to_plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(v) for v in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def from_plain(cls: type[T], data: Any) -> T:
    """Return what `to_plain` was given.  Raises TypeError or ValueError that names the field, also an unknown one."""
    return typing.cast(T, _decode(cls, data, cls.__name__))


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _decode(hint: Any, data: Any, where: str) -> Any:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any or hint is object:
        return data
    if origin in (Union, types.UnionType):
        return _decode_union(args, data, where)
    if origin is tuple:
        if not isinstance(data, list | tuple):
            raise TypeError(f"{where}: expected a list, got {type(data).__name__}")
        items = args[:1] * len(data) if len(args) == 2 and args[1] is ... else args
        return tuple(_decode(h, v, f"{where}[{i}]") for i, (h, v) in enumerate(zip(items, data, strict=True)))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(data, Mapping):
            raise TypeError(f"{where}: expected an object, got {type(data).__name__}")
        return {k: _decode(args[1], v, f"{where}.{k}") for k, v in data.items()}
    if dataclasses.is_dataclass(hint):
        return _decode_dataclass(typing.cast(type, hint), data, where)
    return _decode_scalar(hint, data, where)


def _decode_dataclass(cls: type, data: Any, where: str) -> Any:
    if not isinstance(data, Mapping):
        raise TypeError(f"{where}: expected an object, got {type(data).__name__}")
    hints = _hints(cls)
    if unknown := sorted(set(data) - set(hints)):
        raise ValueError(f"{where}: unknown field {unknown[0]}")
    return cls(**{name: _decode(hints[name], value, f"{where}.{name}") for name, value in data.items()})


def _decode_union(args: tuple[Any, ...], data: Any, where: str) -> Any:
    if data is None and type(None) in args:
        return None
    choices = [a for a in args if a is not type(None)]
    exact = [a for a in choices if isinstance(a, type) and type(data) is a]
    for choice in exact or choices:
        try:
            return _decode(choice, data, where)
        except (TypeError, ValueError):
            continue
    raise TypeError(
        f"{where}: {repr(data)[:100]} is none of {', '.join(getattr(a, '__name__', str(a)) for a in choices)}"
    )


def _decode_scalar(hint: Any, data: Any, where: str) -> Any:
    if hint is float and isinstance(data, int | float | str) and not isinstance(data, bool):
        try:
            return float(data)
        except OverflowError as error:
            raise ValueError(f"{where}: too large a number") from error
    if isinstance(hint, type) and issubclass(hint, date):
        return hint.fromisoformat(data)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(data)
    if not isinstance(data, hint) or (hint is int and isinstance(data, bool)):
        raise TypeError(f"{where}: expected {hint.__name__}, got {repr(data)[:100]}")
    return data
