"""Check each value of a record, a history line or a job's result by the rule of its field; `RULES` has them by class.

Numbers are finite, times and rates are greater than zero, names and hashes match a pattern.  A value that passes its
rule cannot make a page fail.  `shape.py` checks the classes and fields before; `judge.py` checks the claims of a record
against each other afterwards; `read/shape.py` checks the YAML of authors.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from math import isfinite
from typing import Any

from sitegen.diagnostics import printable
from sitegen.model.ceiling_table import CEILINGS
from sitegen.model.dtypes import DTYPES
from sitegen.model.gpu import HASH_DIGITS, gpu_id
from sitegen.model.job import CallCounters, CallProfile, CellResult, JobResult, Key
from sitegen.model.record import (
    Ceiling,
    CellRecord,
    Compilation,
    Correctness,
    Counters,
    CycleRate,
    Environment,
    Evaluation,
    LaunchRecord,
    MeasuredGpu,
    MeasuredSweep,
    Output,
    Performance,
    Ratio,
    Record,
    Rejection,
    Run,
    Sustained,
    SweepPoint,
)
from sitegen.results.records import PastRun, PastTime

ValuePath = tuple[str | int, ...]
ValueRule = Callable[[Any], str]
"""Function that returns the mistake in a value, or an empty text."""

LARGEST_INTEGER = 2**63
LARGEST_NUMBER = 1e30
"""Largest number: no time, rate or count of a GPU comes near it, and the product of two of them is still finite."""
MOST_ORDINARY = 1e15
"""Numbers from 0 to this one are inside every limit."""
LONGEST_TEXT = 1 << 20
"""Most characters of a message or an output; an image of 512 KB in base64 has 700,000."""
LONGEST_NAME = 100
LONGEST_MESSAGE = 8192
"""Most characters of the reason of a failure: records of before logs were kept have up to twelve lines of 400, and the
author's lines."""
LARGEST_L2, LARGEST_MEMORY, MOST_SMS = 1 << 30, 1 << 50, 10_000
PNG = b"\x89PNG\r\n\x1a\n"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
GPU_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
RUN_ID = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_GPU_HASH = re.compile(rf"[0-9a-f]{{{HASH_DIGITS}}}")
_COMMIT = re.compile(r"[0-9A-Za-z]{0,64}\+?")
_SIGNED_RUN = re.compile(r"[A-Za-z0-9-]{1,39}/[A-Za-z0-9_.-]{1,100}/actions/runs/[0-9]{1,20}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that control a terminal, or show the letters around them in another order."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_OUTPUTS = ("stream", "text", "error", "image", "data")


def impossible_values(value: Any, path: ValuePath = ()) -> Iterator[tuple[ValuePath, str]]:
    """Yield the path of each value that no measurement gives, and a sentence about it.

    The errors of an evaluation or a point that failed may be infinite or NaN: they are why it failed.
    """
    if is_dataclass(value):
        cls: Any = type(value)
        failed = isinstance(value, Evaluation | SweepPoint) and value.status.failed
        for name, rule in _rules_of(cls):
            member = getattr(value, name)
            if member is None or _is_ordinary(member, rule) or (failed and name == "correctness"):
                continue
            wrong = _first_mistake(rule, member) if rule else ""
            if wrong:
                yield (*path, name), f"{name} {wrong}"
            else:
                yield from impossible_values(member, (*path, name))
    elif isinstance(value, Mapping):
        for key, member in value.items():
            if wrong := _text(key):
                yield path, f"a name in {path[-1] if path else 'it'} {wrong}"
            yield from impossible_values(member, (*path, key))
    elif isinstance(value, list | tuple):
        for index, member in enumerate(value):
            yield from impossible_values(member, (*path, index))
    elif wrong := _type_mistake(value):
        yield path, f"{next((step for step in reversed(path) if isinstance(step, str)), 'it')} {wrong}"


@cache
def _rules_of(cls: Any) -> tuple[tuple[str, ValueRule | None], ...]:
    """Return the fields of a class and their rules; None for a field without a rule."""
    rules = RULES.get(cls, {})
    return tuple((field.name, rules.get(field.name)) for field in fields(cls))


def _is_ordinary(member: Any, rule: ValueRule | None) -> bool:
    """Tell at once that a value is possible; False when its rule must be applied.

    Most of the hundred values of an evaluation pass here, and every build reads all of them.
    """
    kind = type(member)
    if kind is float or kind is int:
        return (rule is None or rule is _positive or rule is _not_negative) and 0 < member <= MOST_ORDINARY
    if kind is tuple and member and (rule is _positive or rule is _not_negative):
        return bool(sum(member) <= MOST_ORDINARY and min(member) > 0)
    if kind is str:
        return rule is None and member.isascii() and len(member) <= LONGEST_TEXT
    if isinstance(member, dict):
        return (
            rule is None
            and all(
                key.isascii()
                and ((type(one) is str and one.isascii() and len(one) <= LONGEST_NAME) or type(one) is int)
                for key, one in member.items()
            )
            and all(type(one) is str or abs(one) <= MOST_ORDINARY for one in member.values())
        )
    return kind is bool or isinstance(member, Enum) or (member == () and rule is None)


def _first_mistake(rule: ValueRule, value: Any) -> str:
    """Return the first mistake in a value or in the members of a tuple, by the limits of its type and by the rule."""
    members = value if isinstance(value, tuple) else (value,)
    return next((wrong for member in members if (wrong := _type_mistake(member) or rule(member))), "")


def _type_mistake(value: Any) -> str:
    if isinstance(value, float):
        return "" if isfinite(value) and abs(value) <= LARGEST_NUMBER else f"is {value}, which no measurement gives"
    if isinstance(value, int):
        return "" if abs(value) < LARGEST_INTEGER else "is too large an integer"
    return _text(value) if isinstance(value, str) else ""


def _text(value: str) -> str:
    if _SURROGATE.search(value):
        return "has half a character (a lone surrogate)"
    return "" if len(value) <= LONGEST_TEXT else f"has more than {LONGEST_TEXT} characters"


def _positive(value: float) -> str:
    return "" if value > 0 else f"is {value}; it must be greater than 0"


def _positive_members(values: Mapping[str, Any]) -> str:
    """Return the first mistake in a mapping to positive numbers or to tuples of them."""
    every = (one for value in values.values() for one in (value if isinstance(value, tuple) else (value,)))
    return next((wrong for one in every if (wrong := _type_mistake(one) or _positive(one))), "")


def _swept_values(values: Mapping[str, int]) -> str:
    """Return the first mistake in the values of a point: names in words, and sizes from 1 on."""
    wrong = (_word(name) or _type_mistake(one) or _positive(one) for name, one in values.items())
    return next(filter(None, wrong), "" if values else "has no values")


def _not_negative(value: float) -> str:
    return "" if value >= 0 else f"is {value}; it must not be negative"


def _between(least: float, most: float) -> ValueRule:
    return lambda value: "" if least <= value <= most else f"is {value}; it must be between {least} and {most}"


def _matches(form: re.Pattern[str], what: str) -> ValueRule:
    return lambda text: "" if len(text) <= LONGEST_NAME and form.fullmatch(text) else f"is {_shown(text)}; {what}"


def _signed_run(text: str) -> str:
    return "" if not text or _SIGNED_RUN.fullmatch(text) else f"is {_shown(text)}; OWNER/NAME/actions/runs/N is wanted"


def _word(text: str) -> str:
    if len(text) > LONGEST_NAME:
        return f"has {len(text)} characters; at most {LONGEST_NAME} are taken"
    return "has a control character" if _CONTROL.search(text) else ""


def _sentence(text: str) -> str:
    if len(text) > LONGEST_MESSAGE:
        return f"has {len(text)} characters; at most {LONGEST_MESSAGE} are taken, and a log holds the rest"
    return "has a control character" if printable(text) != text else ""


def _product(text: str) -> str:
    if wrong := _word(text):
        return wrong
    id_of_it = gpu_id(text)
    return "" if id_of_it and text.isascii() else f"is {_shown(text)}; it gives no GPU id"


def _digest_or_none(text: str) -> str:
    return "" if not text or _DIGEST.fullmatch(text) else f"is {_shown(text)}; a SHA-256 in hex is wanted"


def _gpu_hash(text: str) -> str:
    return "" if not text or _GPU_HASH.fullmatch(text) else f"is {_shown(text)}; {HASH_DIGITS} hex digits are wanted"


def _run_id(text: str) -> str:
    return "" if is_run_id(text) else f"is {_shown(text)}; a time like 2026-11-21T06:10:05Z is wanted"


def is_run_id(text: str) -> bool:
    """Tell whether a text is the start of a run in UTC: `2026-11-21T06:10:05Z`."""
    if not RUN_ID.fullmatch(text):
        return False
    try:
        dt.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=dt.UTC)
    except ValueError:
        return False
    return True


