"""List how long a run of the site would take on 1, 2, 4, 8 and 64 GPUs, in several orders of its jobs.  Needs no GPU.

    python tests/gpu/makespan.py                     (all kernels of the site; job lengths as `run` expects them)
    python tests/gpu/makespan.py RESULTS.zip         (the jobs of a run, with the seconds that they took)

Simulates the queue of `sitegen run` (sitegen/execute/schedule.py).  Each worker measures its ceilings before its first
job.  `least` is what no order can beat: the longest job, or all jobs shared evenly.  In `a worker lost` the worker of
the first GPU is lost in the middle of the run; its job runs again, and so do the ceilings.

Exit 1 when the longest jobs first, the order of `run`, take over 1 % longer than the alphabet on any number of GPUs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from machine import jobs_of, stored_records, table, the_site

from sitegen.execute.bundle import read_results
from sitegen.execute.job_lengths import CEILINGS_S, expected_seconds
from sitegen.execute.schedule import Loss, least_makespan, simulate
from sitegen.results.records import Records
from sitegen.results.stages import TOTAL

GPUS = (1, 2, 4, 8, 64)
MORE = 1.01
"""Most of the alphabet's time: with few GPUs no order matters, and chance decides about the last second."""
HEAD = ("GPUs", "longest first, s", "alphabet, s", "shortest first, s", "least, s", "GPUs busy", "a worker lost, s")


def expected_lengths(gpu: str) -> dict[str, float]:
    """Return the seconds of each job of the site's kernels, as a run on this model of GPU would expect them."""
    site = the_site()
    records = Records({(record.kernel, record.gpu): record for record in stored_records(site)})
    jobs = jobs_of(site, site.kernels)
    return {job.id: expected_seconds(job, records, gpu) for job in jobs if job.kind != "ceilings"}


def measured_lengths(path: Path) -> dict[str, float]:
    """Return the seconds of each job in the results of a run."""
    found, mistakes = read_results(path)
    if found is None:
        raise SystemExit("; ".join(mistake.message for mistake in mistakes))
    return {one.id: one.seconds.get(TOTAL, 0.0) for one in found.results if one.kind != "ceilings"}


def row(lengths: Mapping[str, float], gpus: int) -> tuple[float, ...]:
    """Return the line of the table for that number of GPUs."""
    longest = sorted(lengths.values(), reverse=True)
    alphabet = [lengths[name] for name in sorted(lengths)]
    used = max(1, min(gpus, len(longest)))
    ours, others = (simulate(order, gpus, CEILINGS_S).makespan for order in (longest, alphabet))
    shortest = simulate(longest[::-1], gpus, CEILINGS_S).makespan
    lost = simulate(longest, gpus, CEILINGS_S, [Loss(0, ours / 2)]).makespan
    busy = (sum(longest) + used * CEILINGS_S) / (gpus * ours) if ours else 0.0
    return (gpus, ours, others, shortest, least_makespan(longest, used, CEILINGS_S), busy, lost)


def report(lengths: Mapping[str, float]) -> tuple[str, bool]:
    rows = [row(lengths, gpus) for gpus in GPUS]
    first = sorted(lengths.items(), key=lambda one: -one[1])[:5]
    text = f"{len(lengths)} jobs of {sum(lengths.values()):.0f} s together, the longest:"
    listed = table(("job", "seconds"), first)
    return f"{text}\n\n{listed}\n\n{table(HEAD, rows)}", all(one[1] <= MORE * one[2] for one in rows)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="?", help="results of `sitegen run --bundle`")
    parser.add_argument("--gpu", default="nvidia-h200", help="GPU whose records count first; default: %(default)s")
    given = parser.parse_args(arguments)
    text, held = report(measured_lengths(given.results) if given.results else expected_lengths(given.gpu))
    print(text)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
