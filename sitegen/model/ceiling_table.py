"""List the ceilings that sitegen measures: the name that readers see, the unit, and the highest plausible rate.

A ceiling needs its entry before it can be stored: `results/field_rules.py` refuses a record with any other, so that a
page never shows bytes per second as operations and `results/judge.py` never judges by the limit of another ceiling.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class CeilingUnit(StrEnum):
    """The quantity that a rate counts each second."""

    BYTES = "bytes"
    OPERATIONS = "operations"


@dataclass(frozen=True, slots=True)
class CeilingKind:
    """The facts about a ceiling that hold for every GPU."""

    title: str
    """The name that readers see; for a mix of reads and writes, the name of the mix."""
    unit: CeilingUnit
    highest_per_s: float
    """Highest plausible rate on a GPU without a datasheet: five times that of the fastest GPU of 2025."""


_BYTES, _OPERATIONS = CeilingUnit.BYTES, CeilingUnit.OPERATIONS
CEILINGS: Mapping[str, CeilingKind] = {
    "memory 1:0": CeilingKind("read", _BYTES, 40e12),
    "memory 2:1": CeilingKind("two reads, a write", _BYTES, 40e12),
    "memory 1:1": CeilingKind("copy", _BYTES, 40e12),
    "memory 0:1": CeilingKind("write", _BYTES, 40e12),
    "L2": CeilingKind("L2, read", _BYTES, 200e12),
    "shared": CeilingKind("shared memory, read", _BYTES, 1e15),
    "fp64": CeilingKind("fp64", _OPERATIONS, 25e15),
    "fp32": CeilingKind("fp32", _OPERATIONS, 25e15),
    "tf32": CeilingKind("tf32 tensor", _OPERATIONS, 25e15),
    "bf16": CeilingKind("bf16 tensor", _OPERATIONS, 25e15),
    "fp8": CeilingKind("fp8 tensor", _OPERATIONS, 25e15),
}
"""Every ceiling by its name in records; `memory 2:1` is two reads for each write."""
