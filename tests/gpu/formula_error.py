"""Whether a wrong formula is found: doubles `reads` in every kernel.yaml and asks what `accept` asks.

    python tests/gpu/formula_error.py RESULTS.zip         (of `sitegen run --bundle`; needs no GPU)
    python tests/gpu/formula_error.py --out FOLDER        (on a GPU machine, up to 400 s: measures it)

Shows that no figure can stand on a formula that the hardware contradicts.  The records are those that `accept` would
store; nothing in them is changed, only the kernel that they are judged by, in memory.  Every kernel whose counters are
valid at a workload far larger than the L2 must be reported, by its name and with what it moves instead, and none as
its kernel.yaml stands.  Of matrix products, which read their operands several times (five times at 8192, on an H200),
only a formula above what is moved is an error: theirs is multiplied by eight.

Exit 1 when a planted error is not reported at each such place, when an honest formula is, or when a kernel has no such
place.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from machine import Limit, jobs_of, measured, records_of, save, table, the_site, without_listings

from sitegen.execute.bundle import read_results
from sitegen.model.cost import Cost
from sitegen.model.job import CeilingsJob, JobResult
from sitegen.model.kernel import Kernel, Status
from sitegen.model.record import Evaluation, Record, Role, Run
from sitegen.model.site import Site
from sitegen.results.formula_check import JUDGED_FACTOR, wrong_formulas
from sitegen.results.measures import cost_of_evaluation

LIMIT_S = 400.0
DOUBLED, OF_MATRIX = 2, 8
HEAD = ("place", "reads", "reported", "")


@dataclass(frozen=True)
class Line:
    """What was said of one kernel at one place, with its own formula and with a wrong one."""

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
    """One for each place at which the counters may judge."""
    for place, cost in _places(kernel, record, run).items():
        factor = OF_MATRIX if cost.is_matrix else DOUBLED
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
        if _judges(e) and cost and e.run == run.id and cost.bytes > JUDGED_FACTOR * run.environment.l2_bytes:
            found[f"{kernel.name}@{e.workload}:{e.dtype}"] = cost
    return found


def _judges(e: Evaluation) -> bool:
    return e.role is Role.IMPLEMENTATION and e.status is Status.PASSED and e.counters is not None and e.counters.valid


def take(site: Site, out: Path) -> list[JobResult]:
    """Each kernel at its largest workload, in its first dtype, through a timed job and through the tools."""
    limit, results = Limit(LIMIT_S), list[JobResult]()
    for job in jobs_of(site, [_at_its_largest(kernel) for kernel in site.kernels]):
        if not isinstance(job, CeilingsJob):
            results.append(without_listings(measured(job, limit)))
            print(f"{limit.spent:.0f} s: {job.id} {'; '.join([results[-1].error, *results[-1].warnings])}", flush=True)
            save(out, "formula_error", results)
    return results


def _at_its_largest(kernel: Kernel) -> Kernel:
    largest = max(kernel.workloads, key=lambda workload: max(workload.dims.values()))
    several = tuple(one for one in kernel.implementations if not one.dtypes or kernel.dtypes[0] in one.dtypes)
    return replace(
        kernel,
        workloads=(largest,),
        dtypes=kernel.dtypes[:1],
        implementations=several[-2:],
        baselines=kernel.baselines[:1],
        checks=kernel.checks[:1],
        wrong=(),
    )


def report(site: Site, results: Sequence[JobResult], run: str) -> int:
    records = records_of(site, site.kernels, results, run)
    found = [
        line
        for kernel in site.kernels
        if kernel.name in records
        for line in lines(kernel, records[kernel.name], records[kernel.name].runs[-1])
    ]
    print(table(HEAD, [cells for line in found for cells in line.cells()]))
    judged = {line.place.split("@")[0] for line in found}
    missing = sorted(records.keys() - judged)
    if missing:
        print(f"no counters at a large workload: {', '.join(missing)}")
    return 0 if found and all(line.held for line in found) and not missing else 1


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="?", help="what `sitegen run --bundle` wrote")
    parser.add_argument("--out", type=Path, help="folder for the raw data of a measurement")
    given, site = parser.parse_args(arguments), the_site()
    if given.results:
        found, mistakes = read_results(given.results)
        if found is None:
            raise SystemExit("; ".join(mistake.message for mistake in mistakes))
        return report(site, found.results, found.run)
    if given.out is None:
        parser.error("RESULTS.zip or --out")
    return report(site, take(site, given.out), "2026-01-01T00:00:00Z")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
