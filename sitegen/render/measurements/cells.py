"""Print an executable cell: its code and its outputs on a GPU, or the statement that it has not run yet."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.markup.code import code_figure
from sitegen.markup.lines import names_regions
from sitegen.markup.regions import unmarked
from sitegen.model.document import Cell
from sitegen.model.kernel import Status
from sitegen.model.record import CellRecord, Output
from sitegen.model.site import Post
from sitegen.model.urls import files_url, kernel_url, relative
from sitegen.render.downloads.run_lines import cells_line
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements.cell_outputs import ShownTable, record_name, shown_table
from sitegen.render.measurements.provenance import Provenance, provenance
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.language import PageLanguage
from sitegen.results.cell_tables import table_of
from sitegen.results.freshness import FreshnessState


@dataclass(frozen=True, slots=True)
class ShownOutput:
    """One output: text, a table, or an image by its URL. `width` and `height` are pixels."""

    kind: str
    text: str
    src: str = ""
    width: int = 0
    height: int = 0
    """The height in pixels."""
    table: ShownTable | None = None


@dataclass(frozen=True, slots=True)
class CellView:
    label: str
    code: Markup
    implements: str
    href: str
    """The link to the kernel that the cell implements."""
    outputs: tuple[ShownOutput, ...]
    record: str
    """The record of the figures, for `sitegen verify`; empty when the cell has not run."""
    state: str
    """The state `stale`, `failed` or `planned`; empty when the outputs are those of this code."""
    reason: str
    provenance: Provenance | None
    run: Markup
    """The line that says how to run all cells of the post; empty below other cells than the first."""
    number: str
    """The name of the output, such as `Figure 2`; empty when no text refers to it and it has no caption."""
    caption: str
    alt: str


def render_cell(printer: Printer, cell: Cell, number: str, post: Post | None, here: str) -> Markup:
    records = printer.sources.cell_records(post.slug, cell.label) if post else ()
    record = records[0] if records else None
    state, reason = _state(printer, cell, post, record)
    spoken = printer.language(post.lang if post else "")
    unseen = spoken.say("Output of the cell {label}", label=cell.label)
    view = CellView(
        label=cell.label,
        code=_code(cell, spoken) if cell.options.get("echo", True) is not False else Markup(),
        implements=cell.implements,
        href=_kernel_href(cell, here),
        outputs=tuple(_shown(printer, post, cell, n, output, here) for n, output in enumerate(record.outputs))
        if record
        else (),
        record=record_name(post, record) if post and record else "",
        state=state,
        reason=reason,
        provenance=provenance(record.run) if record and record.outputs else None,
        run=_run_line(printer, cell, post, here),
        number=number,
        caption=str(cell.options.get("fig-cap") or cell.options.get("tbl-cap") or ""),
        alt=str(cell.options.get("fig-alt") or cell.options.get("fig-cap") or unseen),
    )
    return printer.fragment("partials/cell.html", view, spoken.tag)


def _run_line(printer: Printer, cell: Cell, post: Post | None, here: str) -> Markup:
    """Return the line that says how to run the cells of a post, once: the same files contain all of them."""
    cells = printer.sources.document(post.body).cells if post else ()
    return cells_line(printer, post, cells, here) if post and cells[0].label == cell.label else Markup()


def _code(cell: Cell, spoken: PageLanguage) -> Markup:
    code, regions = unmarked(cell.source) if names_regions(cell.look) else (cell.source, {})
    label = spoken.say("Code of the cell {label}", label=cell.label)
    figure = code_figure(code, cell.language, cell.look, regions=regions, title=cell.label, label=label, spoken=spoken)
    return Markup(figure)


def _kernel_href(cell: Cell, here: str) -> str:
    kernel, _, name = cell.implements.partition("/")
    return relative(f"{kernel_url(kernel)}#{name}", here) if cell.implements else ""


def _state(printer: Printer, cell: Cell, post: Post | None, record: CellRecord | None) -> tuple[str, str]:
    """Return the state of a cell and its reason.  A cell that is an implementation and has no outputs has no state
    here, because its kernel's page states it.
    """
    if record is None or post is None or record.status is Status.NOT_RUN:
        return ("", "") if cell.implements else ("planned", "not run yet")
    freshness = printer.sources.evidence.of_cell(post.slug, record)
    if freshness.state in (FreshnessState.STALE, FreshnessState.OUTDATED):
        return "stale" if freshness.state is FreshnessState.STALE else "planned", freshness.sentence
    if record.status.failed and not cell.raises:
        return "failed", record.status.words
    return "", ""


def _shown(printer: Printer, post: Post | None, cell: Cell, number: int, output: Output, here: str) -> ShownOutput:
    if table := table_of(output):
        return ShownOutput(output.kind, "", table=shown_table(table))
    if output.kind != "image" or post is None:
        return ShownOutput(output.kind, output.text)
    src = relative(image_url(printer.sources, post, cell.label, number), here)
    return ShownOutput("image", "", src, *_size(base64.b64decode(output.text)))


def _size(png: bytes) -> tuple[int, int]:
    """Return width and height in pixels, from the header of a PNG."""
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


def image_url(sources: Sources, post: Post, label: str, number: int) -> str:
    """Return the URL of the image that is output `number` of a cell."""
    return f"{files_url(sources.post_url(post))}{label}-{number}.png"


def images(sources: Sources, post: Post) -> dict[str, bytes]:
    """Return the images that the cells of a post drew, as files beside its page."""
    return {
        image_url(sources, post, cell.label, n): base64.b64decode(output.text)
        for cell in sources.document(post.body).cells
        for record in sources.cell_records(post.slug, cell.label)[:1]
        for n, output in enumerate(record.outputs)
        if output.kind == "image"
    }
