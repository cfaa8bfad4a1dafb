"""Tabulate all kernels: the best implementation of each on each GPU, its share of the ceiling, and its ratio to the
strongest baseline.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from markupsafe import Markup

from sitegen.model.kernel import Kernel
from sitegen.model.record import Record
from sitegen.model.urls import KERNELS, kernel_url, relative
from sitegen.render.figures.inline_charts import Mark, bar
from sitegen.render.inputs.rows import Group, Row, headline, newest_run
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements import tables
from sitegen.render.measurements.gpus import gpu_name, short_name, side_by_side
from sitegen.render.measurements.provenance import Provenance, ceilings_href, provenance, record_href
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Link, Printer


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
    """All kernels on one GPU."""

    id: str
    gpu: str
    """The name of the GPU; empty where the site has fewer than two."""
    rows: tuple[BoardRow, ...]
    provenance: tuple[Provenance, ...]


def boards(printer: Printer, here: str) -> Markup:
    """Return one row for each kernel; on several GPUs, a table for each behind a tab."""
    sources = printer.sources
    if not sources.gpus:
        return printer.fragment("partials/board.html", _board(sources, None, here))
    shown = [(one, printer.fragment("partials/board.html", _board(sources, one, here))) for one in sources.gpus]
    return side_by_side(printer, shown, sources.gpus, "board")


def comparison_of_kernels(sources: Sources, here: str) -> tables.Table | None:
    """Return a row for each kernel, and for each GPU the share of the ceiling and the ratio to the strongest baseline;
    None for fewer than two GPUs.
    """
    if len(sources.gpus) < 2:
        return None
    shown = [_board(sources, one, here).rows for one in sources.gpus]
    headings = [
        heading
        for one in sources.gpus
        for heading in (
            tables.Heading(f"{short_name(gpu_name(one))}, % of ceiling"),
            tables.Heading("", bar=True),
            tables.Heading("× strongest"),
        )
    ]
    lines = tuple(_line(rows) for rows in zip(*shown, strict=True))
    caption = (
        "Each GPU is compared with its own ceiling and with the fastest baseline there. The ring on a bar is the "
        "prediction, its end mark the ceiling."
    )
    body = (tables.Body(lines=lines),)
    return tables.Table(
        "best", caption, "", tuple(headings), body, (), wide=False, first="kernel", record=KERNELS.strip("/")
    )


def _line(rows: tuple[BoardRow, ...]) -> tables.Line:
    cells = [
        cell for row in rows for cell in ((row.share, row.bar, row.ratio) if row.by else ("not measured", Markup(), ""))
    ]
    kernel = rows[0].kernel
    words = Markup("_<wbr>").join(kernel.text.split("_"))  # a name may break behind an underscore
    link = Markup('<a href="{}">{}</a>').format(kernel.href, words)
    return tables.Line(f"best-{kernel.text}", link, "", "", tuple(cells))


def _board(sources: Sources, gpu: Record | None, here: str) -> Board:
    """Return the rows on one GPU; without a GPU, the kernels that wait for one."""
    rows, made, several = [], dict[tuple[object, ...], Provenance](), len(sources.gpus) > 1
    for kernel in sources.site.kernels:
        record = next((one for one in sources.records(kernel.name) if gpu and one.gpu == gpu.gpu), None)
        group = headline(sources.groups(record)) if record else None
        absent = f"not measured on {gpu_name(gpu)}" if gpu and several else "not measured yet"
        rows.append(_board_row(kernel, group, here, absent))
        run = newest_run(record, group) if record and group and group.best else None
        if record and run:
            line = provenance(run, record_href(record, here), ceilings_href(sources, record.gpu, here))
            made.setdefault((line.gpu, line.facts, line.commit), line)  # two runs may have the same line
    name = gpu_name(gpu) if gpu and several else ""
    return Board(f"board-{gpu.gpu}" if name and gpu else "board-c", name, tuple(rows), tuple(made.values()))


def _board_row(kernel: Kernel, group: Group | None, here: str, absent: str) -> BoardRow:
    link, best = Link(kernel.name, relative(kernel_url(kernel.name), here)), group.best if group else None
    if group is None or best is None or best.performance is None:
        return BoardRow(kernel=link, state="planned", state_text=absent)
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
