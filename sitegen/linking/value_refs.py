"""Check the names in the figures and claims of a text: kernel, implementation, workload, dtype, parameters and GPU."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sitegen.diagnostics import Diagnostic, Span
from sitegen.linking.kernel_refs import PROBES, place_of, unknown
from sitegen.linking.near_gpus import unknown_gpu
from sitegen.model.document import ClaimSlot, Document, PlotSlot, ValueSlot
from sitegen.model.kernel import Kernel
from sitegen.model.site import Site
from sitegen.model.value import ALL, CellName, Claim, FigureReference, Source, ValueExpression

_RECORD = re.compile(r"kernels/[^/]+/results/([\w.-]+)\.json")


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The kernels of a site by name, and the names of its GPUs."""

    kernels: Mapping[str, Kernel]
    gpus: Collection[str]
    recorded_gpus: Sequence[str] = ()
    """The GPUs that have a record."""


def known_names(site: Site, files: Iterable[str]) -> KnownNames:
    """Return the kernels of a site, and the GPUs that its configuration names or that have a record among the files."""
    recorded = recorded_gpus(files)
    kernels = {kernel.name: kernel for kernel in site.kernels}
    return KnownNames(kernels, gpu_names(site, recorded), recorded)


def known_gpus(site: Site, files: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the GPUs that the configuration names or that have a record among the files."""
    return gpu_names(site, recorded_gpus(files))


def recorded_gpus(files: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of the GPUs that have a record among the files."""
    return tuple(sorted({match[1] for path in files if (match := _RECORD.fullmatch(path))}))


def gpu_names(site: Site, recorded: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the GPUs that the configuration names, and the recorded ones."""
    config = site.config
    return tuple(dict.fromkeys((*config.gpus, *config.gpu_aliases, *recorded)))


def figure_mistakes(site: Site, known: KnownNames, document: Document) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each unknown name in the figures and claims of a document."""
    for slot in document.slots:
        if isinstance(slot, ValueSlot):
            for reference in slot.value.references:
                yield from reference_mistakes(site, known, reference, slot.span)
        elif isinstance(slot, PlotSlot):
            for reference in references_in(slot):
                yield from reference_mistakes(site, known, reference, slot.span)
        elif isinstance(slot, ClaimSlot):
            yield from _claim_mistakes(site, known, slot.claim, slot.span)


def references_in(slot: PlotSlot) -> tuple[FigureReference, ...]:
    """Return the figures of records that the lines of a plot show."""
    values = (line.value for line in slot.lines)
    return tuple(one for value in values if isinstance(value, ValueExpression) for one in value.references)


def reference_mistakes(site: Site, known: KnownNames, wanted: FigureReference, start: Span) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each unknown name of a figure whose text begins at `start`."""
    if wanted.gpu:
        yield from _unknown_gpus(site, known, [wanted.gpu], start)
    if wanted.source is not Source.EVALUATION:
        return
    kernel = known.kernels.get(wanted.kernel)
    if kernel is None:
        yield unknown("SG204", "kernel", wanted.kernel, known.kernels, place_of(site, start, wanted.kernel))
        return
    if not kernel.is_read:
        return
    names = [wanted.name, *([wanted.argument] if wanted.figure == "x" else [])]
    yield from _unknown_names(site, kernel, names, start)
    yield from _unknown_cell(site, kernel, wanted.cell, start)


def _claim_mistakes(site: Site, known: KnownNames, claim: Claim, start: Span) -> Iterator[Diagnostic]:
    yield from _unknown_gpus(site, known, [name for name in claim.gpus if name != ALL], start)
    if claim.value is not None:
        for reference in claim.value.references:
            yield from reference_mistakes(site, known, reference, start)
        return
    kernel = known.kernels.get(claim.kernel)
    if kernel is None:
        yield unknown("SG204", "kernel", claim.kernel, known.kernels, place_of(site, start, claim.kernel))
        return
    if not kernel.is_read:
        return
    names = [claim.name, *([claim.argument] if claim.figure == "x" else [])]
    yield from _unknown_names(site, kernel, names, start)
    for cell in claim.cells:
        yield from _unknown_cell(site, kernel, cell, start)


def _unknown_gpus(site: Site, known: KnownNames, names: Iterable[str], start: Span) -> Iterator[Diagnostic]:
    for name in names:
        if name not in known.gpus:
            yield unknown_gpu(name, known.gpus, known.recorded_gpus, place_of(site, start, name))


def _unknown_names(site: Site, kernel: Kernel, names: Iterable[str], start: Span) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each name that is no implementation, baseline or probe of the kernel."""
    ours = [made.name for made in kernel.implementations]
    there = [*ours, *kernel.baselines, *PROBES, "best"]
    for name in names:
        if name not in there:
            yield unknown("SG205", f"implementation of {kernel.name}", name, there, place_of(site, start, name))


def _other_sign(word: str, workloads: Collection[str], dtypes: Collection[str]) -> str:
    """Return the workload and the dtype of `256Mi,float32`, with a colon; empty for another word."""
    pairs = (f"{workload}:{dtype}" for workload in workloads for dtype in dtypes)
    return next((one for one in pairs if re.sub(r"[,;/@_-]", ":", word) == re.sub(r"[,;/@_-]", ":", one)), "")


def _unknown_cell(site: Site, kernel: Kernel, cell: CellName, start: Span) -> Iterator[Diagnostic]:
    workloads = [workload.name for workload in kernel.workloads]
    checks: list[tuple[str, str, Collection[str]]] = [
        ("workload", cell.workload, workloads),
        ("dtype", cell.dtype, kernel.dtypes),
    ]
    for name, value in cell.params:
        values = [str(one) for one in kernel.params.get(name, ())]
        checks.append(("param", name, kernel.params) if not values else (f"value of {name}", value, values))
    if cell.workload not in (*workloads, ALL) and (meant := _other_sign(cell.workload, workloads, kernel.dtypes)):
        place = place_of(site, start, cell.workload)
        message = f"unknown workload of {kernel.name} `{cell.workload}`"
        yield Diagnostic("SG205", message, place, f"a colon stands between workload and dtype: write `{meant}`")
        return
    for what, name, there in checks:
        if name and name != ALL and name not in there:
            yield unknown("SG205", f"{what} of {kernel.name}", name, there, place_of(site, start, name))
