"""Turn the evaluations of a record into CSV, a line for each, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from sitegen.model.record import Evaluation, Record

COLUMNS = (
    *("role", "name", "workload", "dtype", "params", "run", "status", "median_us", "p20_us", "p80_us", "low_us"),
    *("high_us", "relative_error", "registers", "spill_bytes", "shared_bytes", "occupancy", "dram_bytes"),
    *("dram_bytes_run", "kernel", "kernel_share"),
)


def record_csv(record: Record) -> str:
    """Return a head and a line for each evaluation; a figure that it lacks is empty.  Times are in microseconds."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_cells(one) for one in record.evaluations)
    return text.getvalue()


def _cells(one: Evaluation) -> Sequence[object]:
    timed, compiled = one.performance, one.compilation
    params = " ".join(f"{name}={value}" for name, value in sorted(one.params.items()))
    times = (timed.median_us, timed.p20_us, timed.p80_us, timed.low_us, timed.high_us) if timed else ("",) * 5
    resources = (compiled.registers, compiled.spill_bytes, compiled.shared_bytes) if compiled else ("",) * 3
    launch = one.launch
    return (
        *(one.role.value, one.name, one.workload, one.dtype, params, one.run, one.status.value, *times),
        one.correctness.relative_error if one.correctness else "",
        *resources,
        launch.occupancy if launch and launch.occupancy is not None else "",
        *((one.counters.dram_bytes, one.counters.run or one.run) if one.counters and one.counters.valid else ("", "")),
        launch.kernel if launch else "",
        launch.kernel_share if launch and launch.kernel_share is not None else "",
    )
