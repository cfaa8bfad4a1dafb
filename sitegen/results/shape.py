"""The text of a record → a Record, a CellRecord or a PastRun, with every mistake of its shape at its place.

pydantic validates the model's own dataclasses; there is no second set of classes.  An older schema is first brought
up to date by the functions of `UPGRADES`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from sitegen.diagnostics import Diagnostic, Span, did_you_mean
from sitegen.model.plain import to_plain
from sitegen.model.record import SCHEMA, CellRecord, Record
from sitegen.results.json_text import position
from sitegen.results.records import PastRun
from sitegen.results.values import problems

MOST_PROBLEMS = 20
"""Of one file: to find the place of each, its text is read again."""

T = TypeVar("T", Record, CellRecord, PastRun)
Path = tuple[str | int, ...]

_ADAPTERS: Mapping[type, TypeAdapter[Any]] = {cls: TypeAdapter(cls) for cls in (Record, CellRecord, PastRun)}

UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""Schema n → a pure function that gives the same record in schema n + 1."""


def parse(cls: type[T], text: str, path: str) -> tuple[T | None, list[Diagnostic]]:
    """The record, or None with all its mistakes."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        return None, [Diagnostic("SG301", f"not JSON: {error.msg}", Span(path, error.lineno, error.colno))]
    except RecursionError:
        return None, [Diagnostic("SG301", "not a record: nested too deeply", Span(path))]
    except ValueError:  # of int(): json knows no such limit
        return None, [Diagnostic("SG301", "not a record: an integer has thousands of digits", Span(path))]
    data, mistakes = _current(data, text, path)
    return (None, mistakes) if mistakes else _validated(cls, data, text, path)


def _current(data: Any, text: str, path: str) -> tuple[Any, list[Diagnostic]]:
    schema = data.get("schema") if isinstance(data, dict) else None
    while isinstance(schema, int) and schema in UPGRADES:
        data = UPGRADES[schema](data)
        schema = data["schema"]
    if isinstance(schema, int) and schema != SCHEMA:
        message = f"this record has schema {schema}; this sitegen reads {SCHEMA}"
        return data, [Diagnostic("SG303", message, span_of(text, path, ("schema",)))]
    return data, []


def _validated(cls: type[T], data: Any, text: str, path: str) -> tuple[T | None, list[Diagnostic]]:
    try:
        record: T = _ADAPTERS[cls].validate_python(data)
    except ValidationError as error:
        found = [_mistake(dict(one), data, text, path) for one in error.errors(include_input=False)[:MOST_PROBLEMS]]
        return None, found
    mistakes = _unknown_fields(data, to_plain(record), text, path) or _impossible_values(record, text, path)
    return (None, mistakes) if mistakes else (record, [])


def _impossible_values(record: Record | CellRecord | PastRun, text: str, path: str) -> list[Diagnostic]:
    hint = "a record is written by sitegen alone: measure it again"
    found = islice(problems(record), MOST_PROBLEMS)
    return [Diagnostic("SG307", sentence, span_of(text, path, where), hint) for where, sentence in found]


def _unknown_fields(data: Any, known: Any, text: str, path: str) -> list[Diagnostic]:
    return [
        Diagnostic("SG302", f"unknown field `{name}`", span_of(text, path, (*at, name)), did_you_mean(name, there))
        for at, name, there in _unknown(data, known, ())
    ]


def _mistake(error: Mapping[str, Any], data: Any, text: str, path: str) -> Diagnostic:
    where = _within(data, error["loc"])
    field = ".".join(str(step) for step in error["loc"]) or "the record"
    return Diagnostic("SG302", f"{field}: {_sentence(error['msg'])}", span_of(text, path, where))


def _within(data: Any, loc: Path) -> Path:
    """The steps that exist: pydantic's location also names members of unions."""
    steps: list[str | int] = []
    for step in loc:
        if isinstance(data, dict) and step in data:
            data = data[str(step)]
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            continue
        steps.append(step)
    return tuple(steps)


def _sentence(message: str) -> str:
    text = message.removeprefix("Value error, ")
    return text[:1].lower() + text[1:]


def _unknown(data: Any, known: Any, where: Path) -> Iterator[tuple[Path, str, list[str]]]:
    """Fields of the file that the record does not have: in which object, which, and what there is."""
    if isinstance(data, dict) and isinstance(known, dict):
        for name, value in data.items():
            if name in known:
                yield from _unknown(value, known[name], (*where, name))
            else:
                yield where, name, sorted(known)
    elif isinstance(data, list) and isinstance(known, list):
        for index, (value, other) in enumerate(zip(data, known, strict=False)):
            yield from _unknown(value, other, (*where, index))


def span_of(text: str, path: str, where: Path) -> Span:
    return Span(path, *position(text, where))
