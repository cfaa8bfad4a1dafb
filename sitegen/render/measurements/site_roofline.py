"""Draw the best of each kernel under the roofs of each GPU, for the home page."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.kernel import Kernel
from sitegen.model.record import Record, Run
from sitegen.render.figures.roofline import render_roofline
from sitegen.render.figures.roofline_axes import Point, Roofline
from sitegen.render.inputs.rows import Group, headline, newest_run
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements.gpus import side_by_side
from sitegen.render.measurements.kernel_charts import roofline_under
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Printer
from sitegen.results.datasheets import datasheet

Best = tuple[Kernel, Record, Group, Run]


@dataclass(frozen=True, slots=True)
class Overview:
    chart: Markup
    caption: str


def overview(printer: Printer) -> Markup:
    """Return the figure; on several GPUs, one for each behind a tab, with the same axes.  It is empty when no kernel
    with operations has a time and a ceiling.
    """
    drawn = [(one, chart) for one in printer.sources.gpus if (chart := _chart(printer.sources, one.gpu))]
    shown = []
    for n, (record, chart) in enumerate(drawn):
        others = [other for _, other in drawn if other is not chart]
        id = f"overview-{record.gpu}" if n else "overview"
        part = Overview(render_roofline(chart, id=id, named=True, beside=others), _caption(chart))
        shown.append((record, printer.fragment("partials/overview.html", part)))
    return side_by_side(printer, shown, [record for record, _ in drawn], "overview")


def _chart(sources: Sources, gpu: str) -> Roofline | None:
    shown = _best(sources, gpu)
    if not shown:
        return None
    under, run = tuple(group for _, _, group, _ in shown), shown[0][3]
    return roofline_under("the kernels of this site", under, run, datasheet(gpu), tuple(_point(b) for b in shown))


def _caption(chart: Roofline) -> str:
    return (
        f"The best of each kernel under the roofs measured on one {chart.gpu}. A percentage is of the "
        "ceiling for the kernel’s own mix of reads and writes; the roof is the fastest of them. Dashed: the datasheet."
    )


def _best(sources: Sources, gpu: str) -> list[Best]:
    """Return the best result of each kernel with operations on a GPU, by intensity."""
    every_best: list[Best] = []
    for kernel in sources.site.kernels:
        for record in (one for one in sources.records(kernel.name) if one.gpu == gpu):
            group = headline(sources.groups(record))
            run = newest_run(record, group) if group else None
            timed = group is not None and group.best is not None and group.best.flops_per_s > 0
            if group and run and timed and group.cost.flops and group.ceiling[0]:
                every_best.append((kernel, record, group, run))
    return sorted(every_best, key=lambda best: (best[2].cost.intensity, best[0].name))


def _point(best: Best) -> Point:
    kernel, _, group, _ = best
    row = group.best
    rate, share = (row.flops_per_s, row.share("of-ceiling")) if row else (0.0, None)
    name = f"{kernel.name} {numbers.percent(share, 0)}" if share is not None else kernel.name
    return Point(
        name=name,
        flops_per_byte=group.cost.intensity,
        flops_per_s=rate,
        low_flops_per_s=rate,
        high_flops_per_s=rate,
        ours=True,
        stale=bool(row and row.stale),
    )
