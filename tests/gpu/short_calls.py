"""Compare the times of short calls with those that ncu gave the same programs, from the records in this repository.

    python tests/gpu/short_calls.py [GPU]                 (needs no GPU)

Shows how near the times of calls in CUDA graphs are to those of the hardware, and that tables report what is not near.
Each row of a kernel that memory bounds, whose call was timed in a graph and counted, is compared with ncu's time.  If
they differ by more than 3 %, the head of its rows must name the row whose time differs most.

Exit 1 when the head does not, or when there is no such call.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from machine import stored_records, table, the_site

from sitegen.model.kernel import Kernel
from sitegen.model.record import Record
from sitegen.render.inputs.evidence import Evidence
from sitegen.render.inputs.rows import Group, Row, groups
from sitegen.render.measurements import tables

MOST = 0.03
HEAD = ("call", "ours µs", "ncu µs", "apart %", "")


@dataclass(frozen=True)
class Call:
    """The time of a call beside that of ncu, and what the head of its table says."""

    title: str
    us: float
    ncu_us: float
    head: str

    @property
    def apart(self) -> float:
        return self.ncu_us / self.us - 1

    @property
    def near(self) -> bool:
        return abs(self.apart) <= MOST

    @property
    def marked(self) -> bool:
        return "ncu’s times differ" in self.head

    def cells(self) -> tuple[object, ...]:
        return self.title, self.us, self.ncu_us, self.apart * 100, "marked" if self.marked else "<-- NOT MARKED"


def calls(kernel: Kernel, record: Record) -> Iterator[Call]:
    """Yield the short calls of a record that ncu counted."""
    for group in groups(kernel, record, Evidence()):
        title = f"{kernel.name}@{group.workload.name}:{group.dtype}"
        if not group.cost.is_matrix:
            yield from (_call(title, group, row) for row in group.rows if _is_short(row))


def _is_short(row: Row) -> bool:
    """Tell whether a row was timed in a graph and counted."""
    return bool(row.counters and row.performance and row.performance.graph)


def _call(title: str, group: Group, row: Row) -> Call:
    assert row.performance and row.counters
    head = tables.head_of_times(group).facts
    return Call(f"{title} {row.name}", row.performance.median_us, row.counters.duration_us, head)


def report(found: Sequence[Call]) -> int:
    """Print the calls that are apart, and how many are near; return the exit status."""
    apart = sorted((call for call in found if not call.near), key=lambda call: -abs(call.apart))
    print(table(HEAD, [call.cells() for call in apart]))
    marked = sum(call.marked for call in apart)
    print(f"{len(found)} short calls: {len(found) - len(apart)} within {MOST:.0%}, {marked} apart and marked")
    return 0 if found and marked == len(apart) else 1


def main(arguments: list[str]) -> int:
    site = the_site()
    known = {kernel.name: kernel for kernel in site.kernels}
    records = [record for record in stored_records(site) if record.gpu in (arguments or [record.gpu])]
    return report([call for record in records for call in calls(known[record.kernel], record)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
