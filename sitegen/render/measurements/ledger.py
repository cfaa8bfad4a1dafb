"""Tabulate the predictions of a kernel on a GPU: the predicted and the measured share of the ceiling, and in words what
was predicted, and how the author explains the difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from markupsafe import Markup

from sitegen.markup.words import join_units
from sitegen.model.document import Document
from sitegen.model.kernel import Kernel
from sitegen.model.urls import kernel_url, relative
from sitegen.render.measurements import tables
from sitegen.render.measurements.gpus import side_by_side
from sitegen.render.measurements.shown_results import implementations_named
from sitegen.render.shared import numbers
from sitegen.render.shared.code_spans import code_spans
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.language import PageLanguage
from sitegen.results.predictions import PredictionLine, prediction_lines, score

HEADINGS = (
    tables.Heading("predicted, %"),
    tables.Heading("measured, %"),
    tables.Heading("lowest to highest"),
    tables.Heading("within 5 points"),
)


def ledgers(printer: Printer, name: str, document: Document, here: str, spoken: PageLanguage) -> Markup:
    """Return the ledger of a kernel with the implementations that a text names, on several GPUs behind a tab each.

    A link below it leads to the predictions of the others.  It is empty without a measured prediction of these.
    """
    kernel, records = printer.sources.kernel(name), printer.sources.records(name)
    if kernel is None:
        return Markup()
    named, shown, others = implementations_named(printer.sources, document, kernel), [], False
    for record in records:
        every = tuple(prediction_lines(kernel, record))
        lines = tuple(line for line in every if line.name in named)
        others = others or len(lines) < len(every)
        if lines:
            table = ledger(kernel, record.gpu, f"ledger-{name}-{record.gpu}", lines)
            shown.append((record, printer.fragment("partials/table.html", table)))
    if not shown:
        return Markup()
    more = _link_to_all(name, here, spoken) if others else Markup()
    return side_by_side(printer, shown, records, f"ledger-{name}") + more


def _link_to_all(name: str, here: str, spoken: PageLanguage) -> Markup:
    text = spoken.say("All predictions of {kernel}", kernel=name)
    return Markup('<p class="meta"><a href="{}">{}</a></p>\n').format(relative(kernel_url(name), here), text)


def ledger(
    kernel: Kernel, gpu: str, id: str, lines: Sequence[PredictionLine], above: Sequence[PredictionLine] = ()
) -> tables.Table:
    """Return a body for each dtype, and in it a line for each implementation, over all workloads.

    The words of a prediction stand below the first line of its implementation.  They are left out where the table of
    another GPU has the same; `above` are the lines of that table.
    """
    said = _names_with_equal_words(lines, above)
    bodies = tuple(
        tables.Body(dtype, lines=tuple(_lines([line for line in lines if line.dtype == dtype], said)))
        for dtype in dict.fromkeys(line.dtype for line in lines)
    )
    caption = f"Shares of the ceiling. Measured is the median over all workloads of {kernel.name}."
    record = f"{kernel.name} {gpu}"
    return tables.Table(f"{id}-table", caption, "", HEADINGS, bodies, (), wide=False, record=record)


def _names_with_equal_words(lines: Sequence[PredictionLine], above: Sequence[PredictionLine]) -> set[str]:
    known = {(line.name, *_words([line])) for line in above}
    unknown = {line.name for line in lines if (line.name, *_words([line])) not in known}
    return {line.name for line in lines} - unknown


def _lines(lines: Sequence[PredictionLine], said: set[str]) -> Iterator[tables.Line]:
    by_name: dict[str, list[PredictionLine]] = {}
    for line in lines:
        by_name.setdefault(line.name, []).append(line)
    for name, alike in by_name.items():
        below = () if name in said else tuple(_words(alike))
        said.add(name)
        yield _line(name, alike, below)


def _line(name: str, lines: Sequence[PredictionLine], below: tuple[str, ...]) -> tables.Line:
    shares, result = sorted(line.measured for line in lines), score(lines)
    predicted = dict.fromkeys(numbers.fixed(line.predicted * 100, 0) for line in lines)
    ends = dict.fromkeys(numbers.fixed(share * 100, 1) for share in (shares[0], shares[-1]))
    cells = (
        ", ".join(predicted),
        numbers.fixed(median(shares) * 100, 1),
        " to ".join(ends),
        f"{result.close} of {result.lines}" if result else "",
    )
    return tables.Line("", name, "predicted", "", cells, below=below)


def _words(lines: Sequence[PredictionLine]) -> Iterator[Markup]:
    """Yield what was predicted, what is predicted today if that is something else, and the explanation."""
    yield code_spans(f"Predicted: {join_units(lines[0].words)}.")
    if revised := next((line.revised for line in lines if line.revised), ""):
        yield code_spans(f"Revised after measuring: {join_units(revised)}.")
    if explains := lines[0].explains:
        yield code_spans(f"Explained: {join_units(explains.rstrip('.'))}.")
