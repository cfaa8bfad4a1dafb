"""Test that a wrong formula is found: double `reads` in every kernel.yaml and apply the check of `accept`.

    python tests/gpu/formula_error.py                     (of the records in this repository; needs no GPU)
    python tests/gpu/formula_error.py RESULTS.zip         (of what `sitegen run --bundle` wrote; needs no GPU)

Shows that no figure can stand on a formula that the hardware contradicts.  The records are those that `accept` stored,
or would store; nothing in them is changed, only the kernel that they are judged by, in memory.  Every kernel whose
counters are valid at a workload far larger than the L2 must be reported, by its name and with what it moves instead,
and none as its kernel.yaml stands.  Of matrix products, which read their operands several times (at 8192 on an H200
five and a half times in bfloat16, six and a half in float32), only a formula above what is moved is an error: theirs is
multiplied by eight.  Kernels that move numbers by an index fetch whole sectors of memory for 4 bytes, so theirs is
multiplied by 32.

Exit 1 when a planted error is not reported at each such place, when an honest formula is, or when a kernel has no such
place.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from machine import records_of, stored_records, table, the_site

from sitegen.execute.bundle import read_results
from sitegen.model.cost import Cost
from sitegen.model.kernel import Kernel, Status
from sitegen.model.record import Evaluation, Record, Role, Run
from sitegen.model.site import Site
from sitegen.results.figures import cost_of_evaluation
from sitegen.results.formula_check import JUDGED_FACTOR, moves_by_index, wrong_formulas

DOUBLED, OF_MATRIX, BY_INDEX = 2, 8, 32
HEAD = ("place", "reads", "reported", "")


@dataclass(frozen=True)
class Line:
    """The mistakes that are reported of one kernel at one place, with its own formula and with a wrong one."""

    place: str
    factor: int
    honest: tuple[str, ...]
    planted: tuple[str, ...]

    @property
    def held(self) -> bool:
        return not self.honest and any("moves the fewest bytes" in text for text in self.planted)

    def cells(self) -> Iterator[tuple[object, ...]]:
        yield self.place, "as written", "; ".join(self.honest) or "nothing", "<-- WRONG" if self.honest else ""
        told = "; ".join(self.planted) or "nothing"
        yield self.place, f"x {self.factor}", told.removeprefix(f"{self.place}: "), "" if self.held else "<-- WRONG"


def lines(kernel: Kernel, record: Record, run: Run) -> Iterator[Line]:
    """Yield a line for each place at which the counters may judge."""
    for place, cost in _places(kernel, record, run).items():
        factor = BY_INDEX if moves_by_index(kernel, cost) else OF_MATRIX if cost.is_matrix else DOUBLED
        wrong = replace(kernel, reads=f"{factor} * ({kernel.reads})")
        honest, planted = (
            tuple(text for text in wrong_formulas(one, record, run) if text.startswith(f"{place}: "))
            for one in (kernel, wrong)
        )
        yield Line(place, factor, honest, planted)


def _places(kernel: Kernel, record: Record, run: Run) -> dict[str, Cost]:
    found = {}
    for e in record.evaluations:
        cost = cost_of_evaluation(kernel, e)
        if _judges(e, run) and cost and cost.bytes > JUDGED_FACTOR * run.environment.l2_bytes:
            found[f"{kernel.name}@{e.workload}:{e.dtype}"] = cost
    return found


def _judges(e: Evaluation, run: Run) -> bool:
    """Tell whether a passed implementation has valid counters of this run."""
    passed = e.role is Role.IMPLEMENTATION and e.status is Status.PASSED
    return passed and e.counters is not None and e.counters.valid and (e.counters.run or e.run) == run.id


def _last_lines(kernel: Kernel, record: Record) -> tuple[Line, ...]:
    judged = (tuple(lines(kernel, record, run)) for run in reversed(record.runs))
    return next(filter(None, judged), ())


def report(kernels: Sequence[Kernel], records: Iterable[Record]) -> int:
    """Return the report: the last run with counters at a large workload judges each record."""
    known = {kernel.name: kernel for kernel in kernels}
    found = [(record, _last_lines(known[record.kernel], record)) for record in records]
    print(table(HEAD, [cells for _, several in found for line in several for cells in line.cells()]))
    if missing := [f"{record.kernel} on {record.gpu}" for record, several in found if not several]:
        print(f"no counters at a large workload: {', '.join(missing)}")
    held = all(line.held for _, several in found for line in several)
    return 0 if found and held and not missing else 1


def measured_by(site: Site, results: Path) -> Iterable[Record]:
    """Return the results in a file.  Raises SystemExit when it holds none."""
    found, mistakes = read_results(results)
    if found is None:
        raise SystemExit("; ".join(mistake.message for mistake in mistakes))
    return records_of(site, site.kernels, found.results, found.run).values()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="?", help="of `sitegen run --bundle`; default: the records here")
    given, site = parser.parse_args(arguments), the_site()
    return report(site.kernels, measured_by(site, given.results) if given.results else stored_records(site))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
