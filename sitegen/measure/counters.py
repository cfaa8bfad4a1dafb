"""The calls of a kernel under ncu → `Counted`: bytes from and to DRAM, cycles, operations, and a calibration.

One process counts the bytes.  Its counters are read in a single pass, so that a kernel runs once, with the caches as it
finds them.  For a matrix kernel another process counts the operations, which may take several passes.  Each process
first counts a call whose bytes or operations are known: a copy, a matrix product.  Clocks are left alone.
"""

from __future__ import annotations

import csv
import getpass
import math
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sitegen.measure.sources import write_sources
from sitegen.measure.tool_calls import CallToCount, calls_to_count, cost_of_call
from sitegen.measure.tool_runs import ToolCommand, ToolRun, find_tool, run_calls
from sitegen.measure.workspace import Workspace
from sitegen.model.job import CallCounters, InspectJob
from sitegen.model.record import Counters

RANGE = "sitegen"
"""First word of the NVTX ranges that name the rows of ncu; the second word is a call's number, or KNOWN."""
KNOWN = "known"
COPIED_BYTES = 1 << 30
"""Bytes that the known copy reads and writes together: many times any cache."""
PRODUCT_SIDE = 4096
PRODUCT_FLOPS = 2 * PRODUCT_SIDE**3

READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
NANOSECONDS, CYCLES = "gpu__time_duration.sum", "sm__cycles_elapsed.max"
TENSOR = tuple(f"sm__ops_path_tensor_src_{t}.sum" for t in ("bf16_dst_fp32", "fp16", "tf32_dst_fp32", "fp8", "fp64"))
"""Operations by the type of the operands; a GPU without one of them lists no such column."""
FMA, ADD, MULTIPLY = (f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum" for op in ("ffma", "fadd", "fmul"))
METRICS = {"bytes": (READ, WRITTEN, NANOSECONDS, CYCLES), "operations": (*TENSOR, FMA, ADD, MULTIPLY)}

Metrics = Mapping[str, float]
_COUNTED = frozenset(name for names in METRICS.values() for name in names)
_NAMED = re.compile(rf"\b{RANGE} (\w+)")
_COMPLAINT = re.compile(r"^==ERROR== (.*)$", re.M)


@dataclass(frozen=True, slots=True)
class Reading:
    """Counters of one call."""

    metrics: Metrics
    """Values by the name of the counter, summed over the kernels of the call."""
    known: Metrics | None
    """Counters of the known call in the same process; None when it was not counted."""


def count(job: InspectJob, workspace: Workspace) -> tuple[tuple[CallCounters, ...], tuple[str, ...]]:
    """Return the counters of all calls that could be counted, and warnings about the others."""
    ncu, calls = find_tool("ncu"), dict(enumerate(calls_to_count(job)))
    if ncu is None or not calls:
        return (), ("no counters: ncu is not installed here",) if calls else ()
    write_sources(workspace.folder / "counted", job.sources)
    matrix = {number: call for number, call in calls.items() if cost_of_call(job.kernel, call).is_matrix}
    of_bytes, why = _read(ncu, "bytes", calls, workspace)
    of_operations, why_not = _read(ncu, "operations", matrix, workspace) if matrix else ({}, [])
    counted = [_counted(call, of_bytes[n], of_operations.get(n)) for n, call in calls.items() if n in of_bytes]
    return tuple(counted), tuple(dict.fromkeys([*why, *why_not]))


def _read(
    ncu: str, metrics: str, calls: Mapping[int, CallToCount], workspace: Workspace
) -> tuple[dict[int, Reading], list[str]]:
    """Return the readings by the number of the call, and what went wrong."""
    counted, problems = dict[int, Reading](), list[str]()
    for run, text in ncu_tables(ncu, metrics, METRICS[metrics], calls, workspace):
        counted |= readings(run, text)
        problems += _problems(run, text, calls)
    return counted, problems


def ncu_tables(
    ncu: str, work: str, metrics: Sequence[str], calls: Mapping[int, CallToCount], workspace: Workspace
) -> Iterator[tuple[ToolRun, str]]:
    """Run the calls under ncu, which reads the metrics, in as many processes as it takes; yield each with its table.

    `work` is the word for these metrics of tool_target.py.
    """

    def table(run: int) -> Path:
        return workspace.folder / f"ncu-{work}-{run}.csv"

    program = ["-m", "sitegen.measure.tool_target", work, str(workspace.job_file), str(workspace.folder / "counted")]
    environment = _own_temporary_folder(workspace.folder)
    command = ToolCommand(f"ncu-{work}", lambda run: ncu_command(ncu, metrics, table(run)), program, environment)
    for run in run_calls(command, {number: call.name for number, call in calls.items()}, workspace.folder):
        file = table(run.number)
        yield run, file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""


def _own_temporary_folder(folder: Path) -> dict[str, str]:
    """Return the environment that gives ncu a temporary folder of its own.

    ncu waits for any other ncu whose lock is in the same temporary folder, also for one on another GPU.  The code that
    torch.compile has compiled stays where torch keeps it.
    """
    compiled = str(Path(tempfile.gettempdir()) / f"torchinductor_{getpass.getuser()}")
    return {"TMPDIR": str(folder), "TORCHINDUCTOR_CACHE_DIR": os.environ.get("TORCHINDUCTOR_CACHE_DIR", compiled)}


def readings(run: ToolRun, table: str) -> dict[int, Reading]:
    """Return the counters of every call that ended and for which ncu's table has a number for each counter."""
    rows = rows_by_range(table)
    complete = [n for n in run.ended if str(n) in rows and all(map(math.isfinite, rows[str(n)].values()))]
    return {number: Reading(rows[str(number)], rows.get(KNOWN)) for number in complete}


def ncu_command(ncu: str, metrics: Sequence[str], table: Path) -> list[str]:
    """Return the command line of ncu.

    It counts between the profiler's start and stop.  Clocks are left alone, and caches stay as the calls before left
    them.
    """
    choice = ["--target-processes", "application-only", "--profile-from-start", "off", "--nvtx"]
    hands_off = ["--clock-control", "none", "--cache-control", "none"]
    form = ["--csv", "--page", "raw", "--log-file", str(table)]
    return [ncu, *choice, *hands_off, *form, "--metrics", ",".join(metrics)]


def rows_by_range(table: str) -> Mapping[str, Metrics]:
    """Return the counters in ncu's CSV, summed over the kernels of each range, by the range's second word."""
    sums: dict[str, dict[str, float]] = {}
    for word, row in rows_of_calls(table):
        total = sums.setdefault(word, {})
        for metric in _COUNTED & row.keys():
            total[metric] = total.get(metric, 0.0) + number_in(row[metric])
    return sums


def rows_of_calls(table: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield each row of ncu's CSV, which is a kernel, with the second word of its range.

    The CSV stands between lines of other kinds.
    """
    for row in csv.DictReader([line for line in table.splitlines() if line.startswith('"')]):
        named = next((match for cell in row.values() if (match := _NAMED.search(cell or ""))), None)
        if named:
            yield named[1], row


def number_in(text: str) -> float:
    """Return the number in a cell of ncu's table; NaN for `nan` and `n/a`, where a counter could not be read."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return math.nan


def _counted(call: CallToCount, of_bytes: Reading, of_operations: Reading | None) -> CallCounters:
    metrics = of_bytes.metrics
    return CallCounters(
        role=call.role,
        name=call.name,
        workload=call.workload.name,
        dtype=call.dtype,
        params=call.params,
        counters=Counters(
            dram_read_bytes=metrics[READ],
            dram_written_bytes=metrics[WRITTEN],
            duration_us=metrics[NANOSECONDS] / 1000.0,
            sm_cycles=metrics[CYCLES],
            tensor_flops=tensor_flops(of_operations.metrics) if of_operations else None,
            fp32_flops=fp32_flops(of_operations.metrics) if of_operations else None,
            calibration=_calibration(of_bytes, of_operations),
        ),
    )


def _calibration(of_bytes: Reading, of_operations: Reading | None) -> Metrics:
    """Return counted over known bytes and operations; nothing, which makes the counters invalid, if one is missing."""
    shares = {"copy bytes": of_bytes.known and (of_bytes.known[READ] + of_bytes.known[WRITTEN]) / COPIED_BYTES}
    if of_operations:
        shares["matrix flops"] = of_operations.known and tensor_flops(of_operations.known) / PRODUCT_FLOPS
    return {name: share for name, share in shares.items() if share} if all(shares.values()) else {}


def tensor_flops(metrics: Metrics) -> float:
    """Return the operations of the tensor cores."""
    return sum(metrics.get(name, 0.0) for name in TENSOR)


def fp32_flops(metrics: Metrics) -> float:
    """Return the operations in fp32; a fused multiply-add is two."""
    return 2 * metrics[FMA] + metrics[ADD] + metrics[MULTIPLY]


def _problems(run: ToolRun, table: str, calls: Mapping[int, CallToCount]) -> Iterator[str]:
    if not rows_by_range(table):
        complaint = _COMPLAINT.search(run.log + "\n" + table)
        yield f"no counters: {complaint[1] if complaint else run.why or 'ncu listed no kernel'}"
        return
    for number, why in run.failed.items():
        yield f"{_title(calls[number])} was not counted: {why}"
    for number in sorted(set(run.ended) - readings(run, table).keys()):
        listed = str(number) in rows_by_range(table)
        why = "a counter gave no number" if listed else "it launches no kernel, and only kernels have counters"
        yield f"{_title(calls[number])} was not counted: {why}"


def _title(call: CallToCount) -> str:
    return f"{call.name}@{call.workload.name}:{call.dtype}"