def _day(text: str) -> str:
    return "" if is_run_id(f"{text}T00:00:00Z") else f"is {_shown(text)}; a day like 2026-11-21 is wanted"


def _ceiling(name: str) -> str:
    return "" if name in CEILINGS else f"is {_shown(name)}; the ceilings are {', '.join(CEILINGS)}"


def _dtype(name: str) -> str:
    return "" if name in DTYPES else f"is {_shown(name)}; no kernel is measured in it"


def _kind(text: str) -> str:
    return "" if text in _OUTPUTS else f"is {_shown(text)}; an output is one of {', '.join(_OUTPUTS)}"


def _image(output: Output) -> str:
    try:
        data = base64.b64decode(output.text, validate=True)
    except (binascii.Error, ValueError):
        return "is no base64 of an image"
    return "" if data.startswith(PNG) and len(data) >= len(PNG) + 16 else "is no PNG image"


def _shown(text: str) -> str:
    return f"`{text[:60]}`" if len(text) <= 60 else f"`{text[:60]}…`"


def inconsistent_fields(value: Any, path: ValuePath = ()) -> Iterator[tuple[ValuePath, str]]:
    """Yield the contradictions between fields of one object: a reversed interval, a rate above its probes, a day that
    is not that of the run, an image that is no PNG.
    """
    if isinstance(value, Ceiling) and value.probes and value.rate > max(value.probes.values()) * 1.0001:
        yield (*path, "rate"), f"the ceiling `{value.name}` is above the best of its probes"
    if isinstance(value, CycleRate) and not value.low <= value.per_cycle <= value.high:
        yield (*path, "per_cycle"), "per_cycle is outside its own interval"
    if isinstance(value, CycleRate) and value.stretches and value.per_cycle > max(value.stretches) * 1.0001:
        yield (*path, "per_cycle"), "per_cycle is above each of its stretches"
    if isinstance(value, Run) and value.date != value.id[:10]:
        yield (*path, "date"), f"date is {value.date}, and the run began on {value.id[:10]}"
    if isinstance(value, Output) and value.kind == "image" and (wrong := _image(value)):
        yield (*path, "text"), f"text {wrong}"
    if isinstance(value, Performance | Sustained) and value.low_us > value.high_us:
        yield (*path, "low_us"), "the interval ends before it begins: low_us is above high_us"
    if isinstance(value, Ratio) and value.low > value.high:
        yield (*path, "low"), "the interval ends before it begins: low is above high"
    for name in _WITHIN.get(type(value), ()):
        yield from inconsistent_fields(getattr(value, name), (*path, name))
    if isinstance(value, tuple):
        for index, member in enumerate(value):
            yield from inconsistent_fields(member, (*path, index))


