"""Measure sweeps of the site's kernels, and show their points, times and intervals and the seconds that they took.

    python tests/gpu/sweeps.py --out FOLDER [softmax/sweep/block-size softmax/sweep/row-length]    (on the GPU machine)

Each sweep is one job of `python -m sitegen.measure`, as a run does it; reading the site is not in its seconds.  Its
result is judged as `accept` judges it, without the ceilings.  Exits 1 when a sweep takes more than 40 s for each
twelve points, when it is refused, or when a point has no time.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from machine import gpus, table, the_site

from sitegen.execute.plan import Inventory, plan
from sitegen.execute.work import run_job
from sitegen.model.job import JobResult, SweepJob
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.record import SweepPoint
from sitegen.model.sweep_points import words_of_values
from sitegen.results.figures import cost_of_point
from sitegen.results.returned_results import reasons_to_refuse

NAMES = ("softmax/sweep/block-size", "softmax/sweep/row-length")
POINTS, MOST_S = 12, 40.0
"""A sweep of so many points takes at most so many seconds."""
HEAD = ("point", "status", "µs", "p20", "p80", "95 % interval", "± %", "TB/s", "of copy", "registers")


def job_of(name: str) -> SweepJob:
    """Return the job of a sweep.  Raises UnknownName."""
    jobs = plan(Inventory(the_site()), "", [name], everything=True)
    return next(job for job in jobs if isinstance(job, SweepJob))


def measured(job: SweepJob, file: Path) -> tuple[JobResult, float]:
    """Do the job, store its result, and return it with the seconds that it took."""
    began = time.monotonic()
    result: JobResult = from_plain(JobResult, run_job(to_plain(job)))
    seconds = time.monotonic() - began
    file.write_text(json.dumps(to_plain(result), indent=1), encoding="utf-8")
    return result, seconds


def rows(job: SweepJob, result: JobResult) -> Iterator[tuple[object, ...]]:
    for sweep in result.sweeps:
        for point in sweep.points:
            cost = cost_of_point(job.kernel, sweep, point)
            yield words_of_values(point.values), point.status.words, *cells(point, cost.bytes if cost else 0)


def cells(point: SweepPoint, moved: float) -> tuple[object, ...]:
    timed = point.performance
    if timed is None:
        return point.message[:60], *[""] * 7
    copy = next((ratio.value for ratio in timed.ratios if ratio.baseline == "copy"), math.nan)
    half = (timed.high_us - timed.low_us) / 2 / timed.median_us
    return (
        *(f"{us:.3f}" for us in (timed.median_us, timed.p20_us, timed.p80_us)),
        f"{timed.low_us:.3f} to {timed.high_us:.3f}",
        f"{100 * half:.2f}",
        f"{moved / timed.median_us / 1e6:.3f}",
        f"{copy:.3f}",
        point.compilation.registers if point.compilation else "",
    )


def mistakes(job: SweepJob, result: JobResult, seconds: float) -> Iterator[str]:
    """Yield a sentence for each line that is not met."""
    points = [point for sweep in result.sweeps for point in sweep.points]
    most = MOST_S * max(1.0, len(points) / POINTS)
    if result.error or result.environment is None:
        yield f"{job.id}: {result.error or 'no GPU'}"
    if seconds > most:
        yield f"{job.id}: {seconds:.1f} s for {len(points)} points; {most:.0f} s are allowed"
    yield from (f"{job.id} would be refused: {reason}" for reason in reasons_to_refuse([job], [result]))
    without = [words_of_values(point.values) for point in points if point.performance is None]
    yield from (f"{job.id}: {words} has no time" for words in without)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    gpus()
    wrong: list[str] = []
    for name in arguments.names:
        job = job_of(name)
        result, seconds = measured(job, arguments.out / f"{name.replace('/', '-')}.json")
        found = list(rows(job, result))
        print(f"{name}: {len(found)} points in {seconds:.1f} s", *result.warnings, sep="\n")
        print(table(HEAD, found))
        wrong += mistakes(job, result, seconds)
    print("\n".join(wrong) or "met")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
