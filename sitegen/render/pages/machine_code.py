"""Print the pages of PTX and SASS: for each implementation, dtype and GPU the listing at the headline workload, beside
the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.highlight.assembly import assembly_html
from sitegen.model.kernel import Kernel
from sitegen.model.record import Record
from sitegen.model.urls import KERNELS, kernel_url, relative
from sitegen.render.inputs.implementations import file_name
from sitegen.render.inputs.rows import Group, Row, headlines
from sitegen.render.measurements.details import code_columns, kernel_column
from sitegen.render.measurements.gpus import gpu_name
from sitegen.render.measurements.machine_code import KINDS, MachineCode, machine_code
from sitegen.render.measurements.record_facts import short
from sitegen.render.measurements.source_code import SourceListing, sass_difference, source_listing
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Fact, Link, Printer


@dataclass(frozen=True, slots=True)
class CodePage:
    stylesheet: str
    """The link to the styles that only pages of kernels need."""
    kernel: Link
    step: Link
    """The implementation's place on the page of its kernel."""
    kind: str
    """`SASS` or `PTX`."""
    stale: str
    """The reason for which the listing is not that of the present source; empty when it is."""
    facts: tuple[Fact, ...]
    html: Markup
    file: str
    """The file name of the source."""
    source: SourceListing | None
    difference: SourceListing | None
    """The SASS against that of the step before; None for PTX and for the first step."""
    others: tuple[Link, ...]
    """The same listing of the other implementations, and this implementation's other listing."""


def render_machine_code(printer: Printer, kernel: Kernel) -> dict[str, str]:
    """Return the pages with the listings of a kernel, by output path."""
    pages: dict[str, str] = {}
    for record in printer.sources.records(kernel.name):
        for group in headlines(printer.sources.groups(record)):
            pages |= dict(_pages(printer, kernel, record, group))
    return pages


def _pages(printer: Printer, kernel: Kernel, record: Record, group: Group) -> Iterator[tuple[str, str]]:
    listings = [(row, one) for row in group.rows if row.ours for one in machine_code(printer.sources, record, row)]
    for row, code in listings:
        beside = [(r, c) for r, c in listings if c is not code and (c.kind == code.kind or r is row)]
        others = tuple(Link(f"{r.name} {KINDS[c.kind]}", relative(c.url, code.url)) for r, c in beside)
        title = f"{KINDS[code.kind]} of {kernel.name}/{row.name} in {group.dtype}"
        difference = _difference(printer, listings, row, code)
        page = _page(printer, kernel, record, group, row, code, others, difference)
        yield printer.page("code.html", code.url, page, title=title, description=title, section=KERNELS)


def _difference(
    printer: Printer, listings: Sequence[tuple[Row, MachineCode]], row: Row, code: MachineCode
) -> SourceListing | None:
    """Return the SASS against that of the last step before which has one."""
    earlier = listings[: listings.index((row, code))]
    before = next(((one, its) for one, its in reversed(earlier) if its.kind == "sass"), None)
    if code.kind != "sass" or before is None:
        return None
    return sass_difference(printer, before[0].name, before[1].text, row.name, code.text)


def _page(
    printer: Printer,
    kernel: Kernel,
    record: Record,
    group: Group,
    row: Row,
    code: MachineCode,
    others: tuple[Link, ...],
    difference: SourceListing | None,
) -> CodePage:
    here = code.url
    one = next(one for one in kernel.implementations if one.name == row.name)
    return CodePage(
        stylesheet=relative(printer.sources.assets["kernel.css"], here),
        kernel=Link(kernel.name, relative(kernel_url(kernel.name), here)),
        step=Link(row.name, relative(f"{kernel_url(kernel.name)}#{row.name}", here)),
        kind=KINDS[code.kind],
        stale=row.stale,
        facts=tuple(_facts(record, group, row, code)),
        html=Markup(assembly_html(code.text, code.kind)),
        file=file_name(one),
        source=source_listing(printer, one),
        difference=difference,
        others=others,
    )


def _facts(record: Record, group: Group, row: Row, code: MachineCode) -> Iterator[Fact]:
    """Yield the facts of a listing: where it was compiled, for what, and what the compiler used."""
    compiled = row.evaluation.compilation if row.evaluation else None
    yield Fact("workload", f"{numbers.shape(group.workload.name)} in {group.dtype}")
    yield Fact("GPU", gpu_name(record))
    if compiled:
        yield Fact("architecture", compiled.arch)
    yield Fact("size", f"{numbers.count(code.text.count(chr(10)), 'line')}, {code.size}")
    for column in (*code_columns()[:4], kernel_column()):
        if text := column.text(group, row):
            yield Fact(column.title, text)
    if compiled:
        yield Fact("SHA-256 of the SASS", short(compiled.sass))
        if compiled.flags:
            yield Fact("flags", compiled.flags)
