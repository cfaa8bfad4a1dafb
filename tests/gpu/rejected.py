"""Test on a GPU machine that every wrong kernel gets its status in each run.

    python tests/gpu/rejected.py --out FOLDER          (up to 240 s)

Shows that the gates of correctness do not let a known kind of mistake pass, and do not find it by luck: every variant
under `wrong/` of every kernel must get exactly the status that its kernel.yaml names, in three runs of three.  A race
that no result shows is left to compute-sanitizer: such a variant goes through the tools too, and what `accept` would
store of both counts.  Nothing is timed, so several kernels are judged at once, on all GPUs of the machine.

Exit 1 when a status is another one, when a run brought none, or when the GPU is not healthy afterwards.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

from machine import Limit, OutOfTime, gpus, jobs_of, measured, save, table, the_site

from sitegen.execute.targets import Device
from sitegen.model.job import InspectJob, JobResult, RejectJob
from sitegen.model.kernel import Kernel, Status
from sitegen.model.record import Rejection
from sitegen.model.site import Site
from sitegen.results.tool_results import with_tool_results

LIMIT_S, RUNS, AT_ONCE = 235.0, 3, 3
"""Time limit in seconds; runs of each kernel; kernels that are judged at once on a GPU."""
HEAD = ("variant", "expected", *(f"run {number}" for number in range(1, RUNS + 1)), "message", "")


@dataclass(frozen=True)
class Judged:
    """The results of one run over a kernel's variants."""

    results: tuple[JobResult, ...]
    seconds: float

    @property
    def rejections(self) -> Mapping[str, Rejection]:
        """The rejections by variant, with the findings of the tools."""
        return {r.name: r for result in with_tool_results(self.results) for r in result.rejections}

    @property
    def error(self) -> str:
        return "; ".join(result.error for result in self.results if result.error)


def judged(site: Site, kernel: Kernel, limit: Limit, device: Device) -> Judged:
    """Run the gates on the variants, and the tools too when the gates pass a variant that only the tools may find."""
    start, results = time.monotonic(), list[JobResult]()
    jobs = jobs_of(site, [replace(kernel, implementations=(), goals=())])
    results += [measured(job, limit, device) for job in jobs if isinstance(job, RejectJob)]
    if any(r.status is Status.PASSED and r.expected is Status.RACE for r in results[0].rejections):
        results += [measured(job, limit, device) for job in jobs if isinstance(job, InspectJob)]
    return Judged(tuple(results), time.monotonic() - start)


def rows(kernel: Kernel, runs: Sequence[Judged]) -> Iterator[tuple[object, ...]]:
    for wrong in kernel.wrong:
        name = wrong.implementation.name
        found = [run.rejections.get(name) for run in runs]
        statuses = [str(one.status) if one else "nothing" for one in found]
        message = next((one.message.splitlines()[0] for one in found if one and one.message), "")
        right = len(runs) == RUNS and all(status == wrong.fails for status in statuses)
        columns = [*statuses, *["nothing"] * (RUNS - len(runs))]
        yield f"{kernel.name}/{name}", wrong.fails, *columns, message[:60], "" if right else "<-- WRONG"


def all_runs(site: Site, kernel: Kernel, limit: Limit, device: Device) -> list[Judged]:
    """Return as many runs as the time allows."""
    found = list[Judged]()
    try:
        while len(found) < RUNS:
            found.append(judged(site, kernel, limit, device))
    except OutOfTime:
        print(f"{kernel.name}: the time is over after {len(found)} runs", flush=True)
    return found


def report(kernels: Sequence[Kernel], runs: Sequence[Sequence[Judged]]) -> bool:
    """Print the table of all variants, and return whether every status is as expected."""
    found = [row for kernel, several in zip(kernels, runs, strict=True) for row in rows(kernel, several)]
    errors = [
        f"{k.name}: {run.error}" for k, several in zip(kernels, runs, strict=True) for run in several if run.error
    ]
    print(table(HEAD, found))
    for kernel, several in zip(kernels, runs, strict=True):
        print(f"{kernel.name}: {', '.join(f'{run.seconds:.0f}' for run in several)} s a run")
    print("\n".join(errors), end="\n" if errors else "")
    return bool(found) and not errors and not any(row[-1] for row in found)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the results as JSON")
    parser.add_argument("--kernels", nargs="+", help="default: all")
    given, site, limit = parser.parse_args(arguments), the_site(), Limit(LIMIT_S)
    kernels = [k for k in site.kernels if k.wrong and k.name in (given.kernels or [k.name])]
    devices = gpus()
    with ThreadPoolExecutor(AT_ONCE * len(devices)) as pool:
        runs = list(pool.map(lambda kernel, device: all_runs(site, kernel, limit, device), kernels, cycle(devices)))
    save(given.out, "rejected", {k.name: [run.results for run in r] for k, r in zip(kernels, runs, strict=True)})
    held = report(kernels, runs)
    print(f"{limit.spent:.0f} s")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
