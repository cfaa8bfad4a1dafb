"""Print `{roofline}`: a kernel at one workload and dtype under its ceilings, beside a table with the same numbers.

A kernel without operations has no roofline, only the bandwidth panel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from sitegen.model.ceiling_table import CEILINGS, CeilingUnit
from sitegen.model.document import RooflineSlot
from sitegen.model.kernel import Kernel
from sitegen.model.record import Record, Role, Run
from sitegen.render.figures.bandwidth_panel import LevelLine, Panel, ProgramColumn, render_panel
from sitegen.render.figures.roofline import render_roofline
from sitegen.render.figures.roofline_axes import Point, Roof, Roofline, Slope
from sitegen.render.inputs.rows import Group, Row, headline, newest_run, select_groups
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements import tables
from sitegen.render.measurements.gpus import label_of, side_by_side
from sitegen.render.measurements.provenance import Provenance, ceilings_href, counted_elsewhere, provenances
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.placeholder import absent
from sitegen.results.datasheets import Datasheet, datasheet
from sitegen.results.figures import COMPUTE

MIXES = {name: kind.title for name, kind in CEILINGS.items() if name.startswith("memory ")}
"""Titles of the mixes of reads and writes, by the name of the ceiling."""
LEVELS = {n: kind.title for n, kind in CEILINGS.items() if kind.unit is CeilingUnit.BYTES and n not in MIXES}
"""Titles of the levels above the memory, by the name of the ceiling."""
_USED = 0.1
"""The least share of the counted operations for which the ceiling of an arithmetic applies to a kernel."""


def ceiling_name(name: str) -> str:
    """Return the name that readers use for a ceiling: `copy` for `memory 1:1`, `bf16 tensor` for `bf16`."""
    return CEILINGS[name].title


@dataclass(frozen=True, slots=True)
class CeilingRow:
    name: str
    measured: str
    datasheet: str
    ridge: str


@dataclass(frozen=True, slots=True)
class Figure:
    id: str
    record: str
    """The record of its figures, for `sitegen verify`: `softmax nvidia-h200`."""
    label: str
    caption: str
    roofline: Markup
    """The roofline; empty for a kernel without operations."""
    panel: Markup
    ceilings: tuple[CeilingRow, ...]
    ceilings_href: str
    """The link to the page of the GPU's ceilings; empty when there is none."""
    programs: tables.Table
    """The points as numbers."""
    notes: tuple[str, ...]
    """Notes on the counted bytes that the reader needs."""
    predicted: bool
    stale: bool
    counted: bool
    """Whether some points have an intensity by DRAM bytes."""
    sustained: bool
    """Whether some points have a second, sustained rate."""
    datasheet: str
    """The source of the datasheet's values; empty when none is known."""
    wide: bool = True


@dataclass(frozen=True, slots=True)
class Charts:
    """The charts of a kernel at one workload and dtype on one GPU."""

    roofline: Roofline | None
    """None for a kernel without operations."""
    panel: Panel


def render_slot(printer: Printer, slot: RooflineSlot, here: str, prefix: str) -> Markup:
    """Return the figure for each GPU that has a record, or the statement that nothing was measured yet."""
    kernel = printer.sources.kernel(slot.kernel)
    records = printer.sources.records(slot.kernel) if kernel else ()
    parts: list[tuple[Record, Markup]] = []
    chosen = [
        (record, group)
        for record in records
        if (group := group_of_slot(printer.sources, record, slot)) and group.can_be_drawn
    ]
    for record, group in chosen:
        if kernel:
            name = slot.label if slot.label and not parts else f"{prefix}-{record.gpu}"
            label = label_of(printer.sources, record, slot.number)
            figure = kernel_figure(printer.sources, kernel, record, group, here, id=name, label=label, among=chosen)
            if slot.caption:
                figure = replace(figure, caption=Markup(slot.caption))
            parts.append((record, printer.fragment("partials/figure.html", figure)))
    if not parts:
        text = f"No roofline yet: {slot.kernel} has no measured ceiling or time at this workload."
        return absent(printer, text, slot.number, slot.label)
    return side_by_side(printer, parts, records, prefix, wide=True)


