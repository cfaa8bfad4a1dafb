"""Connect texts and kernels: implementations that are written in cells, and names that directives use."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from sitegen.diagnostics import Diagnostic, Span, did_you_mean, near_words
from sitegen.linking.near_gpus import near_gpu, unknown_gpu
from sitegen.markup.differences import kernel_listing
from sitegen.markup.lines import resolve
from sitegen.markup.regions import region_names
from sitegen.model.document import (
    BenchmarkSlot,
    Cell,
    Document,
    ListingSlot,
    OutputSlot,
    RooflineSlot,
)
from sitegen.model.formula import FUNCTIONS, names_in
from sitegen.model.kernel import Implementation, Kernel, Language, Launch
from sitegen.model.site import Site

PROBES = ("copy", "read")
"""The probes, which every measured kernel has."""
IMPORTS = "import torch, triton, triton.language as tl\n"
"""The imports of the first cell of a post's notebook, which its Triton cells use."""


def implementation_of(cell: Cell, path: str) -> Implementation:
    """Return the implementation in a cell with `implements`; unlike that of a file, it holds its source."""
    from sitegen.read.kernel import predicted_share  # imports the YAML reader, which few sites need here

    triton = cell.language == "triton"
    return Implementation(
        name=cell.implements.partition("/")[2],
        file=f"{path}#{cell.label}",
        language=Language.TRITON if triton else Language.CUDA,
        launch=cell.launch,
        predicts=cell.predicts,
        predicted_of_ceiling=predicted_share(cell.predicts),
        explains=cell.explains,
        source=IMPORTS + cell.source if triton else cell.source,
        line=cell.line - IMPORTS.count("\n") if triton else cell.line,
        span=cell.span,
    )


def with_cells(site: Site, cells: Iterable[tuple[str, Cell]], mistakes: list[Diagnostic]) -> tuple[Kernel, ...]:
    """Return the kernels with the implementations that are written in cells, in the order of the posts' paths."""
    merged = {kernel.name: kernel for kernel in site.kernels}
    for path, cell in cells:
        name = cell.implements.partition("/")[0]
        if name not in merged:
            mistakes.append(unknown("SG204", "kernel", name, merged, place_of(site, cell.span, cell.implements)))
            continue
        made = implementation_of(cell, path)
        mistakes += _mistakes(site, merged[name], made, cell)
        if made.name not in {known.name for known in merged[name].implementations}:
            both = (*merged[name].implementations, made)
            merged[name] = dataclasses.replace(merged[name], implementations=both)
    return tuple(merged.values())


def _mistakes(site: Site, kernel: Kernel, made: Implementation, cell: Cell) -> Iterator[Diagnostic]:
    span = place_of(site, cell.span, cell.implements)
    for known in kernel.implementations:
        if known.name == made.name:
            hint = f"it stands in {known.file}"
            yield Diagnostic("SG206", f"`{cell.implements}` exists already", span, hint)
    entry = kernel.name if made.language is Language.TRITON else made.launch.entry if made.launch else ""
    if entry and not re.search(rf"(?<![\w.]){re.escape(entry)}\s*\(", cell.source):
        hint = f"def {entry}(x, *, out=None)" if made.language is Language.TRITON else "the entry that `launch` names"
        yield Diagnostic("SG206", f"no function `{entry}` in this cell", span, hint)
    if made.predicts and made.predicted_of_ceiling is None:
        from sitegen.read.kernel_checks import prediction_without_share  # imports the YAML reader, as above

        yield prediction_without_share(place_of(site, cell.span, "predicts"))
    if made.launch and kernel.is_read:
        yield from _launch_mistakes(site, kernel, made.launch, cell)


