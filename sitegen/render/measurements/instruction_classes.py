"""Turn counts of SASS instructions by class into the rows of tables that compare implementations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Counts = Mapping[str, int]

KINDS = (
    ("global memory", re.compile(r"(?:LDG|STG|LD|ST|LDGSTS|RED|REDG|ATOM|ATOMG)(?:\.|$)|UTMA|UBLK")),
    ("shared memory", re.compile(r"(?:LDS|STS|LDSM|STSM|ATOMS|STAS|REDAS)(?:\.|$)")),
    ("local memory, for spills", re.compile(r"(?:LDL|STL)(?:\.|$)")),
    ("tensor cores", re.compile(r"[HIBDQO]MMA|[HIQB]GMMA|UTC|LDTM|STTM|WARPGROUP|USETMAXREG")),
    ("between the threads of a warp", re.compile(r"SHFL|C?REDUX|VOTEU?|MATCH")),
    (
        "barriers and branches",
        re.compile(r"BAR|SYNCS|UCGABAR|MEMBAR|FENCE|WARPSYNC|BSYNC|LDGDEPBAR|ACQBULK|PREEXIT|BRA|CALL"),
    ),
)
"""The kinds of classes in page order, each with a pattern of the classes; every other class is arithmetic."""
ARITHMETIC = "arithmetic"


@dataclass(frozen=True, slots=True)
class ClassRow:
    """The count of one class in each of several programs."""

    name: str
    """The class: `LDG.128`."""
    counts: tuple[int, ...]

    @property
    def same(self) -> bool:
        """Whether all programs have the same count."""
        return len(set(self.counts)) == 1


@dataclass(frozen=True, slots=True)
class ClassKind:
    """The classes of one kind: `global memory`."""

    name: str
    rows: tuple[ClassRow, ...]


def kind_of(name: str) -> str:
    """Return the kind of a class of instructions."""
    return next((kind for kind, pattern in KINDS if pattern.match(name)), ARITHMETIC)


def compared_classes(programs: Sequence[Counts]) -> tuple[ClassKind, ...]:
    """Return the counts of every class in each program, by kind.  A class that a program lacks counts 0."""
    names = sorted({name for counts in programs for name in counts})
    rows = [ClassRow(name, tuple(counts.get(name, 0) for counts in programs)) for name in names]
    titles = (*(kind for kind, _ in KINDS[:2]), ARITHMETIC, *(kind for kind, _ in KINDS[2:]))
    kinds = (ClassKind(title, tuple(row for row in rows if kind_of(row.name) == title)) for title in titles)
    return tuple(kind for kind in kinds if kind.rows)


def changed_classes(before: Counts, after: Counts) -> tuple[ClassKind, ...]:
    """Return the classes whose counts differ between two programs, by kind; the first count is that of `before`."""
    kinds = (
        ClassKind(kind.name, tuple(row for row in kind.rows if not row.same))
        for kind in compared_classes((before, after))
    )
    return tuple(kind for kind in kinds if kind.rows)