def group_of_slot(sources: Sources, record: Record, slot: RooflineSlot) -> Group | None:
    """Return the group that `{roofline}` shows of a record."""
    workloads, dtypes = (slot.workload,) if slot.workload else (), (slot.dtype,) if slot.dtype else ()
    return headline(select_groups(sources.groups(record), workloads, dtypes))


def kernel_figure(
    sources: Sources,
    kernel: Kernel,
    record: Record,
    group: Group,
    here: str,
    *,
    id: str,
    label: str = "",
    wide: bool = True,
    among: Sequence[tuple[Record, Group]] = (),
) -> Figure:
    """Return the figure of one GPU.  `among` are the records and groups of all GPUs: the charts of the same workload
    have the same axes.
    """
    run = newest_run(record, group)
    sheet = datasheet(record.gpu)
    rows = _timed(group)
    programs = _programs(record, group, rows, f"{id}-n", provenances(sources, record, (group,), here))
    charts = _charts(kernel, record, group, {line.name: f"#{line.id}" for line in programs.bodies[0].lines})
    others = [_charts(kernel, other, its, {}) for other, its in among if other is not record and _is_same(its, group)]
    counted = any(row.counters for row in rows)
    return Figure(
        id=id,
        record=f"{record.kernel} {record.gpu}",
        label=label,
        caption=_caption(
            kernel, group, both=charts.roofline is not None, bars=any(_rereads(group, row) for row in rows)
        ),
        roofline=_drawn_roofline(charts, others, id),
        panel=render_panel(charts.panel, [one.panel for one in others if one.panel.unit == charts.panel.unit]),
        ceilings=_ceiling_rows(group, run, sheet),
        ceilings_href=ceilings_href(sources, record.gpu, here),
        programs=programs,
        notes=tuple(_notes(group, rows)),
        predicted=any(row.predicted is not None for row in rows),
        stale=any(row.stale for row in rows),
        counted=counted,
        sustained=any(row.performance and row.performance.sustained for row in rows),
        datasheet=sheet.source if sheet else "",
        wide=wide,
    )


def _drawn_roofline(charts: Charts, others: Sequence[Charts], id: str) -> Markup:
    if charts.roofline is None:
        return Markup()
    return render_roofline(charts.roofline, id=id, beside=[one.roofline for one in others if one.roofline])


def _charts(kernel: Kernel, record: Record, group: Group, hrefs: Mapping[str, str]) -> Charts:
    """Return the charts of one GPU; `hrefs` has the link to each program's row."""
    run, sheet, rows = newest_run(record, group), datasheet(record.gpu), _timed(group)
    points = tuple(_point(group, row, hrefs.get(row.name, "")) for row in rows)
    chart = roofline_under(kernel.name, (group,), run, sheet, points, "a") if group.cost.flops and run else None
    return Charts(chart, _panel(kernel, group, run, sheet, rows, hrefs, alone=chart is None))


def _timed(group: Group) -> list[Row]:
    return [row for row in group.rows if row.role is not Role.PROBE and row.performance]


def _is_same(one: Group, other: Group) -> bool:
    """Tell whether two groups have the same workload, dtype and params."""
    return (one.workload.name, one.dtype, one.params) == (other.workload.name, other.dtype, other.params)


def _programs(
    record: Record, group: Group, rows: Sequence[Row], id: str, provenance: tuple[Provenance, ...]
) -> tables.Table:
    columns = [
        tables.Column("FLOP/byte", lambda g, _: numbers.intensity(g.cost.intensity) if g.cost.flops else ""),
        tables.Column("at the DRAM", lambda g, r: numbers.intensity(x) if (x := dram_intensity(g, r)) else ""),
        tables.Column("DRAM bytes", lambda _, r: numbers.size(r.counters.dram_bytes) if r.counters else ""),
        tables.Column("re-read", lambda g, r: numbers.ratio(x) if (x := g.reread(r)) else ""),
        tables.Column("rate", lambda g, r: numbers.operations(r.flops_per_s) if g.cost.flops else ""),
        tables.Column("sustained", lambda g, r: numbers.operations(x) if (x := sustained_flops(g, r)) else ""),
        tables.Column("bandwidth", lambda g, r: numbers.bandwidth(r.bytes_per_s) if g.bound_by_memory else ""),
        tables.Column("of ceiling", lambda _, r: numbers.percent(x) if (x := r.share("of-ceiling")) else ""),
    ]
    return tables.listing(id, "The figure as numbers", [(tables.Body(), group, rows)], columns, provenance, linked=True)


