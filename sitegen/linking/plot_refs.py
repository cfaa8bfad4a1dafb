"""Check the names in the plots of a text: kernel, sweep, cell, workload, dtype, columns and formulas."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from sitegen.diagnostics import Diagnostic
from sitegen.linking.kernel_refs import place_of, unknown, unknown_cell
from sitegen.model.document import SWEEP_QUANTITIES, Document, PlotSlot
from sitegen.model.dtypes import DTYPES
from sitegen.model.figure_table import FIGURES, FIGURES_WITH_NAME, OTHER_NAMES
from sitegen.model.formula import FormulaError, evaluate, names_in
from sitegen.model.kernel import Kernel, Sweep
from sitegen.model.site import Site
from sitegen.model.sweep_points import names_in_formulas, numbers_at, values_of_points

WORDS = ("implementation", "workload", "dtype")
"""The columns of evaluations that are names."""


def plot_mistakes(site: Site, kernels: Mapping[str, Kernel], document: Document) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each name that a plot of a text uses and that its subject does not have."""
    for slot in document.slots:
        if not isinstance(slot, PlotSlot):
            continue
        kernel = kernels.get(slot.kernel)
        if slot.cell:
            yield from unknown_cell(document, [slot.cell], slot.span)
        elif kernel is None:
            yield unknown("SG204", "kernel", slot.kernel, kernels, place_of(site, slot.span, slot.kernel))
        elif not kernel.is_read:
            continue
        elif slot.sweep:
            yield from _sweep_mistakes(site, kernel, slot)
        else:
            yield from _evaluation_mistakes(site, kernel, slot)


def _evaluation_mistakes(site: Site, kernel: Kernel, slot: PlotSlot) -> Iterator[Diagnostic]:
    names = [*(one.name for one in kernel.implementations), *kernel.baselines]
    checks: list[tuple[str, Iterable[str], Collection[str]]] = [
        ("implementation", slot.implementations, names),
        ("workload", slot.workloads, [one.name for one in kernel.workloads]),
        ("dtype", slot.dtypes, kernel.dtypes),
    ]
    for what, used, known in checks:
        for name in used:
            if name not in known:
                yield unknown("SG205", f"{what} of {kernel.name}", name, known, place_of(site, slot.span, name, what))
    columns = [*WORDS, *kernel.dims, *kernel.params, *FIGURES, *OTHER_NAMES]
    yield from _unknown_columns(site, kernel, slot, [*columns, *(f"{name} …" for name in FIGURES_WITH_NAME)])


def _unknown_columns(site: Site, kernel: Kernel, slot: PlotSlot, columns: Collection[str]) -> Iterator[Diagnostic]:
    of_formulas = {*kernel.dims, "itemsize"}
    for option, used in _columns_of(slot):
        for name in used:
            with_name = name.partition(" ")[0] in FIGURES_WITH_NAME and " " in name
            is_formula = option == "x" and names_in(name) and not names_in(name) - of_formulas
            if name not in columns and not with_name and not is_formula:
                yield unknown(
                    "SG205", f"column of {kernel.name}", name, columns, place_of(site, slot.span, name, option)
                )


def _columns_of(slot: PlotSlot) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield each option that names columns, and the columns."""
    yield "x", filter(None, [slot.x])
    yield "y", slot.y
    yield "value", filter(None, [slot.value])
    yield "curve", slot.curves
    yield "panel", filter(None, [slot.panels])


def _sweep_mistakes(site: Site, kernel: Kernel, slot: PlotSlot) -> Iterator[Diagnostic]:
    known = {sweep.name: sweep for sweep in kernel.sweeps}
    if slot.sweep not in known:
        yield unknown("SG205", f"sweep of {kernel.name}", slot.sweep, known, place_of(site, slot.span, slot.sweep))
        return
    sweep = known[slot.sweep]
    swept = [*sweep.constants, *sweep.dims]
    heat = slot.kind == "heat"
    quantities = [slot.value] if heat else slot.y
    if "operations" in quantities and kernel.flops.strip() == "0":
        yield Diagnostic("SG205", f"{kernel.name} does no operations", place_of(site, slot.span, "operations"))
    for name in quantities:
        if name not in SWEEP_QUANTITIES:
            yield unknown("SG205", "quantity of a sweep", name, SWEEP_QUANTITIES, place_of(site, slot.span, name))
    for name in (*(slot.y if heat else ()), *slot.curves, *filter(None, [slot.panels])):
        if name not in swept:
            yield unknown("SG205", f"swept name of {sweep.name}", name, swept, place_of(site, slot.span, name))
    names = names_in_formulas(swept, kernel.dims)
    for name in sorted(names_in(slot.x) - set(names)):
        yield unknown("SG205", "name in `x`", name, names, place_of(site, slot.span, name, "x"))
    if not names_in(slot.x) - set(names):
        yield from _formula_mistake(site, kernel, sweep, slot)


def _formula_mistake(site: Site, kernel: Kernel, sweep: Sweep, slot: PlotSlot) -> Iterator[Diagnostic]:
    """Yield a diagnostic when the formula of the horizontal axis has no value at one of the points."""
    workload = next((one for one in kernel.workloads if one.name == sweep.workload), None)
    if not slot.x or workload is None or sweep.dtype not in DTYPES:
        return
    for values in values_of_points(sweep):
        try:
            evaluate(slot.x, numbers_at(workload, kernel.dims, sweep.dtype, values))
        except FormulaError as error:
            yield Diagnostic("SG205", f"option `x`: {error}", place_of(site, slot.span, slot.x, "x"))
            return