def _launch_mistakes(site: Site, kernel: Kernel, launch: Launch, cell: Cell) -> Iterator[Diagnostic]:
    names = (*kernel.dims, *kernel.params, *launch.constants)
    known = (*(tensor.name for tensor in (*kernel.inputs, *kernel.outputs)), *names)
    sizes = (*launch.grid, *launch.block, *launch.cluster, launch.shared, *launch.constants.values())
    for name in sorted(set().union(*map(names_in, sizes)) - {*names, "itemsize", *FUNCTIONS}):
        yield unknown("SG206", "name in `launch`", name, names, place_of(site, cell.span, name))
    for name in launch.args:
        if name not in known:
            yield unknown("SG206", "argument in `launch`", name, known, place_of(site, cell.span, name))


def slot_mistakes(site: Site, kernels: Mapping[str, Kernel], document: Document) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each name that the directives of a text use and the kernels do not have."""
    for slot in document.slots:
        if isinstance(slot, ListingSlot | BenchmarkSlot | RooflineSlot):
            kernel = kernels.get(slot.kernel)
            if kernel is None:
                yield unknown("SG204", "kernel", slot.kernel, kernels, place_of(site, slot.span, slot.kernel))
            elif not kernel.is_read:
                continue
            elif isinstance(slot, ListingSlot):
                yield from _listing_mistakes(site, kernel, slot)
            else:
                yield from _figure_mistakes(site, kernel, slot)
        elif isinstance(slot, OutputSlot):
            yield from unknown_cell(document, [cell for cell, _, _ in slot.places], slot.span)


def unknown_cell(document: Document, named: Iterable[str], span: Span) -> Iterator[Diagnostic]:
    """Yield a diagnostic for the first name that no cell of the text has."""
    known = [cell.label for cell in document.cells]
    wrong = next((name for name in named if name not in known), None)
    if wrong is not None:
        yield unknown("SG217", "cell", wrong, known, span)


def implementations_by_name(kernel: Kernel) -> dict[str, Implementation]:
    """Return the implementations whose source a page may show, by name, including the wrong ones that the checker
    rejects.
    """
    return {made.name: made for made in (*kernel.implementations, *(w.implementation for w in kernel.wrong))}


def _listing_mistakes(site: Site, kernel: Kernel, slot: ListingSlot) -> Iterator[Diagnostic]:
    known = implementations_by_name(kernel)
    if slot.implementation not in known:
        span = place_of(site, slot.span, slot.implementation)
        yield unknown("SG205", f"implementation of {kernel.name}", slot.implementation, known, span)
        return
    made, before = known[slot.implementation], known.get(slot.against)
    if slot.against and before is None:
        span = place_of(site, slot.span, slot.against, "diff")
        yield unknown("SG205", f"implementation of {kernel.name}", slot.against, known, span)
    elif before and before.language is not made.language:
        span = place_of(site, slot.span, slot.against, "diff")
        hint = f"{made.name} is written in {made.language.value}, {before.name} in {before.language.value}"
        yield Diagnostic("SG205", "a difference between two languages shows everything", span, hint)
    else:
        yield from _line_mistakes(site, slot, made, before)


def _line_mistakes(
    site: Site, slot: ListingSlot, made: Implementation, before: Implementation | None
) -> Iterator[Diagnostic]:
    sources = [each.source or site.files.get(each.file, "") for each in (made, before) if each]
    for each, source in zip((made, before), sources, strict=False):
        if each and source and slot.region and slot.region not in region_names(source):
            span = place_of(site, slot.span, slot.region, "region")
            yield _unknown_region(each.file, slot.region, region_names(source), span)
            return
    if all(sources):
        code, look, regions = kernel_listing(sources[0], slot.region, slot.look, *sources[1:])
        for wrong in resolve(look, code.rstrip("\n").count("\n") + 1, regions)[1]:
            span = place_of(site, slot.span, wrong.part, wrong.option)
            yield Diagnostic("SG205", f"option `{wrong.option}`: {wrong.message}", span, wrong.hint)


def _figure_mistakes(site: Site, kernel: Kernel, slot: BenchmarkSlot | RooflineSlot) -> Iterator[Diagnostic]:
    one = isinstance(slot, RooflineSlot)
    workloads = (slot.workload,) if isinstance(slot, RooflineSlot) else slot.workloads
    dtypes = (slot.dtype,) if isinstance(slot, RooflineSlot) else slot.dtypes
    checks: list[tuple[str, Iterable[str], Collection[str]]] = [
        ("workload", workloads, [workload.name for workload in kernel.workloads]),
        ("dtype", dtypes, kernel.dtypes),
    ]
    if isinstance(slot, BenchmarkSlot):
        ours = [made.name for made in kernel.implementations]
        against = [column.removeprefix("vs: ") for column in slot.columns if column.startswith("vs: ")]
        checks += [("implementation", slot.implementations, [*ours, *kernel.baselines, *PROBES])]
        checks += [("baseline", against, kernel.baselines)]
    for what, used, known in checks:
        for name in used:
            if name not in known and not (one and not name):
                span = place_of(site, slot.span, name, "column" if what == "baseline" else what)
                yield unknown("SG205", f"{what} of {kernel.name}", name, known, span)


def goal_mistakes(site: Site, kernels: Iterable[Kernel], gpus: Collection[str]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each goal with an unknown subject, or a GPU whose name is nearly a known one.

    An implementation in a cell may be a subject.  A goal may be for a GPU of which the site has no record yet.
    """
    for kernel in kernels:
        names = [made.name for made in kernel.implementations]
        for goal in kernel.goals:
            span = place_of(site, Span(f"{kernel.folder}/kernel.yaml"), goal.text)
            if goal.subject not in ("best", *names):
                place = dataclasses.replace(span, length=len(goal.subject))
                yield unknown("SG205", f"implementation of {kernel.name}", goal.subject, ("best", *names), place)
            if goal.gpu not in ("", *gpus) and near_gpu(goal.gpu, gpus):
                column = span.col + goal.text.rindex(goal.gpu)
                place = dataclasses.replace(span, col=column, length=len(goal.gpu))
                yield unknown_gpu(goal.gpu, gpus, (), place)


