"""Draw the best of each kernel under the roofs of one GPU, for the home page."""

from __future__ import annotations

from markupsafe import Markup

from sitegen.model.kernel import Kernel
from sitegen.model.record import Record, Run
from sitegen.render.figures.roofline import render_roofline
from sitegen.render.figures.roofline_axes import Point
from sitegen.render.inputs.rows import Group, headline, newest_run
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements.kernel_charts import roofline_under
from sitegen.render.shared import numbers
from sitegen.results.datasheets import datasheet

Best = tuple[Kernel, Record, Group, Run]


def overview(sources: Sources) -> tuple[Markup, str]:
    """Return the SVG and its caption; both are empty when no kernel with operations has a time and a ceiling."""
    every_best = _best(sources)
    if not every_best:
        return Markup(), ""
    gpu = every_best[0][1].gpu
    shown = [best for best in every_best if best[1].gpu == gpu]
    run = shown[0][3]
    under = tuple(group for _, _, group, _ in shown)
    chart = roofline_under("the kernels of this site", under, run, datasheet(gpu), tuple(_point(b) for b in shown))
    if chart is None:
        return Markup(), ""
    caption = (
        f"The best of each kernel under the roofs measured on one {run.environment.gpu}. A percentage is of the "
        "ceiling for the kernel’s own mix of reads and writes; the roof is the fastest of them. Dashed: the datasheet."
    )
    return render_roofline(chart, id="overview", named=True), caption


def _best(sources: Sources) -> list[Best]:
    """Return the best result of each kernel with operations, by intensity."""
    every_best: list[Best] = []
    for kernel in sources.site.kernels:
        for record in sources.records(kernel.name)[:1]:
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