def dram_intensity(group: Group, row: Row) -> float | None:
    """Return the FLOP of the formula for each byte that the DRAM counted; None where the count is unknown."""
    return group.cost.flops / row.counters.dram_bytes if row.counters and row.counters.dram_bytes else None


def sustained_flops(group: Group, row: Row) -> float | None:
    held = row.performance.sustained if row.performance else None
    return group.cost.flops / (held.median_us / 1e6) if held else None


def _notes(group: Group, rows: Sequence[Row]) -> Iterator[str]:
    counted = [row.evaluation.counters for row in rows if row.evaluation and row.evaluation.counters]
    if counted:
        yield f"The least that must move is {numbers.size(group.cost.bytes)}."
    if elsewhere := counted_elsewhere(rows):
        yield elsewhere
    if counted and not group.large:
        yield "The L2 keeps a part of so little from the DRAM: the bytes counted judge nothing here."
    if wrong := [one for one in counted if not one.valid]:
        shares = sorted({f"{name} × {share:.2f}" for one in wrong for name, share in one.calibration.items()})
        yield f"Counters that missed what is known by more than 2 % are left out ({', '.join(shares)})."


def _caption(kernel: Kernel, group: Group, *, both: bool, bars: bool) -> str:
    where = f"{kernel.name} at {numbers.shape(group.workload.name)} in {group.dtype}."
    if not both:
        return f"{where} The solid line was measured in the same run, the dashed one is the datasheet’s."
    meaning = "A bar leads to the intensity by the bytes that the DRAM counted: its length is the re-read factor. "
    return (
        f"{where} a: solid roofs were measured in the same run, dashed ones are the datasheet’s. "
        f"{meaning if bars else ''}b: the same programs on a linear axis."
    )


def _rates(shown: Sequence[Group], run: Run) -> dict[str, float]:
    """Return the ceilings of a run by name.  Where a measured program is faster than the probe, its rate is the
    ceiling.
    """
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
    """Return the roofs of the arithmetic that the groups use."""
    names = {name for group in shown for name in used_arithmetic(group)}
    flops = sheet.flops_per_s if sheet else {}
    return tuple(
        Roof(ceiling_name(name), rate, flops.get(name)) for name, rate in _rates(shown, run).items() if name in names
    )


def used_arithmetic(group: Group) -> set[str]:
    """Return the names of the arithmetic ceilings that apply to a group.

    They come from the counted operations where the counters are valid.  Else they are that of the dtype and, unless the
    kernel is a matrix product, that of fp32, in which it adds.  The ceiling that binds is always among them.
    """
    own = COMPUTE.get(group.dtype, "fp32")
    tensor = sum(c.tensor_flops or 0.0 for row in group.rows if (c := row.counters))
    fp32 = sum(c.fp32_flops or 0.0 for row in group.rows if (c := row.counters))
    names = {group.limits.compute} if group.limits.compute and not group.bound_by_memory else set()
    if tensor + fp32 == 0:
        return names | {own} | (set() if group.cost.is_matrix else {"fp32"})
    if tensor >= _USED * (tensor + fp32):
        names.add(own if own != "fp32" else "tf32")
    return names | ({"fp32"} if fp32 >= _USED * (tensor + fp32) else set())


def roofline_under(
    name: str,
    shown: Sequence[Group],
    run: Run,
    sheet: Datasheet | None,
    points: tuple[Point, ...],
    letter: str = "",
) -> Roofline | None:
    """Return `points` under the ceilings of a run that apply to `shown`; None when it measured no memory ceiling.

    The slope is that of the mix of reads and writes; of several mixes the fastest.
    """
    limits = max((group.limits for group in shown), key=lambda limits: limits.bytes_per_s)
    if not limits.memory:
        return None
    memory = MIXES[limits.memory] if len({group.limits.memory for group in shown}) == 1 else "DRAM"
    first = Slope(memory, limits.bytes_per_s, sheet.bytes_per_s if sheet else None)
    levels = [Slope(ceiling.name, ceiling.rate) for ceiling in run.ceilings if ceiling.name in LEVELS]
    return Roofline(run.environment.gpu, name, (first, *levels), _roofs(shown, run, sheet), points, letter)


