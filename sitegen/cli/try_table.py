"""The result of `sitegen try` → a table in lines: a row for each candidate, the fastest first, failures last."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitegen.cli.compiled import described_kernel
from sitegen.cli.compiler_log import author_log
from sitegen.model.job import is_of_reference, status_words

if TYPE_CHECKING:
    from sitegen.model.job import CallProfile, JobResult
    from sitegen.model.record import Evaluation, Ratio
    from sitegen.model.try_job import TryJob

ROUGH = "rough figures of one process, and nothing is stored: `sitegen run` makes a record"
NO_TIME = "no GPU here: nothing was timed, and nothing is stored"
NO_GPU = "no GPU"
NONE = "-"
MOST_REASONS = 3
"""Reasons of waiting that are named for each candidate."""


@dataclass(frozen=True, slots=True)
class StoredCeiling:
    """The ceilings of such a GPU that the site has stored."""

    date: str
    """Day of the run that measured them."""
    shares: Mapping[str, float | None]
    """Share of its ceiling that each candidate reaches, by name."""


def table_lines(job: TryJob, result: JobResult, ceiling: StoredCeiling | None = None) -> Iterator[str]:
    """Yield the title, the table, the reasons of failures with file and line, and what the figures are worth."""
    gpu = result.environment.gpu if result.environment else "no GPU"
    yield f"{job.id} on {gpu}"
    found = sorted(result.evaluations, key=_order)
    yield from _aligned([_head(result, ceiling), *(_row(job, result, one, ceiling) for one in found)])
    profiles = {profile.name: profile for profile in result.profiled}
    yield from (f"{_label(job, one)}: {_waits(profiles[one.name])}" for one in found if one.name in profiles)
    yield from dict.fromkeys(_remarks(job, found))
    yield ROUGH if result.environment else NO_TIME
    if ceiling:
        yield f"of ceiling: of the stored ceilings of {ceiling.date}, which were not measured again"


def _remarks(job: TryJob, found: Iterable[Evaluation]) -> Iterator[str]:
    """Yield what is said about the candidates; a failed reference is the fault of none of them."""
    for one in found:
        if one.launch and (kernel := described_kernel(one.launch)):
            yield f"{_label(job, one)}: registers to occupancy are those of {kernel}"
        if is_of_reference(one.message):
            yield one.message
        elif one.message not in ("", NO_GPU):
            yield f"{_label(job, one)}: {_in_authors_file(job, one)}"


def _order(one: Evaluation) -> tuple[bool, float]:
    return one.status.failed, one.performance.median_us if one.performance else math.inf


def _head(result: JobResult, ceiling: StoredCeiling | None) -> list[str]:
    timed = ["µs", f"x {_baseline(result)}", "of copy"] if result.environment else []
    share = ["of ceiling"] if ceiling else []
    counted = ["DRAM MB"] if result.counted else []
    profiled = ["tensor pipe", "sectors/load", "sectors/store", "bank conflicts"] if result.profiled else []
    code = ["registers", "spills B", "shared B", "occupancy"]
    return ["candidate", "result", *timed, *share, *code, *counted, *profiled]


def _row(job: TryJob, result: JobResult, one: Evaluation, ceiling: StoredCeiling | None) -> list[str]:
    code, launch = one.compilation, one.launch
    resources = [str(code.registers), str(code.spill_bytes), str(code.shared_bytes)] if code else [NONE] * 3
    share = f"{launch.occupancy:.0%}" if launch and launch.occupancy is not None else NONE
    timed = _timed(result, one) if result.environment else []
    reached = [_number(ceiling.shares.get(one.name), ".1%")] if ceiling else []
    bytes_read = {c.name: c.counters.dram_read_bytes + c.counters.dram_written_bytes for c in result.counted}
    counted = [f"{bytes_read[one.name] / 1e6:.1f}" if one.name in bytes_read else NONE] if result.counted else []
    profiled = _profiled(result, one.name) if result.profiled else []
    status = "not judged" if is_of_reference(one.message) else status_words(one.status, one.message)
    return [_label(job, one), status, *timed, *reached, *resources, share, *counted, *profiled]


def _profiled(result: JobResult, name: str) -> list[str]:
    """Return the share of the tensor pipe, the sectors of a load and of a store, and the bank conflicts."""
    one = next((profile for profile in result.profiled if profile.name == name), None)
    if one is None:
        return [NONE] * 4
    sectors = (_number(one.load_sectors, ".1f"), _number(one.store_sectors, ".1f"))
    return [_number(one.tensor_share, ".1%"), *sectors, _number(one.bank_conflicts, ".0f")]


def _waits(profile: CallProfile) -> str:
    """Return the reasons for which warps wait longest, with the cycles for each instruction that a warp issues."""
    longest = sorted(profile.stalls.items(), key=lambda stall: -stall[1])[:MOST_REASONS]
    waits = ", ".join(f"{reason.replace('_', ' ')} {cycles:.2f}" for reason, cycles in longest if cycles)
    return f"warps wait for {waits} cycles per instruction" if waits else "ncu gave no reason for which warps wait"


def _number(value: float | None, form: str) -> str:
    return NONE if value is None else format(value, form)


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
    message = one.message.replace(f"{job.kernel.folder}/{copy}", file).replace(copy, file.rpartition("/")[2])
    return author_log(message, file, job.sources.get(file, "")) if file.endswith(".cu") else message


def _aligned(rows: list[list[str]]) -> Iterator[str]:
    """Yield the rows with columns of equal width: the first two to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [c.ljust(w) if n < 2 else c.rjust(w) for n, (c, w) in enumerate(zip(row, widths, strict=True))]
        yield "  ".join(cells).rstrip()
