"""Compare our figures with those of the GPU's own counters, which ncu reads, on a GPU machine.

    python tests/gpu/against_ncu.py --out FOLDER          (up to 280 s)
    python tests/gpu/against_ncu.py --report FOLDER       (needs no GPU)
    python tests/gpu/against_ncu.py RESULTS.zip           (of `sitegen run --bundle`; needs no GPU)

Shows that a microsecond, a byte, a cycle and an operation of ours are what the hardware counts.  The same kernels at
the same workloads go through a timed job and through the job of the tools of one run, and `accept` puts both together:

- copy: the time of a call within 3 % of `gpu__time_duration`, and the bytes of kernel.yaml within 2 % of those that
  went to and from memory;
- matmul: the SM cycles of a call in a burst within 3 % of `sm__cycles_elapsed`, and the operations of kernel.yaml
  within 2 % of those of the tensor cores.

Not every copy is among them: `unrolled`, whose lines leave L2 first, has two speeds, 4 % apart, and a single call shows
one of them.  Times and counters are read in different processes, by events in ours and by the profiler in its own,
where the caches are as the calls before left them.  Exit 1 when a line is not met, when ncu counted what is known
wrongly, or when something was not counted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from machine import Limit, jobs_of, kernel_of, measured, narrowed, records_of, save, table, the_site, without_listings

from sitegen.execute.bundle import read_results
from sitegen.model.job import CeilingsJob, JobResult
from sitegen.model.kernel import Kernel
from sitegen.model.plain import from_plain
from sitegen.model.record import Evaluation, Record, Role
from sitegen.model.site import Site
from sitegen.results.figures import cost_of_evaluation

LIMIT_S = 280.0
TIME, AMOUNT = 0.03, 0.02
SUBJECTS = {
    "copy": (("256Mi", "1Gi"), "float32", ("scalar", "vec4", "bulk", "tile")),
    "matmul": (("4096x4096x4096",), "bfloat16", ("mma", "tile")),
}
"""Workloads, dtype and implementations, by kernel."""
HEAD = ("implementation", "what", "ours", "ncu", "apart %", "line %", "")


@dataclass(frozen=True)
class Line:
    """One of our figures beside that of ncu."""

    title: str
    what: str
    ours: float | None
    theirs: float | None
    most: float

    @property
    def apart(self) -> float:
        return self.ours / self.theirs - 1 if self.ours and self.theirs else float("inf")

    @property
    def held(self) -> bool:
        return abs(self.apart) <= self.most

    def cells(self) -> tuple[object, ...]:
        figures = ("none" if v is None else f"{v:.5g}" for v in (self.ours, self.theirs))
        return self.title, self.what, *figures, self.apart * 100, self.most * 100, "" if self.held else "<-- NOT MET"


def lines(kernel: Kernel, record: Record) -> Iterator[Line]:
    """Yield the lines of every implementation; its workload decides if they are those of a copy or a product."""
    for evaluation in record.evaluations:
        cost = cost_of_evaluation(kernel, evaluation)
        if evaluation.role is not Role.IMPLEMENTATION or cost is None:
            continue
        timed, counted = evaluation.performance, evaluation.counters
        title = f"{kernel.name}/{evaluation.name}@{evaluation.workload}:{evaluation.dtype}"
        if cost.is_matrix:
            cycles, counted_cycles = timed.cycles if timed else None, counted.sm_cycles if counted else None
            yield Line(title, "SM cycles", cycles, counted_cycles, TIME)
            yield Line(title, "tensor FLOP", float(cost.flops), counted.tensor_flops if counted else None, AMOUNT)
        else:
            us, counted_us = timed.median_us if timed else None, counted.duration_us if counted else None
            yield Line(title, "µs", us, counted_us, TIME)
            yield Line(title, "bytes", float(cost.bytes), counted.dram_bytes if counted else None, AMOUNT)


def invalid(record: Record) -> Iterator[str]:
    """Return the known amounts that ncu counted wrongly or did not count."""
    for e in record.evaluations:
        if e.counters is None and e.role is Role.IMPLEMENTATION:
            yield f"{record.kernel}/{e.name}@{e.workload}: {e.message or 'not counted'}"
        elif e.counters and not e.counters.valid:
            yield f"{record.kernel}/{e.name}@{e.workload}: calibration {dict(e.counters.calibration) or 'missing'}"


def take(out: Path) -> None:
    site, limit, results = the_site(), Limit(LIMIT_S), list[JobResult]()
    kernels = subjects(site)
    for job in jobs_of(site, kernels):
        if not isinstance(job, CeilingsJob):
            results.append(without_listings(measured(job, limit)))
            print(f"{limit.spent:.0f} s: {job.id} {'; '.join([results[-1].error, *results[-1].warnings])}", flush=True)
    save(out, "against_ncu", {"kernels": kernels, "results": results})


def subjects(site: Site) -> list[Kernel]:
    """Return the kernels with one shape to check, which the tools need."""
    found = list[Kernel]()
    for name, (workloads, dtype, names) in SUBJECTS.items():
        kernel = kernel_of(site, name)
        found.append(replace(narrowed(kernel, workloads, dtype, names), checks=kernel.checks[:1]))
    return found


def kept(folder: Path) -> tuple[list[Kernel], list[JobResult]]:
    """Return the kernels and the results that `take` stored."""
    data = json.loads((folder / "against_ncu.json").read_text())
    return [from_plain(Kernel, k) for k in data["kernels"]], [from_plain(JobResult, r) for r in data["results"]]


def bundled(file: Path) -> tuple[list[Kernel], list[JobResult]]:
    """Return the kernels and their results from the file of a larger run."""
    found, mistakes = read_results(file)
    if found is None:
        raise SystemExit("; ".join(mistake.message for mistake in mistakes))
    site = the_site()
    wanted = {job.id for job in jobs_of(site, subjects(site))}
    return subjects(site), [result for result in found.results if result.id in wanted]


def report(kernels: Sequence[Kernel], results: Sequence[JobResult]) -> int:
    records = records_of(the_site(), kernels, results, "2026-01-01T00:00:00Z")
    found = [line for kernel in kernels if kernel.name in records for line in lines(kernel, records[kernel.name])]
    mistakes = [mistake for record in records.values() for mistake in invalid(record)]
    print(table(HEAD, [line.cells() for line in found]))
    print("\n".join(mistakes) or "ncu counted the known copy and the known product right")
    return 0 if complete(records) and not mistakes and all(line.held for line in found) else 1


def complete(records: dict[str, Record]) -> bool:
    return records.keys() == SUBJECTS.keys() and all(ours(record) for record in records.values())


def ours(record: Record) -> Sequence[Evaluation]:
    return [e for e in record.evaluations if e.role is Role.IMPLEMENTATION]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--out", type=Path, help="folder for the raw data")
    where.add_argument("--report", type=Path, metavar="FOLDER", help="only judge what is there")
    where.add_argument("results", type=Path, nargs="?", help="what `sitegen run --bundle` wrote")
    given = parser.parse_args(arguments)
    if given.out:
        take(given.out)
    return report(*(bundled(given.results) if given.results else kept(given.out or given.report)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
