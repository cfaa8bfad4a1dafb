"""`{roofline}`: a kernel at one workload and dtype under its ceilings, with the same numbers in a table beside it.

A kernel without operations has no roofline and gets the bandwidth panel alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from sitegen.model.document import RooflineSlot
from sitegen.model.kernel import Kernel
from sitegen.model.record import Record, Role, Run
from sitegen.render import numbers, tables
from sitegen.render.benchmark import record_href
from sitegen.render.datasheets import Datasheet, datasheet
from sitegen.render.frame import Printer
from sitegen.render.measured import Group, Row, chosen, headline, newest_run
from sitegen.render.panel import Column, Line, Panel, render_panel
from sitegen.render.roofline import Point, Roof, Roofline, Slope, render_roofline
from sitegen.results.measures import COMPUTE

MIXES = {
    "memory 1:0": "read",
    "memory 2:1": "two reads, a write",
    "memory 1:1": "copy",
    "memory 0:1": "write",
}
"""What a mix of reads and writes is called."""
COMPUTE_NAMES = {"fp64": "fp64", "fp32": "fp32", "tf32": "tf32 tensor", "bf16": "bf16 tensor", "fp8": "fp8 tensor"}


def ceiling_name(name: str) -> str:
    """As readers call it: `copy` for `memory 1:1`, `bf16 tensor` for `bf16`."""
    return MIXES.get(name) or COMPUTE_NAMES.get(name, name)


@dataclass(frozen=True, slots=True)
class CeilingRow:
    name: str
    measured: str
    datasheet: str
    ridge: str


@dataclass(frozen=True, slots=True)
class PointRow:
    name: str
    state: str
    intensity: str
    rate: str
    bandwidth: str
    of_ceiling: str


@dataclass(frozen=True, slots=True)
class Figure:
    id: str
    label: str
    caption: str
    roofline: Markup
    """Empty for a kernel without operations."""
    panel: Markup
    ceilings: tuple[CeilingRow, ...]
    points: tuple[PointRow, ...]
    provenance: tuple[tables.Provenance, ...]
    predicted: bool
    stale: bool
    datasheet: str
    """Its source; empty when none is known."""
    wide: bool = True


def render_slot(printer: Printer, slot: RooflineSlot, here: str, prefix: str, number: int) -> Markup:
    """The figure for each GPU that has a record, or the statement that nothing was measured yet."""
    kernel = printer.sources.kernel(slot.kernel)
    parts: list[Markup] = []
    for record in printer.sources.records(slot.kernel) if kernel else ():
        group = _chosen(printer, record, slot) if kernel else None
        if kernel and group and group.can_be_drawn:
            name = slot.label if slot.label and not parts else f"{prefix}-{record.gpu}"
            figure = kernel_figure(kernel, record, group, here, id=name, label=f"Figure {number}.")
            if slot.caption:
                figure = replace(figure, caption=slot.caption)
            parts.append(printer.fragment("partials/figure.html", figure))
    if not parts:
        text = f"No roofline yet: {slot.kernel} has no measured ceiling or time at this workload."
        return printer.fragment("partials/missing.html", text)
    return Markup("\n").join(parts)


def _chosen(printer: Printer, record: Record, slot: RooflineSlot) -> Group | None:
    workloads, dtypes = (slot.workload,) if slot.workload else (), (slot.dtype,) if slot.dtype else ()
    return headline(chosen(printer.sources.groups(record), workloads, dtypes))


def kernel_figure(
    kernel: Kernel, record: Record, group: Group, here: str, *, id: str, label: str = "", wide: bool = True
) -> Figure:
    run = newest_run(record, group)
    sheet = datasheet(record.gpu)
    rows = [row for row in group.rows if row.role is not Role.PROBE and row.performance]
    points = tuple(_point(group, row) for row in rows)
    chart = roofline_under(kernel.name, (group,), run, sheet, points, "a") if group.cost.flops and run else None
    return Figure(
        id=id,
        label=label,
        caption=_caption(kernel, group, both=chart is not None),
        roofline=render_roofline(chart, id=id) if chart else Markup(),
        panel=render_panel(_panel(kernel, group, run, sheet, rows, wide=chart is None)),
        ceilings=_ceiling_rows(group, run, sheet),
        points=tuple(_point_row(group, row) for row in rows),
        provenance=tables.provenances(record, (group,), record_href(record, here)),
        predicted=any(row.predicted is not None for row in rows),
        stale=any(row.stale for row in rows),
        datasheet=sheet.source if sheet else "",
        wide=wide,
    )


def _caption(kernel: Kernel, group: Group, *, both: bool) -> str:
    where = f"{kernel.name} at {numbers.shape(group.workload.name)} in {group.dtype}."
    if not both:
        return f"{where} The solid line was measured in the same run, the dashed one is the datasheet’s."
    return (
        f"{where} a: solid roofs were measured in the same run, dashed ones are the datasheet’s. "
        "b: the same programs on a linear axis. Squares are baselines, discs are ours, rings are predictions."
    )


def _rates(shown: Sequence[Group], run: Run) -> dict[str, float]:
    """The ceilings of a run by name; where something in it ran faster than its probe, that counts."""
    rates = {ceiling.name: ceiling.rate for ceiling in run.ceilings}
    for group in shown:
        for name, rate in (
            (group.limits.memory, group.limits.bytes_per_s),
            (group.limits.compute, group.limits.flops_per_s),
        ):
            if name:
                rates[name] = max(rate, rates.get(name, 0.0))
    return rates


def _roofs(shown: Sequence[Group], run: Run, sheet: Datasheet | None) -> tuple[Roof, ...]:
    """fp32, and each dtype's own arithmetic when it is another."""
    names = {"fp32", *(COMPUTE.get(group.dtype, "fp32") for group in shown)}
    flops = sheet.flops_per_s if sheet else {}
    return tuple(
        Roof(COMPUTE_NAMES[name], rate, flops.get(name)) for name, rate in _rates(shown, run).items() if name in names
    )


