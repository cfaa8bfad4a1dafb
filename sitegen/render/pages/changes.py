"""Print all runs of a kernel on a GPU, and the comparison of the newest run with the one before it, also as Markdown.

The comparison is the one that `sitegen compare --markdown` prints: every evaluation, with the reason for its verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.model.kernel import Kernel
from sitegen.model.record import Record
from sitegen.model.urls import KERNELS, kernel_url, relative
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements.history import History
from sitegen.render.shared.frame import Link, Printer
from sitegen.results.compare import EvaluationComparison, compare_records
from sitegen.results.history import past_record
from sitegen.results.records import PastRun
from sitegen.results.render_comparison import render_markdown
from sitegen.results.verdicts import FigureChange

STATES = {"slower": "failed", "failed": "failed", "ambiguous": "partial", "faster": "done", "repaired": "done"}


@dataclass(frozen=True, slots=True)
class ChangeLine:
    evaluation: str
    verdict: str
    state: str
    """A class of the state grammar; empty when the evaluation did not change."""
    figures: tuple[str, ...]
    """The figures before and after: `torch / t 1.905 → 1.667 (−12.5 %)`."""
    why: str


@dataclass(frozen=True, slots=True)
class ChangesPage:
    kernel: Link
    gpu: str
    before: PastRun
    after: PastRun
    lines: tuple[ChangeLine, ...]
    """The evaluations, those that changed first."""
    history: History | None
    markdown: str
    """The link to the comparison as Markdown."""


def changes_url(kernel: str, gpu: str) -> str:
    return f"{kernel_url(kernel)}{gpu}-changes/"


def render_changes(printer: Printer, kernel: Kernel, record: Record, history: History | None) -> dict[str, str]:
    """Return the page and the Markdown of a record with at least two runs, else nothing; `history` is the record's
    history.
    """
    pair = last_two(printer.sources, record)
    if pair is None:
        return {}
    rows = _rows(printer.sources, kernel, record, pair)
    page = _page(printer, kernel, record, pair, rows, history)
    return {**dict([page]), _markdown_url(record): f"{render_markdown(rows)}\n"}


def last_two(sources: Sources, record: Record) -> tuple[PastRun, PastRun] | None:
    """Return the newest run and the one before it, the older first; None when there are fewer than two."""
    runs = sources.histories(record)
    return (runs[-2], runs[-1]) if len(runs) > 1 else None


def _rows(
    sources: Sources, kernel: Kernel, record: Record, pair: tuple[PastRun, PastRun]
) -> tuple[EvaluationComparison, ...]:
    before, after = (past_record(kernel, record, past) for past in pair)
    return compare_records(sources.site, before, after)


def _page(
    printer: Printer,
    kernel: Kernel,
    record: Record,
    pair: tuple[PastRun, PastRun],
    rows: tuple[EvaluationComparison, ...],
    history: History | None,
) -> tuple[str, str]:
    here, gpu = changes_url(kernel.name, record.gpu), record.runs[-1].environment.gpu if record.runs else record.gpu
    page = ChangesPage(
        kernel=Link(kernel.name, relative(kernel_url(kernel.name), here)),
        gpu=gpu,
        before=pair[0],
        after=pair[1],
        lines=tuple(_line(row) for row in sorted(rows, key=lambda row: not row.notable)),
        history=history,
        markdown=relative(_markdown_url(record), here),
    )
    title = f"{kernel.name}: what changed on {gpu}"
    description = f"Every evaluation of {kernel.name} in the run of {pair[1].date} against that of {pair[0].date}."
    return printer.page("changes.html", here, page, title=title, description=description, section=KERNELS)


def _line(row: EvaluationComparison) -> ChangeLine:
    figures = tuple(_figures(measure) for measure in row.measures)
    return ChangeLine(row.title, row.verdict.value, STATES.get(row.verdict.value, ""), figures, row.reason)


def _figures(measure: FigureChange) -> str:
    return f"{measure.name} {measure.before[0]:.3f} → {measure.after[0]:.3f}"


def _markdown_url(record: Record) -> str:
    """Return the URL of the comparison as text, which a browser shows instead of saving it."""
    return f"{kernel_url(record.kernel)}{record.gpu}.changes.md.txt"
