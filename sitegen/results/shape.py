"""Check the shape of stored records: parse JSON into a Record, a CellRecord or a PastRun, with every mistake
at its place.

The values of a record of the right shape are checked in `field_rules.py`, and its claims against each other, against
kernel.yaml and the samples in `judge.py`.  `read/shape.py` checks the YAML of authors.

This is the only one of the three validators that knows schemas: an older one is first upgraded by the functions of
`UPGRADES`.  It uses pydantic, which is fast on large records, on the model's own dataclasses.  `read/shape.py` reads
the YAML of authors, and `model/plain.py` the JSON between the two ends of one program, without any package.
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
from sitegen.results.field_rules import ValuePath, problems
from sitegen.results.json_text import position
from sitegen.results.records import PastRun

MOST_PROBLEMS = 20
"""Most mistakes reported of one file: finding the place of each reads the text again."""

T = TypeVar("T", Record, CellRecord, PastRun)

_ADAPTERS: Mapping[type, TypeAdapter[Any]] = {cls: TypeAdapter(cls) for cls in (Record, CellRecord, PastRun)}

UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""Pure functions that upgrade a record from schema n to schema n + 1, by n."""


def parse(cls: type[T], text: str, path: str, *, is_checked: bool = False) -> tuple[T | None, list[Diagnostic]]:
    """Return the record and no mistakes, or None and its mistakes.

    `is_checked` says that an earlier call found no mistake in the same text: then only the record is made.
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        return None, [Diagnostic("SG301", f"not JSON: {error.msg}", Span(path, error.lineno, error.colno))]
    except RecursionError:
        return None, [Diagnostic("SG301", "not a record: nested too deeply", Span(path))]
    except ValueError:  # of int(): json knows no such limit
        return None, [Diagnostic("SG301", "not a record: an integer has thousands of digits", Span(path))]
    data, mistakes = _upgraded(data, text, path)
    return (None, mistakes) if mistakes else _validated(cls, data, text, path, is_checked)


def _upgraded(data: Any, text: str, path: str) -> tuple[Any, list[Diagnostic]]:
    schema = data.get("schema") if isinstance(data, dict) else None
    while isinstance(schema, int) and schema in UPGRADES:
        data = UPGRADES[schema](data)
        schema = data["schema"]
    if isinstance(schema, int) and schema != SCHEMA:
        message = f"this record has schema {schema}; this sitegen reads {SCHEMA}"
        return data, [Diagnostic("SG303", message, span_of(text, path, ("schema",)))]
    return data, []


def _validated(cls: type[T], data: Any, text: str, path: str, is_checked: bool) -> tuple[T | None, list[Diagnostic]]:
    try:
        record: T = _ADAPTERS[cls].validate_python(data)
    except ValidationError as error:
        mistakes = [_mistake(dict(one), data, text, path) for one in error.errors(include_input=False)[:MOST_PROBLEMS]]
        return None, mistakes
    if is_checked:
        return record, []
    mistakes = _unknown_fields(data, to_plain(record), text, path) or _impossible_values(record, text, path)
    return (None, mistakes) if mistakes else (record, [])


def _impossible_values(record: Record | CellRecord | PastRun, text: str, path: str) -> list[Diagnostic]:
    hint = "a record is written by sitegen alone: measure it again"
    wrong_values = islice(problems(record), MOST_PROBLEMS)
    return [Diagnostic("SG307", sentence, span_of(text, path, where), hint) for where, sentence in wrong_values]


def _unknown_fields(data: Any, known: Any, text: str, path: str) -> list[Diagnostic]:
    return [
        Diagnostic("SG302", f"unknown field `{name}`", span_of(text, path, (*at, name)), did_you_mean(name, there))
        for at, name, there in _unknown(data, known, ())
    ]


def _mistake(error: Mapping[str, Any], data: Any, text: str, path: str) -> Diagnostic:
    where = _existing_steps(data, error["loc"])
    field = ".".join(str(step) for step in error["loc"]) or "the record"
    return Diagnostic("SG302", f"{field}: {_sentence(error['msg'])}", span_of(text, path, where))


def _existing_steps(data: Any, loc: ValuePath) -> ValuePath:
    """Return the steps of a location that exist in the data: pydantic's locations also name members of unions."""
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


def _unknown(data: Any, known: Any, where: ValuePath) -> Iterator[tuple[ValuePath, str, list[str]]]:
    """Yield each unknown field of a file: the path of its object, its name, and the known names."""
    if isinstance(data, dict) and isinstance(known, dict):
        for name, value in data.items():
            if name in known:
                yield from _unknown(value, known[name], (*where, name))
            else:
                yield where, name, sorted(known)
    elif isinstance(data, list) and isinstance(known, list):
        for index, (value, other) in enumerate(zip(data, known, strict=False)):
            yield from _unknown(value, other, (*where, index))


def span_of(text: str, path: str, where: ValuePath) -> Span:
    """Return the span of a value in the text of the file `path`."""
    return Span(path, *position(text, where))