def _unknown_region(file: str, name: str, known: Sequence[str], span: Span) -> Diagnostic:
    """Return the diagnostic for an unknown region, with the comments that mark one where no name is near."""
    found = unknown("SG205", f"region of {file}", name, known, span)
    if near_words(name, known):
        return found
    sign = "#" if file.partition("#")[0].endswith((".py", ".md", ".ipynb")) else "//"
    marks = f"a region stands between the lines `{sign} region: {name}` and `{sign} endregion`"
    return dataclasses.replace(found, hint=f"{found.hint}; {marks}" if found.hint else marks)


def unknown(code: str, what: str, name: str, known: Iterable[str], span: Span) -> Diagnostic:
    """Return the diagnostic for an unknown name, with the known name that is nearest to it, or with all known names."""
    names = list(known)
    hint = did_you_mean(name, names) or (f"known: {', '.join(f'`{n}`' for n in names[:8])}" if names else "")
    return Diagnostic(code, f"unknown {what} `{name}`", span, hint)


def place_of(site: Site, start: Span, word: str, key: str = "") -> Span:
    """Return the place of `word` from `start` on; with a key, in that option of the fence that begins at `start`.

    Slots keep only the place of their directive, because most of their words are right.
    """
    lines = site.files.get(start.path, "").split("\n")
    pattern = re.compile(rf"(?<![\w.-]){re.escape(word)}(?![\w-])")
    option = re.compile(rf"\W*{key}s?:")
    for number in range(start.line - 1, len(lines)):
        first = number == start.line - 1
        if not first and lines[number].lstrip(" >").startswith(("```", "~~~", ":::")):
            break
        at = pattern.search(lines[number], start.col - 1 if first else 0)
        if at and (not key or option.match(lines[number])):
            return Span(start.path, number + 1, at.start() + 1, len(word))
    return start