def problems(value: Any) -> Iterator[tuple[ValuePath, str]]:
    """Yield the impossible values; when there are none, the contradictions between fields."""
    has_impossible = False
    for one in impossible_values(value):
        has_impossible = True
        yield one
    if not has_impossible:
        yield from inconsistent_fields(value)


_WITHIN: Mapping[type, tuple[str, ...]] = {
    Record: ("runs", "evaluations", "sweeps"),
    Run: ("ceilings", "other_gpus"),
    MeasuredGpu: ("ceilings",),
    Ceiling: ("burst", "sustained"),
    Evaluation: ("performance",),
    MeasuredSweep: ("points",),
    SweepPoint: ("performance",),
    Performance: ("ratios", "cycle_ratios", "sustained"),
    Sustained: ("ratios",),
    CellRecord: ("run", "outputs"),
    CellResult: ("outputs",),
    JobResult: ("evaluations", "sweeps", "ceilings", "cells"),
    PastRun: ("ceilings", "other_gpus"),
}
"""Fields with objects whose own fields must fit each other."""
_NAMED = _matches(NAME, "a name has letters, digits, `_`, `.` and `-`")
_TIMES: dict[str, ValueRule] = {
    "median_us": _positive,
    "low_us": _positive,
    "high_us": _positive,
    "rounds_us": _positive,
    "samples": _not_negative,
    "sm_clock_mhz": _not_negative,
    "power_w": _not_negative,
    "cycles": _positive,
    "throttle": _word,
    "late_rounds": _not_negative,
}
RULES: Mapping[type, Mapping[str, ValueRule]] = {
    Environment: {
        "gpu": _product,
        "arch": _word,
        "sm_count": _between(1, MOST_SMS),
        "l2_bytes": _between(1, LARGEST_L2),
        "memory_bytes": _between(1, LARGEST_MEMORY),
        "driver": _word,
        "cuda": _word,
        "torch": _word,
        "triton": _word,
        "python": _word,
        "compute_mode": _word,
        "sm_clock_max_mhz": _not_negative,
        "power_limit_w": _not_negative,
        "gpu_hash": _gpu_hash,
    },
    Ceiling: {"name": _ceiling, "rate": _positive, "seconds": _not_negative, "clocks_mhz": _positive_members},
    CycleRate: {
        "way": _word,
        "per_cycle": _positive,
        "low": _positive,
        "high": _positive,
        "stretches": _positive,
        "sm_clock_mhz": _positive,
    },
    Run: {
        "id": _run_id,
        "date": _day,
        "commit": _matches(_COMMIT, "an abbreviated commit is wanted"),
        "measured_by": _signed_run,
    },
    Correctness: {
        "relative_error": _not_negative,
        "row_error": _not_negative,
        "max_abs_error": _not_negative,
        "baseline_max_abs_error": _not_negative,
        "tolerance": _not_negative,
        "shapes": _not_negative,
        "seeds": _not_negative,
    },
    Ratio: {"baseline": _word, "value": _positive, "low": _positive, "high": _positive, "by_process": _positive},
    Sustained: _TIMES,
    Performance: {
        **_TIMES,
        "p20_us": _positive,
        "p80_us": _positive,
        "min_us": _positive,
        "by_process_us": _positive,
        "cycles": _positive,
        "empty_kernel_us": _positive,
    },
    Compilation: {
        "arch": _word,
        "registers": _not_negative,
        "spill_bytes": _not_negative,
        "shared_bytes": _not_negative,
        "sass_hash": _word,
        "ptx": _digest_or_none,
        "sass": _digest_or_none,
    },
    LaunchRecord: {
        "grid": _not_negative,
        "block": _not_negative,
        "cluster": _not_negative,
        "shared_bytes": _not_negative,
        "launches": _not_negative,
        "occupancy": _between(0, 1.0001),
        "kernel": _word,
        "kernel_share": _between(0, 1.0001),
    },
    Counters: {
        "dram_read_bytes": _not_negative,
        "dram_written_bytes": _not_negative,
        "duration_us": _not_negative,
        "sm_cycles": _not_negative,
        "tensor_flops": _not_negative,
        "fp32_flops": _not_negative,
        "run": lambda text: _run_id(text) if text else "",
    },
    Evaluation: {
        "name": _NAMED,
        "workload": _word,
        "dtype": _dtype,
        "run": lambda text: _run_id(text) if text else "",
        "key": _word,
        "samples": _digest_or_none,
        "predicted_of_ceiling": _not_negative,
        "first_passed": lambda text: _run_id(text) if text else "",
        "sanitizer_run": lambda text: _run_id(text) if text else "",
        "gpu_hash": _gpu_hash,
        "message": _sentence,
        "log": _digest_or_none,
    },
    MeasuredSweep: {
        "name": _NAMED,
        "implementation": _NAMED,
        "workload": _word,
        "dtype": _dtype,
        "run": lambda text: _run_id(text) if text else "",
        "key": _word,
        "gpu_hash": _gpu_hash,
    },
    SweepPoint: {"values": _swept_values, "message": _sentence},
    CallProfile: {"name": _NAMED},
    CallCounters: {"name": _NAMED, "workload": _word, "dtype": _dtype},
    Rejection: {
        "name": _NAMED,
        "run": lambda text: _run_id(text) if text else "",
        "key": _word,
        "message": _sentence,
        "log": _digest_or_none,
    },
    Record: {
        "kernel": _NAMED,
        "gpu": _matches(GPU_ID, "a GPU's id has small letters, digits and `-`"),
        "seconds": _positive_members,
    },
    CellRecord: {
        "label": _word,
        "gpu": _matches(GPU_ID, "a GPU's id has small letters, digits and `-`"),
        "key": _word,
        "duration_s": _not_negative,
    },
    CellResult: {"label": _word, "duration_s": _not_negative},
    Key: {"digest": _word},
    Output: {"kind": _kind},
    JobResult: {"id": _word, "kind": _word},
    PastRun: {
        "run": _run_id,
        "commit": _matches(_COMMIT, "an abbreviated commit is wanted"),
        "driver": _word,
        "cuda": _word,
        "torch": _word,
        "triton": _word,
    },
    PastTime: {
        "median_us": _positive,
        "cycles": _positive,
        "gpu_hash": _gpu_hash,
        "interval_us": _positive,
        "by_process_us": _positive,
        "ratios": _positive_members,
        "intervals": _positive_members,
        "by_process": _positive_members,
    },
}
"""Rules by class and field; the rule of a tuple holds for each of its members."""