def roofline_under(
    name: str,
    shown: Sequence[Group],
    run: Run,
    sheet: Datasheet | None,
    points: tuple[Point, ...],
    letter: str = "",
) -> Roofline | None:
    """`points` under the ceilings of a run that concern `shown`; None when it measured no memory ceiling."""
    memory = shown[0].limits.memory
    if not memory:
        return None
    slope = Slope(MIXES[memory], shown[0].limits.bytes_per_s, sheet.bytes_per_s if sheet else None)
    return Roofline(run.environment.gpu, name, slope, _roofs(shown, run, sheet), points, letter)


def _point(group: Group, row: Row) -> Point:
    low, high = _spread(row, row.flops_per_s)
    return Point(row.name, group.cost.intensity, row.flops_per_s, low, high, row.ours, bool(row.stale))


def _spread(row: Row, rate: float) -> tuple[float, float]:
    """The rate at p80 and at p20 of the time."""
    p = row.performance
    return (rate * p.median_us / p.p80_us, rate * p.median_us / p.p20_us) if p else (rate, rate)


def _panel(
    kernel: Kernel, group: Group, run: Run | None, sheet: Datasheet | None, rows: list[Row], *, wide: bool
) -> Panel:
    memory = group.bound_by_memory
    name, rate = group.ceiling
    printed = (sheet.bytes_per_s if memory else sheet.flops_per_s.get(name)) if sheet else None
    probe = group.probe if memory and group.probe and group.probe.performance else None
    gpu = run.environment.gpu if run else ""
    unit = "TB/s" if memory else "TFLOP/s"
    return Panel(
        title=f"{kernel.name} at {numbers.shape(group.workload.name)} in {group.dtype} on {gpu}, in {unit}",
        unit=unit,
        ceiling=Line(ceiling_name(name), rate / 1e12),
        probe=Line(f"{probe.name} of these bytes", probe.bytes_per_s / 1e12) if probe else None,
        datasheet=Line("datasheet", printed / 1e12) if printed else None,
        columns=tuple(_column(group, row) for row in rows),
        width=840 if wide else 360,
        letter="" if wide else "b",
    )


def _column(group: Group, row: Row) -> Column:
    rate = (row.bytes_per_s if group.bound_by_memory else row.flops_per_s) / 1e12
    low, high = _spread(row, rate)
    predicted = row.predicted * group.ceiling[1] / 1e12 if row.predicted is not None else None
    return Column(row.name, rate, low, high, row.ours, bool(row.stale), predicted)


def _ceiling_rows(group: Group, run: Run | None, sheet: Datasheet | None) -> tuple[CeilingRow, ...]:
    """The memory mixes and the roofs as numbers."""
    if run is None:
        return ()
    rates = _rates((group,), run)
    printed = _printed(sheet.bytes_per_s, "TB/s") if sheet else ""
    rows = [
        CeilingRow(f"memory, {MIXES[name]} ({name.removeprefix('memory ')})", numbers.bandwidth(rate), printed, "")
        for name, rate in rates.items()
        if name in MIXES
    ]
    slope = group.limits.bytes_per_s
    for roof in _roofs((group,), run, sheet) if group.cost.flops else ():
        flops = _printed(roof.datasheet_flops_per_s, "TFLOP/s") if roof.datasheet_flops_per_s else ""
        ridge = numbers.intensity(roof.flops_per_s / slope) if slope else ""
        rows.append(CeilingRow(roof.name, numbers.operations(roof.flops_per_s), flops, ridge))
    return tuple(rows)


def _printed(rate: float, unit: str) -> str:
    """A figure of the datasheet."""
    return numbers.with_unit(numbers.printed(rate / 1e12), unit)


def _point_row(group: Group, row: Row) -> PointRow:
    return PointRow(
        row.name,
        "stale" if row.stale else "ours" if row.ours else "base",
        numbers.intensity(group.cost.intensity),
        numbers.operations(row.flops_per_s) if group.cost.flops else "",
        numbers.bandwidth(row.bytes_per_s),
        numbers.percent(share) if (share := row.share("of-ceiling")) is not None else "",
    )