def _point(group: Group, row: Row, href: str) -> Point:
    low, high = _spread(row, row.flops_per_s)
    return Point(
        name=row.name,
        flops_per_byte=group.cost.intensity,
        flops_per_s=row.flops_per_s,
        low_flops_per_s=low,
        high_flops_per_s=high,
        ours=row.ours,
        stale=bool(row.stale),
        dram_flops_per_byte=dram_intensity(group, row),
        sustained_flops_per_s=sustained_flops(group, row),
        title=_title(group, row, (low, high)),
        href=href,
    )


def _title(group: Group, row: Row, spread: tuple[float, float]) -> str:
    """Return the point in words."""
    low, high = (numbers.operations(rate) for rate in spread)
    facts = [f"{numbers.operations(row.flops_per_s)} at {numbers.intensity(group.cost.intensity)} FLOP per byte"]
    facts += [f"p20 to p80 {low} to {high}"] if low != high else []
    if factor := group.reread(row):
        facts.append(f"re-read {numbers.ratio(factor)}")
    if held := sustained_flops(group, row):
        facts.append(f"sustained {numbers.operations(held)}")
    if share := row.share("of-ceiling"):
        facts.append(f"{numbers.percent(share)} of the ceiling")
    return f"{row.name}{', stale' if row.stale else ''}: {'; '.join(facts)}"


def _rereads(group: Group, row: Row) -> bool:
    """Return whether the bar of re-read bytes is long enough to be visible."""
    factor = group.reread(row)
    return factor is not None and numbers.ratio(factor) != numbers.ratio(1.0)


def _spread(row: Row, rate: float) -> tuple[float, float]:
    """Return the rates at p80 and at p20 of the time."""
    p = row.performance
    return (rate * p.median_us / p.p80_us, rate * p.median_us / p.p20_us) if p else (rate, rate)


def _panel(
    kernel: Kernel,
    group: Group,
    run: Run | None,
    sheet: Datasheet | None,
    rows: Sequence[Row],
    hrefs: Mapping[str, str],
    *,
    alone: bool,
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
        ceiling=LevelLine(ceiling_name(name), rate / 1e12),
        probe=LevelLine(f"{probe.name} of these bytes", probe.bytes_per_s / 1e12) if probe else None,
        datasheet=LevelLine("datasheet", printed / 1e12) if printed else None,
        columns=tuple(_column(group, row, hrefs.get(row.name, "")) for row in rows),
        letter="" if alone else "b",
    )


def _column(group: Group, row: Row, href: str) -> ProgramColumn:
    rate = (row.bytes_per_s if group.bound_by_memory else row.flops_per_s) / 1e12
    low, high = _spread(row, rate)
    predicted = row.predicted * group.ceiling[1] / 1e12 if row.predicted is not None else None
    return ProgramColumn(
        name=row.name,
        rate=rate,
        low=low,
        high=high,
        ours=row.ours,
        stale=bool(row.stale),
        predicted=predicted,
        href=href,
    )


def _ceiling_rows(group: Group, run: Run | None, sheet: Datasheet | None) -> tuple[CeilingRow, ...]:
    """Return the memory mixes and the roofs as numbers."""
    if run is None:
        return ()
    rates = _rates((group,), run)
    printed = _printed(sheet.bytes_per_s, "TB/s") if sheet else ""
    rows = [
        CeilingRow(f"memory, {MIXES[name]} ({name.removeprefix('memory ')})", numbers.bandwidth(rate), printed, "")
        for name, rate in rates.items()
        if name in MIXES
    ]
    rows += [CeilingRow(LEVELS[n], numbers.bandwidth(rate), "", "") for n, rate in rates.items() if n in LEVELS]
    slope = group.limits.bytes_per_s
    for roof in _roofs((group,), run, sheet) if group.cost.flops else ():
        flops = _printed(roof.datasheet_flops_per_s, "TFLOP/s") if roof.datasheet_flops_per_s else ""
        ridge = numbers.intensity(roof.flops_per_s / slope) if slope else ""
        rows.append(CeilingRow(roof.name, numbers.teraflops(roof.flops_per_s), flops, ridge))
    return tuple(rows)


def _printed(rate: float, unit: str) -> str:
    """Return a value of the datasheet with its unit."""
    return numbers.with_unit(numbers.printed(rate / 1e12), unit)
