"""Find in a text the results that it shows, the implementations that it names, and the GPUs that it leaves open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from sitegen.model.document import (
    BenchmarkSlot,
    ClaimSlot,
    Document,
    ListingSlot,
    OutputSlot,
    PlotSlot,
    RooflineSlot,
    ValueSlot,
)
from sitegen.model.kernel import Kernel
from sitegen.model.record import Record
from sitegen.model.site import Post
from sitegen.model.value import ValueExpression
from sitegen.render.inputs.rows import Group, Row, select_groups
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements.evaluation_plots import rows_of_slot
from sitegen.render.measurements.gpus import name_of
from sitegen.render.measurements.kernel_charts import group_of_slot
from sitegen.results.claims import decide
from sitegen.results.freshness import FreshnessState
from sitegen.results.quantities import Origin, figure, quantity_of
from sitegen.results.records import cell_name

Result = tuple[str, str, str, str]
"""Kernel, the GPU's id, implementation and cell."""


def results_shown(sources: Sources, document: Document) -> Mapping[Result, bool]:
    """Return the results of our implementations of which a text shows a figure, and whether each is stale."""
    shown = {_result(origin): _is_stale(origin) for origin in _origins(sources, document) if _is_ours(sources, origin)}
    for record, group, row in _rows(sources, document):
        kernel = sources.kernel(record.kernel)
        if kernel and row.ours and row.evaluation:
            cell = cell_name(group.workload.name, group.dtype, group.params, kernel)
            shown[record.kernel, record.gpu, row.name, cell] = bool(row.stale)
    return shown


def implementations_named(sources: Sources, document: Document, kernel: Kernel) -> tuple[str, ...]:
    """Return the implementations of a kernel that a text names in code or in a figure, or that it shows."""
    found = {row.name for record, _, row in _rows(sources, document) if record.kernel == kernel.name}
    found |= {name for slot in document.slots for of, name in _names_in(slot) if of == kernel.name}
    found |= {name for cell in document.cells for of, _, name in [cell.implements.partition("/")] if of == kernel.name}
    found |= set(re.findall(rf"<code>(?:{re.escape(kernel.name)}/)?([^<]+)</code>", document.html))
    return tuple(one.name for one in kernel.implementations if one.name in found)


def _names_in(slot: object) -> Iterator[tuple[str, str]]:
    """Yield each kernel and implementation that a slot names."""
    if isinstance(slot, ListingSlot):
        yield from ((slot.kernel, name) for name in (slot.implementation, slot.against))
    elif isinstance(slot, ValueSlot):
        yield from _names_of(slot.value)
    elif isinstance(slot, ClaimSlot):
        yield from ((slot.claim.kernel, name) for name in (slot.claim.name, slot.claim.argument))
        yield from _names_of(slot.claim.value) if slot.claim.value else ()


def _names_of(value: ValueExpression) -> Iterator[tuple[str, str]]:
    return ((one.kernel, name) for one in value.references for name in (one.name, one.argument))


def gpus_left_open(sources: Sources, document: Document) -> tuple[str, ...]:
    """Return the names of the GPUs of those figures and claims of records that name no GPU."""
    origins = (origin for slot in document.slots for origin in _open_origins(sources, slot))
    return tuple(dict.fromkeys(name_of(origin.run.environment.gpu, origin.gpu) for origin in origins))


def gpus_of_outputs(sources: Sources, document: Document, post: Post) -> tuple[str, ...]:
    """Return the names of the GPUs of the figures of cells, `{output}`, which cannot name a GPU."""
    cells = (place[0] for slot in document.slots if isinstance(slot, OutputSlot) for place in slot.places)
    measured = (next(iter(sources.cell_records(post.slug, cell)), None) for cell in dict.fromkeys(cells))
    return tuple(dict.fromkeys(name_of(one.run.environment.gpu, one.gpu) for one in measured if one))


def _open_origins(sources: Sources, slot: object) -> Iterator[Origin]:
    """Yield where the figures of a slot come from that name no GPU."""
    if isinstance(slot, ValueSlot) and not slot.value.is_predicted:
        for reference in slot.value.references:
            if not reference.gpu:
                yield from figure(reference, sources.recorded).origins
    elif isinstance(slot, ClaimSlot) and not slot.claim.gpus:
        references = slot.claim.value.references if slot.claim.value else ()
        if not references or any(not reference.gpu for reference in references):
            yield from _of_claim(sources, slot)


def _origins(sources: Sources, document: Document) -> Iterator[Origin]:
    for slot in document.slots:
        if isinstance(slot, ValueSlot) and not slot.value.is_predicted:
            yield from quantity_of(slot.value, sources.recorded).origins
        elif isinstance(slot, ClaimSlot):
            yield from _of_claim(sources, slot)


def _of_claim(sources: Sources, slot: ClaimSlot) -> Iterable[Origin]:
    return (origin for check in decide(slot.claim, sources.recorded).checks for origin in check.quantity.origins)


def _rows(sources: Sources, document: Document) -> Iterator[tuple[Record, Group, Row]]:
    """Yield the rows of the tables and charts of a text."""
    for slot in document.slots:
        if isinstance(slot, BenchmarkSlot | RooflineSlot | PlotSlot):
            for record in sources.records(slot.kernel):
                yield from ((record, group, row) for group, row in _rows_of(sources, record, slot))


def _rows_of(
    sources: Sources, record: Record, slot: BenchmarkSlot | RooflineSlot | PlotSlot
) -> Iterable[tuple[Group, Row]]:
    kernel = sources.kernel(slot.kernel)
    if isinstance(slot, PlotSlot):
        return rows_of_slot(sources, kernel, record, slot) if kernel and not slot.sweep else ()
    if isinstance(slot, RooflineSlot):
        group = group_of_slot(sources, record, slot)
        return ((group, row) for row in group.rows) if group else ()
    groups = select_groups(sources.groups(record), slot.workloads, slot.dtypes, slot.implementations)
    return ((group, row) for group in groups for row in group.rows)


def _result(origin: Origin) -> Result:
    return origin.kernel, origin.gpu, origin.name, origin.cell


def _is_stale(origin: Origin) -> bool:
    return origin.freshness.state is FreshnessState.STALE


def _is_ours(sources: Sources, origin: Origin) -> bool:
    kernel = sources.kernel(origin.kernel)
    return kernel is not None and any(one.name == origin.name for one in kernel.implementations)
