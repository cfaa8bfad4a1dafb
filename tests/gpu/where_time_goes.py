"""List the seconds of a run by stage and by job, from the results of `sitegen run --bundle`.  Needs no GPU.

    python tests/gpu/where_time_goes.py RESULTS.zip [KERNEL]          (default: softmax)

Shows what a measurement costs its author: all jobs of a kernel (every workload and dtype, the wrong variants, the
tools) and the ceilings within five minutes, of which the rounds, where the GPU is timed, at most ninety seconds.

Exit 1 when a line is not met, or when nothing of that kernel is in the file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from machine import table

from sitegen.execute.bundle import read_results
from sitegen.model.job import JobResult
from sitegen.results.stages import ROUNDS, TOTAL, seconds_by_stage

MOST_ROUNDS_S, MOST_S = 90.0, 300.0


def of_kernel(results: Sequence[JobResult], kernel: str) -> list[JobResult]:
    """Return the jobs of a kernel, and the ceilings that it needs."""
    jobs = [result for result in results if result.id.startswith((f"{kernel}@", f"{kernel}/"))]
    return [*(result for result in results if result.kind == "ceilings"), *jobs] if jobs else []


def total(results: Sequence[JobResult]) -> float:
    """Return the seconds of all jobs, one after the other."""
    return sum(result.seconds.get(TOTAL, 0.0) for result in results)


def report(results: Sequence[JobResult], kernel: str) -> tuple[str, bool]:
    mine = of_kernel(results, kernel)
    stages, seconds = seconds_by_stage(mine), total(mine)
    rows = [(stage, s, f"{s / seconds:.0%}") for stage, s in stages.items() if seconds]
    jobs = [(result.id, result.seconds.get(TOTAL, 0.0), result.seconds.get(ROUNDS, 0.0)) for result in mine]
    lines = [("rounds", stages.get(ROUNDS, 0.0), MOST_ROUNDS_S), ("all", seconds, MOST_S)]
    judged = [(name, s, most, "" if s <= most else "<-- NOT MET") for name, s, most in lines]
    tables = (
        table(("stage", "seconds", "share"), rows),
        table(("job", "seconds", "rounds"), jobs),
        table(("line", "seconds", "at most", ""), judged),
    )
    return "\n\n".join(tables), bool(mine) and seconds > 0 and all(s <= most for _, s, most in lines)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("kernel", nargs="?", default="softmax")
    given = parser.parse_args(arguments)
    found, mistakes = read_results(given.results)
    if found is None:
        raise SystemExit("; ".join(mistake.message for mistake in mistakes))
    text, held = report(found.results, given.kernel)
    print(text)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
