"""The result of `sitegen try` → a table in lines: a row for each candidate, the fastest first, failures last."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sitegen.model.job import JobResult
    from sitegen.model.record import Evaluation, Ratio
    from sitegen.model.try_job import TryJob

ROUGH = "rough figures of one process, and nothing is stored: `sitegen run` makes a record"
NO_TIME = "no GPU here: nothing was timed, and nothing is stored"
NO_GPU = "no GPU"
NONE = "-"


def table_lines(job: TryJob, result: JobResult) -> Iterator[str]:
    """Yield the title, the table, the reasons of failures with file and line, and what the figures are worth."""
    gpu = result.environment.gpu if result.environment else "no GPU"
    yield f"{job.id} on {gpu}"
    found = sorted(result.evaluations, key=_order)
    yield from _aligned([_head(result), *(_row(job, result, one) for one in found)])
    for one in found:
        if one.message not in ("", NO_GPU):
            yield f"{_label(job, one)}: {_in_authors_file(job, one)}"
    yield ROUGH if result.environment else NO_TIME


def _order(one: Evaluation) -> tuple[bool, float]:
    return one.status.failed, one.performance.median_us if one.performance else math.inf


def _head(result: JobResult) -> list[str]:
    timed = ["µs", f"x {_baseline(result)}", "of copy"] if result.environment else []
    counted = ["DRAM MB"] if result.counted else []
    return ["candidate", "result", *timed, "registers", "spills B", "shared B", "occupancy", *counted]


def _row(job: TryJob, result: JobResult, one: Evaluation) -> list[str]:
    code, launch = one.compilation, one.launch
    resources = [str(code.registers), str(code.spill_bytes), str(code.shared_bytes)] if code else [NONE] * 3
    share = f"{launch.occupancy:.0%}" if launch and launch.occupancy is not None else NONE
    timed = _timed(result, one) if result.environment else []
    bytes_read = {c.name: c.counters.dram_read_bytes + c.counters.dram_written_bytes for c in result.counted}
    counted = [f"{bytes_read[one.name] / 1e6:.1f}" if one.name in bytes_read else NONE] if result.counted else []
    return [_label(job, one), one.status.value, *timed, *resources, share, *counted]


def _timed(result: JobResult, one: Evaluation) -> list[str]:
    """Return the time, the ratio to the baseline, and the share of the copy's speed, each ratio with its interval."""
    if one.performance is None:
        return [NONE] * 3
    ratios = {ratio.baseline: ratio for ratio in one.performance.ratios}
    both = (ratios.get(name) for name in (_baseline(result), "copy"))
    return [f"{one.performance.median_us:.2f}", *map(_interval, both)]


def _interval(ratio: Ratio | None) -> str:
    return f"{ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]" if ratio else NONE


def _baseline(result: JobResult) -> str:
    timed = (one.performance for one in result.evaluations if one.performance)
    return next((r.baseline for performance in timed for r in performance.ratios if r.baseline != "copy"), "baseline")


def _label(job: TryJob, one: Evaluation) -> str:
    return job.constants.get(one.name) or one.name


def _in_authors_file(job: TryJob, one: Evaluation) -> str:
    """Return the message, in which a compiler that was given a changed copy of the file names the author's file."""
    file = next(i.file for i in job.kernel.implementations if i.name == one.name).partition("#")[0]
    copy = f"_cell_{one.name}.{'py' if file.endswith('.py') else 'cu'}"
    return one.message.replace(f"{job.kernel.folder}/{copy}", file).replace(copy, file.rpartition("/")[2])


def _aligned(rows: list[list[str]]) -> Iterator[str]:
    """Yield the rows with columns of equal width: the first two to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [c.ljust(w) if n < 2 else c.rjust(w) for n, (c, w) in enumerate(zip(row, widths, strict=True))]
        yield "  ".join(cells).rstrip()
