"""On a GPU machine: the same code again and again, and the same code a little slower.

    python tests/gpu/aa.py --out FOLDER --start 0           (up to 560 s: as many runs as fit, 11 at most)
    python tests/gpu/aa.py --out FOLDER --start 11
    python tests/gpu/aa.py --report FOLDER...               (needs no GPU)

Shows what a verdict is worth.  A run is a job for each kernel, in fresh processes, made into records by what `accept`
calls; each run is compared with the next one of its session by what `sitegen compare` calls:

- The same code: no implementation of any kernel may be `slower` or `faster`, and the noise of its time must be within
  0.2 %.
- A slow-down of 1.5 %, planted in an implementation of softmax and of matmul, in the later run under the name of the
  original: `slower` every time.
- A slow-down of 0.5 %: never `slower`.

A session first looks for the amounts of planted work that cost 1.5 and 0.5 %; the report measures again, over all runs,
what they cost, and fails when it is not that.  The ceilings are measured once a session and used for all its runs, so
the noise of of-ceiling is that of the time itself (of matrix products: of the time in a burst); how far the ceilings of
two sessions are apart is printed beside it.  Noise is the standard deviation over the runs of a session, all sessions
together.  Runs of different sessions are not compared: they may be of two machines.

Exit 1 when one of these lines is not met, or when nothing was compared.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from aa_report import EXACT, SIZES, report, sessions_in, size_in
from machine import (
    Limit,
    OutOfTime,
    evaluations,
    kernel_jobs,
    kernel_of,
    measured,
    narrowed,
    save,
    the_site,
    without_listings,
)
from planted import Slowed, amount_for, longer_sums, repeated_blocks, with_slowed

from sitegen.model.job import CeilingsJob, JobResult, KernelJob
from sitegen.model.record import Performance
from sitegen.model.site import Site

LIMIT_S, RUNS = 560.0, 11
SEARCHES = 3


@dataclass(frozen=True)
class Subject:
    """A job of every run."""

    kernel: str
    workload: str
    dtype: str
    names: tuple[str, ...]
    """Its best implementations: what readers look at, and what is hardest to tell apart."""
    slowed: Slowed | None = None


SUBJECTS = (
    Subject("copy", "256Mi", "float32", ("vec4", "tile")),
    Subject("vector_add", "256Mi", "float32", ("vec4", "unrolled")),
    Subject("sum", "256Mi", "float32", ("vec4", "tile")),
    Subject(
        "softmax", "8192x8192", "float32", ("registers",), Slowed("registers", repeated_blocks, (41, 82, 123, 164))
    ),
    Subject("matmul", "4096x4096x4096", "bfloat16", ("tile",), Slowed("tile", longer_sums, (1, 4))),
)


@dataclass
class Bench:
    """What the jobs of a session are made of."""

    site: Site
    limit: Limit
    amounts: dict[str, dict[str, int]] = field(default_factory=dict)
    """By kernel and planted name."""

    def job(self, subject: Subject, amounts: Mapping[str, int] | None = None) -> KernelJob:
        """With the session's own planted implementations, or with these."""
        kernel = narrowed(kernel_of(self.site, subject.kernel), [subject.workload], subject.dtype, subject.names)
        if subject.slowed is None:
            return kernel_jobs(self.site, kernel)[0]
        chosen = self.amounts[subject.kernel] if amounts is None else amounts
        return kernel_jobs(self.site, *with_slowed(kernel, subject.slowed, chosen, self.site.files))[0]


def take(folder: Path, subjects: Sequence[Subject], start: int, runs: int) -> None:
    """A session: ceilings, the search for the amounts, then runs until all are there or the time is over."""
    bench, longest = Bench(the_site(), Limit(LIMIT_S)), 0.0
    try:
        save(folder, "ceilings", measured(CeilingsJob(), bench.limit))
        for subject in subjects:
            if subject.slowed:
                bench.amounts[subject.kernel] = searched(bench, subject, subject.slowed)
        save(folder, "session", _described(bench, subjects))
        print(f"after {bench.limit.spent:.0f} s: planted {bench.amounts}", flush=True)
        for number in range(start, start + runs):
            began = bench.limit.spent
            if bench.limit.left > longest:
                save(folder, f"run-{number:02}", {"run": _now(), "results": [_one(bench, s) for s in subjects]})
            longest = max(longest, bench.limit.spent - began)
    except OutOfTime:
        print("the time is over: what was not complete is not kept")
    print(f"{bench.limit.spent:.0f} s in all, {longest:.0f} s a run\n", flush=True)


def searched(bench: Bench, subject: Subject, slowed: Slowed) -> dict[str, int]:
    """The amounts that cost what they shall, by a line through those that were tried; each try is a job.  Half of what
    a cost may be off is for the line, half for the chance that is in it.
    """
    tried: dict[int, list[float]] = {}
    wanted: Sequence[int] = slowed.amounts
    for _ in range(SEARCHES):
        for amount, size in sizes_of(bench, subject, slowed.original, wanted).items():
            tried.setdefault(amount, []).append(size)
        sizes = {amount: fmean(several) for amount, several in sorted(tried.items())}
        chosen = {name: amount_for(size, EXACT[name] / 2, sizes) for name, size in SIZES.items()}
        costs = ", ".join(f"{amount} costs {size:.2%}" for amount, size in sizes.items())
        print(f"after {bench.limit.spent:.0f} s: {subject.kernel}: {costs}; chosen {chosen}", flush=True)
        if sizes.keys() >= {*chosen.values()}:
            break
        wanted = tuple(chosen.values())
    return chosen


def sizes_of(bench: Bench, subject: Subject, original: str, amounts: Sequence[int]) -> dict[int, float]:
    """What these amounts cost in one job."""
    names = {f"slower_by_{amount}": amount for amount in amounts}
    result = measured(bench.job(subject, names), bench.limit)
    timed = {name: e.performance for name, e in evaluations(result).items()}
    if missing := [name for name, found in timed.items() if found is None]:
        raise SystemExit(f"{result.id}: {missing[0]} was not timed: {evaluations(result)[missing[0]].message}")
    known: dict[str, Performance] = {name: found for name, found in timed.items() if found}
    return {amount: size_in([(known[name], known[original])]) for name, amount in names.items()}


def _one(bench: Bench, subject: Subject) -> JobResult:
    result = without_listings(measured(bench.job(subject), bench.limit))
    for why in (result.error, *(f"{e.name}: {e.status}" for e in result.evaluations if e.performance is None)):
        if why:
            print(f"{result.id}: {why}", flush=True)
    return result


def _described(bench: Bench, subjects: Sequence[Subject]) -> dict[str, Any]:
    originals = {subject.kernel: subject.slowed.original for subject in subjects if subject.slowed}
    return {"kernels": [bench.job(s).kernel for s in subjects], "originals": originals, "amounts": bench.amounts}


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder for the raw data; a session makes its own in it")
    parser.add_argument("--start", type=int, default=0, help="number of the first run")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--kernels", nargs="+", default=[s.kernel for s in SUBJECTS], help="default: all")
    parser.add_argument("--report", type=Path, nargs="+", metavar="FOLDER", help="only judge what is there")
    given = parser.parse_args(arguments)
    if not given.report and given.out is None:
        parser.error("--out or --report")
    if not given.report:
        subjects = [subject for subject in SUBJECTS if subject.kernel in given.kernels]
        take(given.out / f"session-{_now().replace(':', '')}", subjects, given.start, given.runs)
    site = the_site()
    text, held = report(site, list(sessions_in(given.report or [given.out], site)))
    print(text)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
