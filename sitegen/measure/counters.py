"""A kernel's calls under ncu → `CallCounters`: bytes from and to memory, cycles, operations, beside what is known.

Two processes: one for the bytes, whose counters are read in a single pass, so that a kernel runs once, in the caches as
it finds them; and for matrix kernels one for the operations, which may take several passes.  Each begins with something
known: a copy, a matrix product.  Clocks are left alone.
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

from sitegen.measure.inspection import Counting, calls_to_count, cost_of_call
from sitegen.measure.sources import write_sources
from sitegen.measure.stage import Stage
from sitegen.measure.tool import Passage, Tool, find_tool, go_through
from sitegen.model.job import CallCounters, InspectJob
from sitegen.model.record import Counters

RANGE = "sitegen"
"""First word of the ranges by which ncu's rows are told apart; the second is a call's number, or KNOWN."""
KNOWN = "known"
COPIED_BYTES = 1 << 30
"""Of the known copy, read and written together: many times any cache."""
PRODUCT_SIDE = 4096
PRODUCT_FLOPS = 2 * PRODUCT_SIDE**3

READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
NANOSECONDS, CYCLES = "gpu__time_duration.sum", "sm__cycles_elapsed.max"
TENSOR = tuple(f"sm__ops_path_tensor_src_{t}.sum" for t in ("bf16_dst_fp32", "fp16", "tf32_dst_fp32", "fp8", "fp64"))
"""By the operands' type; a GPU without one of them lists no such column."""
FMA, ADD, MULTIPLY = (f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum" for op in ("ffma", "fadd", "fmul"))
METRICS = {"bytes": (READ, WRITTEN, NANOSECONDS, CYCLES), "operations": (*TENSOR, FMA, ADD, MULTIPLY)}

Metrics = Mapping[str, float]
_COUNTED = frozenset(name for names in METRICS.values() for name in names)
_NAMED = re.compile(rf"\b{RANGE} (\w+)")
_COMPLAINT = re.compile(r"^==ERROR== (.*)$", re.M)


@dataclass(frozen=True, slots=True)
class Reading:
    """What ncu counted of one call, and of what is known in the same process."""

    metrics: Metrics
    known: Metrics | None


def count(job: InspectJob, stage: Stage) -> tuple[tuple[CallCounters, ...], tuple[str, ...]]:
    """What was counted, and why the rest was not."""
    ncu, calls = find_tool("ncu"), dict(enumerate(calls_to_count(job)))
    if ncu is None or not calls:
        return (), ("no counters: ncu is not installed here",) if calls else ()
    write_sources(stage.folder / "counted", job.sources)
    matrix = {number: call for number, call in calls.items() if cost_of_call(job.kernel, call).is_matrix}
    of_bytes, why = _read(ncu, "bytes", calls, stage)
    of_operations, why_not = _read(ncu, "operations", matrix, stage) if matrix else ({}, [])
    counted = [_counted(call, of_bytes[n], of_operations.get(n)) for n, call in calls.items() if n in of_bytes]
    return tuple(counted), tuple(dict.fromkeys([*why, *why_not]))


def _read(ncu: str, what: str, calls: Mapping[int, Counting], stage: Stage) -> tuple[dict[int, Reading], list[str]]:
    """By number, and what went wrong."""

    def table(passage: int) -> Path:
        return stage.folder / f"ncu-{what}-{passage}.csv"

    program = ["-m", "sitegen.measure.under_tools", what, str(stage.job_file), str(stage.folder / "counted")]
    environment = _apart(stage.folder)
    tool = Tool(f"ncu-{what}", lambda passage: ncu_command(ncu, METRICS[what], table(passage)), program, environment)
    found, problems = dict[int, Reading](), list[str]()
    for passage in go_through(tool, {number: call.name for number, call in calls.items()}, stage.folder):
        file = table(passage.number)
        text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
        found |= readings(passage, text)
        problems += _problems(passage, text, calls)
    return found, problems


def _apart(folder: Path) -> dict[str, str]:
    """ncu waits for any other ncu whose lock is in the same temporary folder, also on another GPU; what torch.compile
    made before stays where torch keeps it.
    """
    compiled = str(Path(tempfile.gettempdir()) / f"torchinductor_{getpass.getuser()}")
    return {"TMPDIR": str(folder), "TORCHINDUCTOR_CACHE_DIR": os.environ.get("TORCHINDUCTOR_CACHE_DIR", compiled)}


def readings(passage: Passage, table: str) -> dict[int, Reading]:
    """Of every call that came to its end and whose kernels ncu lists with a number for each counter."""
    rows = rows_by_range(table)
    complete = [n for n in passage.ended if str(n) in rows and all(map(math.isfinite, rows[str(n)].values()))]
    return {number: Reading(rows[str(number)], rows.get(KNOWN)) for number in complete}


def ncu_command(ncu: str, metrics: Sequence[str], table: Path) -> list[str]:
    """What runs between the profiler's start and stop is counted; the caches stay as the calls before left them."""
    choice = ["--target-processes", "application-only", "--profile-from-start", "off", "--nvtx"]
    hands_off = ["--clock-control", "none", "--cache-control", "none"]
    form = ["--csv", "--page", "raw", "--log-file", str(table)]
    return [ncu, *choice, *hands_off, *form, "--metrics", ",".join(metrics)]


def rows_by_range(table: str) -> Mapping[str, Metrics]:
    """ncu's CSV, which stands between lines of other kinds: sums over the kernels of each range, by its name."""
    lines = [line for line in table.splitlines() if line.startswith('"')]
    sums: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(lines):
        named = next((match for cell in row.values() if (match := _NAMED.search(cell or ""))), None)
        if named:
            total = sums.setdefault(named[1], {})
            for metric in _COUNTED & row.keys():
                total[metric] = total.get(metric, 0.0) + _number(row[metric])
    return sums


def _number(text: str) -> float:
    """`nan` and `n/a` stand where a counter could not be read."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return math.nan


def _counted(call: Counting, of_bytes: Reading, of_operations: Reading | None) -> CallCounters:
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
    """Nothing, so that the counters are not valid, where what is known was not counted."""
    shares = {"copy bytes": of_bytes.known and (of_bytes.known[READ] + of_bytes.known[WRITTEN]) / COPIED_BYTES}
    if of_operations:
        shares["matrix flops"] = of_operations.known and tensor_flops(of_operations.known) / PRODUCT_FLOPS
    return {name: share for name, share in shares.items() if share} if all(shares.values()) else {}


def tensor_flops(metrics: Metrics) -> float:
    return sum(metrics.get(name, 0.0) for name in TENSOR)


def fp32_flops(metrics: Metrics) -> float:
    """A multiplication with an addition is two."""
    return 2 * metrics[FMA] + metrics[ADD] + metrics[MULTIPLY]


def _problems(passage: Passage, table: str, calls: Mapping[int, Counting]) -> Iterator[str]:
    if not rows_by_range(table):
        complaint = _COMPLAINT.search(passage.log + "\n" + table)
        yield f"no counters: {complaint[1] if complaint else passage.why or 'ncu listed no kernel'}"
        return
    for number, why in passage.failed.items():
        yield f"{_title(calls[number])} was not counted: {why}"
    for number in sorted(set(passage.ended) - readings(passage, table).keys()):
        listed = str(number) in rows_by_range(table)
        why = "a counter gave no number" if listed else "it launches no kernel, and the copy engine has no counters"
        yield f"{_title(calls[number])} was not counted: {why}"


def _title(call: Counting) -> str:
    return f"{call.name}@{call.workload.name}:{call.dtype}"
