"""Tabulate facts behind the times of a kernel: the compiled code, the counted bytes, the clocks.

A page has one such table for its headline workload, and one for all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sitegen.model.record import Compilation, LaunchRecord, Performance, Ratio, Role, Sustained
from sitegen.render.inputs.rows import Group, Row
from sitegen.render.measurements import tables
from sitegen.render.measurements.provenance import counted_elsewhere
from sitegen.render.measurements.tables import Column
from sitegen.render.shared import numbers

CODE = "Registers and local memory (for spills) of a thread, shared memory of a block."
SEVERAL = " Where a call launches several kernels, their number stands in a column."
NAMED = (
    " The figures of its code are then those of the longest kernel, which is named with its part of the call’s device "
    "time."
)
UNNAMED = " An older record does not say to which of them the figures of its code belong; it may be a helper."
MOST_CHARACTERS = 40
"""The longest name of a kernel in a table; those of libraries describe their tiles."""
COUNTED = " The re-read factor is the DRAM’s bytes over the least that must move."


def code_columns() -> tuple[Column, ...]:
    return (
        Column("registers", _compiled(lambda c: str(c.registers))),
        Column("local memory", _compiled(lambda c: _small(c.spill_bytes))),
        Column("shared", _shared),
        Column("occupancy", _launched(lambda x: numbers.percent(x.occupancy, 0) if x.occupancy is not None else "")),
        Column("launches", lambda _, row: str(count) if (count := _launches(row)) > 1 else ""),
        Column("DRAM bytes", lambda _, row: numbers.size(row.counters.dram_bytes) if row.counters else ""),
        Column("re-read", lambda group, row: numbers.ratio(x) if (x := group.reread(row)) else ""),
    )


def kernel_column() -> Column:
    """Return the column that names the kernel of the code's figures where a call launches several."""
    return Column("longest kernel", lambda _, row: _kernel(row), left=True)


def clock_columns() -> tuple[Column, ...]:
    return (
        Column("SM clock", _timed(lambda p: _clock(p.sm_clock_mhz))),
        Column("power", _timed(lambda p: _watts(p.power_w))),
        Column("held down by", _timed(lambda p: ", ".join(p.throttle)), left=True),
    )


def matrix_columns(baseline: str) -> tuple[Column, ...]:
    """Return the columns of a matrix kernel: bursts first, then sustained load, each compared with `baseline`.

    A burst has no power, because it ends before the sensor has a new value (measure/clock.py).  Sustained times are
    compared with the sustained ceiling in SM cycles.
    """
    times = f"×{numbers.NBSP}{baseline}"
    return (
        Column("burst clock", _timed(lambda p: _clock(p.sm_clock_mhz))),
        Column("SM cycles", _timed(lambda p: _thousands(p.cycles))),
        Column(f"{times} in cycles", _timed(lambda p: _ratio(p.cycle_ratios, baseline))),
        Column("sustained clock", _held(lambda s: _clock(s.sm_clock_mhz))),
        Column("of sustained ceiling", lambda _, row: numbers.percent(s.value) if (s := row.of_sustained) else ""),
        Column("power", _held(lambda s: _watts(s.power_w))),
        Column(f"{times} sustained", _held(lambda s: _ratio(s.ratios, baseline))),
        Column(
            "held down by", _timed(lambda p: ", ".join((p.sustained and p.sustained.throttle) or p.throttle)), left=True
        ),
    )


def details(shown: Sequence[Group], baseline: str, id: str) -> tuple[tables.Table, ...]:
    """Return one table; two when there are matrix products, whose clocks have a table of their own."""
    counted = any(row.counters for group in shown for row in group.rows)
    several = [row for group in shown for row in group.rows if _is_listed(row) and _launches(row) > 1]
    named = {bool(_kernel(row)) for row in several}
    elsewhere = counted_elsewhere(row for group in shown for row in group.rows)
    notes = ((SEVERAL, several), (NAMED, True in named), (UNNAMED, False in named), (COUNTED, counted))
    caption = f"{CODE}{''.join(note for note, applies in notes if applies)} {elsewhere}".rstrip()
    parts = [(tables.head(group), group, [r for r in group.rows if _is_listed(r)]) for group in shown]
    matrix = any(row.performance and row.performance.sustained for _, _, rows in parts for row in rows)
    if not matrix:
        table = tables.listing(id, caption, parts, (*code_columns(), kernel_column(), *clock_columns()))
        return (table,) if table.headings else ()
    listings = (
        tables.listing(id, caption, parts, (*code_columns(), kernel_column())),
        tables.listing(f"{id}-clocks", "Clocks: in bursts, and sustained.", parts, matrix_columns(baseline)),
    )
    return tuple(table for table in listings if table.headings)


def _is_listed(row: Row) -> bool:
    return row.role is not Role.PROBE and row.performance is not None


def _launches(row: Row) -> int:
    """Return the number of launches of a call; 0 where the record has none."""
    return row.evaluation.launch.launches if row.evaluation and row.evaluation.launch else 0


def _kernel(row: Row) -> str:
    """Return `gradients, 97 %` where a call launches several kernels and the record names the longest."""
    launch = row.evaluation.launch if row.evaluation else None
    if launch is None or launch.launches < 2 or not launch.kernel:
        return ""
    name = launch.kernel if len(launch.kernel) <= MOST_CHARACTERS else f"{launch.kernel[: MOST_CHARACTERS - 1]}…"
    return f"{name}, {numbers.percent(share, 0)}" if (share := launch.kernel_share) is not None else name


def _compiled(text: Callable[[Compilation], str]) -> Callable[[Group, Row], str]:
    return lambda _, row: text(row.evaluation.compilation) if row.evaluation and row.evaluation.compilation else ""


def _launched(text: Callable[[LaunchRecord], str]) -> Callable[[Group, Row], str]:
    return lambda _, row: text(row.evaluation.launch) if row.evaluation and row.evaluation.launch else ""


def _timed(text: Callable[[Performance], str]) -> Callable[[Group, Row], str]:
    return lambda _, row: text(row.performance) if row.performance else ""


def _held(text: Callable[[Sustained], str]) -> Callable[[Group, Row], str]:
    return lambda _, row: text(row.performance.sustained) if row.performance and row.performance.sustained else ""


def _shared(_: Group, row: Row) -> str:
    """Return the static and dynamic shared memory of a block together."""
    one = row.evaluation
    if one is None or one.compilation is None:
        return ""
    count = one.compilation.shared_bytes
    return numbers.with_unit(f"{count / 1024:.4g}", "KiB") if count >= 1024 else _small(count)


def _small(count: int) -> str:
    return numbers.with_unit(str(count), "B") if count else "0"


def _clock(mhz: float | None) -> str:
    return numbers.clock(mhz) if mhz else ""


def _watts(power: float | None) -> str:
    return numbers.watts(power) if power else ""


def _thousands(cycles: float | None) -> str:
    """Return a number of cycles in thousands: `265.1 k`."""
    return numbers.with_unit(numbers.significant(cycles / 1000, 4), "k") if cycles else ""


def _ratio(ratios: Sequence[Ratio], baseline: str) -> str:
    return next((numbers.fixed(r.value, 2) for r in ratios if r.baseline == baseline), "")
