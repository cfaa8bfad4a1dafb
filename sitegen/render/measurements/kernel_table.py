"""Tabulate all kernels: the best implementation of each, its share of the ceiling, and its ratio to the strongest
baseline.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from markupsafe import Markup

from sitegen.model.kernel import Kernel
from sitegen.model.urls import kernel_url, relative
from sitegen.render.figures.inline_charts import Mark, bar
from sitegen.render.inputs.rows import Group, Row, headline, newest_run
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements.provenance import Provenance, ceilings_href, provenance, record_href
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Link


@dataclass(frozen=True, slots=True)
class BoardRow:
    """The best implementation of one kernel."""

    kernel: Link
    state: str
    state_text: str
    by: str = ""
    workload: str = ""
    rate: str = ""
    share: str = ""
    bar: Markup = field(default_factory=Markup)
    ratio: str = ""
    against: str = ""


@dataclass(frozen=True, slots=True)
class Board:
    rows: tuple[BoardRow, ...]
    provenance: tuple[Provenance, ...]


def board(sources: Sources, here: str) -> Board:
    """Return one row for each kernel, on the first of its GPUs."""
    rows, made = [], dict[tuple[object, ...], Provenance]()
    for kernel in sources.site.kernels:
        record = next(iter(sources.records(kernel.name)), None)
        shown = sources.groups(record) if record else ()
        group = headline(shown)
        rows.append(_board_row(kernel, group, here))
        run = newest_run(record, group) if record and group and group.best else None
        if record and run:
            line = provenance(run, record_href(record, here), ceilings_href(sources, record.gpu, here))
            made.setdefault((line.gpu, line.facts, line.commit), line)  # two runs may have the same line
    return Board(tuple(rows), tuple(made.values()))


def _board_row(kernel: Kernel, group: Group | None, here: str) -> BoardRow:
    link, best = Link(kernel.name, relative(kernel_url(kernel.name), here)), group.best if group else None
    if group is None or best is None or best.performance is None:
        return BoardRow(kernel=link, state="planned", state_text="not measured yet")
    fastest, share = _strongest(kernel, best), best.share("of-ceiling")
    rate = numbers.bandwidth(best.bytes_per_s) if group.bound_by_memory else numbers.operations(best.flops_per_s)
    return BoardRow(
        kernel=link,
        by=best.name,
        workload=f"{numbers.short_shape(group.workload.name)} {group.dtype}",
        rate=rate,
        share=numbers.fixed(share * 100, 1) if share is not None else "",
        bar=bar(share, Mark.STALE if best.stale else Mark.OURS, best.predicted),
        ratio=numbers.ratio(fastest[1]) if fastest else "",
        against=fastest[0] if fastest else "",
        state="stale" if best.stale else "fresh",
        state_text="stale" if best.stale else "fresh",
    )


def _strongest(kernel: Kernel, best: Row) -> tuple[str, float] | None:
    """Return the baseline that is nearest to the best implementation, with the ratio."""
    ratios = [(name, ratio) for name in kernel.baselines if (ratio := best.ratio(name)) is not None]
    return min(ratios, key=lambda pair: pair[1], default=None)
