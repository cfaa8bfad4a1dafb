"""Compare runs of the same code, and of the same code a little slower, on a GPU machine.

    python tests/gpu/aa.py --out FOLDER              (up to 560 s; again with the same folder: goes on there)
    python tests/gpu/aa.py --report FOLDER           (needs no GPU)

The script shows how reliable a verdict is.  A run is a job for each kernel, in fresh processes.  The functions of
`accept` turn it into records, and those of `sitegen compare` compare it with the next run of the same GPU.  The jobs
know the run before as they would know the record of the site, so that more processes time what is in doubt:

- The same code: no implementation of any kernel may be `slower` or `faster`, and the noise of its time must be within
  0.2 %.
- A slow-down of 1.5 %, planted in an implementation of softmax and of matmul, in the later run under the name of the
  original: `slower` every time.
- A slow-down of 0.5 %: never `slower`.

Every GPU of the machine does up to eleven runs of its own, until all together make twenty pairs.  First all of
them search for the amounts of planted work that cost 1.5 and 0.5 %; the report measures these costs again, over all
runs, and fails when they differ.  Every job is stored as soon as it is done, the jobs of a run before those of the next
one; near the end only jobs that still fit are begun.  So the folder can be copied at any moment, also to another
machine, whose GPUs then have a part of their own.

The ceilings are measured once a GPU and used for all its runs, so the noise of of-ceiling is that of the time itself
(of matrix products: of the time in a burst); how far the ceilings of two GPUs are apart is printed beside it.  Noise is
the standard deviation over the runs of a GPU, all GPUs together.

The script exits with 1 when one of these lines is not met, or while there are fewer than twenty pairs.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from statistics import fmean

from aa_report import PAIRS, SIZES, report, sessions_in, size_in, stored_runs
from machine import (
    Limit,
    OutOfTime,
    evaluations,
    gpus,
    kernel_jobs,
    kernel_of,
    measured,
    narrowed,
    records_of,
    save,
    the_site,
    without_artefacts,
)
from planted import Slowed, amount_for, longer_sums, repeated_blocks, with_slowed

from sitegen.execute.plan import previous_of
from sitegen.execute.targets import Device
from sitegen.model.job import CeilingsJob, JobResult, KernelJob
from sitegen.model.plain import from_plain
from sitegen.model.record import Performance
from sitegen.model.site import Site

LIMIT_S, RUNS = 560.0, 11
"""Time limit of one call of this script, in seconds; number of runs of each GPU."""


@dataclass(frozen=True)
class Subject:
    """A job that is part of every run."""

    kernel: str
    workload: str
    dtype: str
    names: tuple[str, ...]
    """The best implementations of the kernel: readers look at these, and they are hardest to tell apart."""
    slowed: Slowed | None = None


SUBJECTS = (
    Subject("copy", "256Mi", "float32", ("vec4", "tile")),
    Subject("vector_add", "256Mi", "float32", ("vec4", "tile")),
    Subject("sum", "64Mi", "float32", ("vec4", "tile")),
    Subject(
        "softmax", "8192x8192", "float32", ("registers",), Slowed("registers", repeated_blocks, (20, 40, 100, 120), 8)
    ),
    Subject("matmul", "8192x8192x8192", "bfloat16", ("tile",), Slowed("tile", longer_sums, (10, 16, 32, 40), 2)),
)


@dataclass
class Bench:
    """The site, the limit, the folder and the planted amounts that the jobs of all GPUs share."""

    site: Site
    limit: Limit
    folder: Path
    amounts: dict[str, dict[str, int]] = field(default_factory=dict)
    """Amounts of planted work by the name of the planted implementation, by kernel."""

    def job(self, subject: Subject, amounts: Mapping[str, int] | None = None) -> KernelJob:
        """Return the job with the planted implementations that were found, or with the given amounts."""
        kernel = narrowed(kernel_of(self.site, subject.kernel), [subject.workload], subject.dtype, subject.names)
        if subject.slowed is None:
            return kernel_jobs(self.site, kernel)[0]
        chosen = self.amounts[subject.kernel] if amounts is None else amounts
        return kernel_jobs(self.site, *with_slowed(kernel, subject.slowed, chosen, self.site.files))[0]

    def say(self, text: str) -> None:
        print(f"after {self.limit.spent:.0f} s: {text}", flush=True)


@dataclass(frozen=True)
class Lane:
    """The work of one GPU."""

    bench: Bench
    device: Device
    folder: Path

    def measured(self, job: KernelJob | CeilingsJob) -> JobResult:
        return without_artefacts(measured(job, self.bench.limit, self.device))

    def go(self, subjects: Sequence[Subject], runs: int) -> None:
        """Measure the ceilings, then do jobs until all are done or the time is over."""
        try:
            if not (self.folder / "ceilings.json").exists():
                save(self.folder, "ceilings", self.measured(CeilingsJob()))
            for number in range(runs):
                for subject in subjects:
                    self._take(number, subject)
        except OutOfTime:
            self.bench.say(f"{self.folder.name}: the time is over; what was not complete is not kept")

    def _take(self, number: int, subject: Subject) -> None:
        """Do one job of a run, unless it is done or would not end in time."""
        name = f"run-{number:02}-{subject.kernel}"
        known, enough = self.folder / f"{name}.json", pairs(self.bench.folder, subject.kernel) >= PAIRS
        if known.exists() or enough or self.bench.limit.left < longest(self.bench.folder, subject):
            return
        run, start, original = _now(), time.monotonic(), subject.slowed.original if subject.slowed else ""
        job = self._after_the_last(self.bench.job(subject), original)
        expect_same_code(self.bench.folder, job)
        result = self.measured(job)
        seconds = time.monotonic() - start
        told = {"run": run, "seconds": seconds, "kernel": job.kernel, "original": original, "result": result}
        save(self.folder, name, told)
        failed = (f"{e.name}: {e.status}" for e in result.evaluations if e.performance is None)
        self.bench.say(" ".join([self.folder.name, name, f"in {seconds:.0f} s", result.error, *failed]).rstrip())

    def _after_the_last(self, job: KernelJob, original: str) -> KernelJob:
        """Return the job with the record of the run before.

        The record of the original stands in for the site's record of the planted implementation, which alone has
        changed.
        """
        before = stored_runs(self.folder, job.kernel.name)
        if not before:
            return job
        told = before[-1][1]
        record = records_of(self.bench.site, [job.kernel], [from_plain(JobResult, told["result"])], told["run"])
        said = previous_of(job, record[job.kernel.name]).get(original)
        return replace(job, previous=dict.fromkeys(SIZES, said) if said else {})


def take(folder: Path, subjects: Sequence[Subject], devices: Sequence[Device], runs: int, seconds: float) -> None:
    """Run all GPUs side by side: all of them first search for the amounts to plant, and then do their own runs."""
    bench = Bench(the_site(), Limit(seconds), folder)
    lanes = [Lane(bench, device, folder / device.uuid) for device in devices]
    with ThreadPoolExecutor(len(lanes)) as pool, suppress(OutOfTime):
        for subject in subjects:
            if subject.slowed:
                bench.amounts[subject.kernel] = planted(lanes, pool, subject, subject.slowed)
        for done in [pool.submit(lane.go, subjects, runs) for lane in lanes]:
            done.result()
    bench.say("the end\n")


def planted(lanes: Sequence[Lane], pool: ThreadPoolExecutor, subject: Subject, slowed: Slowed) -> dict[str, int]:
    """Return the amounts of an earlier call, or those of a search, which are stored."""
    bench = lanes[0].bench
    file = bench.folder / f"planted-{subject.kernel}.json"
    if file.exists():
        known: dict[str, int] = json.loads(file.read_text())
        return known
    found = searched(lanes, pool, subject, slowed)
    save(bench.folder, file.stem, found)
    return found


def searched(lanes: Sequence[Lane], pool: ThreadPoolExecutor, subject: Subject, slowed: Slowed) -> dict[str, int]:
    """Return the amounts with the wanted costs, by a line through the amounts that were tried; each try is a job."""
    tries = pool.map(lambda lane: [sizes_of(lane, subject, slowed) for _ in range(slowed.searches)], lanes)
    every = list(chain.from_iterable(tries))
    sizes = {amount: fmean(one[amount] for one in every) for amount in slowed.amounts}
    chosen = {name: amount_for(size, sizes) for name, size in SIZES.items()}
    costs = ", ".join(f"{amount} costs {size:.2%}" for amount, size in sizes.items())
    lanes[0].bench.say(f"{subject.kernel}: {costs}; chosen {chosen}")
    return chosen


def sizes_of(lane: Lane, subject: Subject, slowed: Slowed) -> dict[int, float]:
    """Return the cost of each amount in one job, as a share of the time."""
    names = {f"slower_by_{amount}": amount for amount in slowed.amounts}
    result = lane.measured(lane.bench.job(subject, names))
    timed = {name: e.performance for name, e in evaluations(result).items()}
    if missing := [name for name, found in timed.items() if found is None]:
        raise SystemExit(f"{result.id}: {missing[0]} was not timed: {evaluations(result)[missing[0]].message}")
    known: dict[str, Performance] = {name: found for name, found in timed.items() if found}
    return {amount: size_in([(known[name], known[slowed.original])]) for name, amount in names.items()}


def pairs(folder: Path, kernel: str) -> int:
    """Return the number of pairs of successive runs of one GPU, over all GPUs in this folder."""
    runs = Counter(file.parent for file, _ in stored_runs(folder, kernel))
    return sum(runs.values()) - len(runs)


def longest(folder: Path, subject: Subject) -> float:
    """Return the longest time in seconds that the job of this subject took on any GPU."""
    return max((told["seconds"] for _, told in stored_runs(folder, subject.kernel)), default=0.0)


def expect_same_code(folder: Path, job: KernelJob) -> None:
    """Raise SystemExit when the runs in this folder measured other code."""
    now = {name: key.digest for name, key in job.keys.items()}
    for file, told in stored_runs(folder, job.kernel.name):
        then = {e["name"]: e["key"] for e in told["result"]["evaluations"] if e["key"]}
        if then != now:
            raise SystemExit(f"{file} is of other code: begin a new folder")


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder for the raw data; goes on where it ends")
    parser.add_argument("--gpus", type=int, help="default: all of this machine")
    parser.add_argument("--runs", type=int, default=RUNS, help="of each GPU")
    parser.add_argument("--seconds", type=float, default=LIMIT_S)
    parser.add_argument("--kernels", nargs="+", default=[s.kernel for s in SUBJECTS], help="default: all")
    parser.add_argument("--report", type=Path, nargs="+", metavar="FOLDER", help="only judge what is there")
    given = parser.parse_args(arguments)
    if not given.report and given.out is None:
        parser.error("--out or --report")
    if not given.report:
        subjects = [subject for subject in SUBJECTS if subject.kernel in given.kernels]
        take(given.out, subjects, gpus()[: given.gpus], given.runs, given.seconds)
    site = the_site()
    text, held = report(site, list(sessions_in(given.report or [given.out], site)))
    print(text)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
