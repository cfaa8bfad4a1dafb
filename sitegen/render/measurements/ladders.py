"""Turn the implementations of a kernel into ladders, one for each dtype: what each step is, the prediction, the result,
what it changed against the step before, and its source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from sitegen.markup.words import join_units
from sitegen.model.kernel import UNTRIED, Implementation, Kernel, Language
from sitegen.model.record import Record, Role
from sitegen.model.urls import relative
from sitegen.render.downloads.run_lines import program_link
from sitegen.render.figures.inline_charts import Mark, bar
from sitegen.render.inputs.implementations import file_name, first_sentence_of, source_of
from sitegen.render.inputs.rows import Group, Row, headlines
from sitegen.render.measurements import tables
from sitegen.render.measurements.machine_code import listing_links
from sitegen.render.measurements.source_code import (
    SourceListing,
    difference_listing,
    folds_sources,
    short_difference,
    source_listing,
    source_url,
)
from sitegen.render.measurements.step_effects import Effects, effects
from sitegen.render.shared import numbers
from sitegen.render.shared.code_spans import code_spans
from sitegen.render.shared.frame import Link, Printer

LANGUAGES = {Language.TRITON: "Triton", Language.CUDA: "CUDA", Language.CUDA_HOST: "CUDA, host code"}


@dataclass(frozen=True, slots=True)
class LadderStep:
    """One implementation on a ladder."""

    id: str
    name: str
    language: str
    says: Markup
    """The first sentence of its source."""
    predicts: Markup
    bar: Markup
    """The bar of its share of the ceiling; empty without a time."""
    meter: str
    """The result in words: `95.1 % of copy, 4.07 TB/s; predicted 95 %`."""
    gain: str
    against: str
    state: str
    reason: str
    best: bool
    file: Link | None
    """The source as text."""
    program: Link | None
    """The program that checks and times it."""
    source: SourceListing | None
    """None where the source stands on another ladder of the page, or the page has no room for it."""
    difference: SourceListing | None
    """The source against that of the last step before in the same language."""
    effects: Effects | None
    """None for the first step, and for a step without a time."""
    listings: tuple[Link, ...]
    """The pages with its PTX and SASS."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """The steps of one dtype at its headline workload."""

    id: str
    dtype: str
    headline: str
    """The workload and the dtype: `8192 × 8192 in float32`."""
    steps: tuple[LadderStep, ...]
    elsewhere: tuple[str, ...]
    """The names of the implementations that do not take this dtype."""
    stale: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LadderMaker:
    """A maker of the ladders of a kernel on its page `here`.  A source stands in the first ladder that has it."""

    printer: Printer
    kernel: Kernel
    here: str

    def ladders(self, record: Record, shown: Sequence[Group], gpu: str = "") -> tuple[Ladder, ...]:
        """Return a ladder for each dtype.  `gpu` is the GPU's id for a section after the first, which does not describe
        the code again; it makes the ids unique on the page.
        """
        folds = folds_sources(self.printer, self.kernel)
        seen: set[str] = set()
        prefix = f"{gpu}-" if gpu else ""
        return tuple(self._ladder(record, group, prefix, seen, folds=folds) for group in headlines(shown))

    def unmeasured(self) -> tuple[LadderStep, ...]:
        """Return the steps of a kernel that has no record."""
        folds = folds_sources(self.printer, self.kernel)
        rows = [(one, Row(Role.IMPLEMENTATION, one.name)) for one in self.kernel.implementations]
        return tuple(
            self._step(_Place(one, row, one.name, folds, is_first=True), None, rows[:at])
            for at, (one, row) in enumerate(rows)
        )

    def _ladder(self, record: Record, group: Group, prefix: str, seen: set[str], *, folds: bool) -> Ladder:
        rows = list(_rows(self.kernel, group))
        steps: list[LadderStep] = []
        for at, (one, row) in enumerate(rows):
            id = f"{prefix}{group.dtype}-{one.name}" if one.name in seen else f"{prefix}{one.name}"
            is_first = not prefix and one.name not in seen
            place = _Place(one, row, id, is_first and folds, is_first, repeats=bool(prefix))
            steps.append(
                self._step(place, group, rows[:at], listing_links(self.printer.sources, record, row, self.here))
            )
        names = {one.name for one, _ in rows}
        seen |= names
        return Ladder(
            id=f"{prefix}ladder-{group.dtype}",
            dtype=group.dtype,
            headline=f"{numbers.shape(group.workload.name)} in {group.dtype}",
            steps=tuple(steps),
            elsewhere=tuple(one.name for one in self.kernel.implementations if one.name not in names),
            stale=_stale(record, [row for _, row in rows]),
        )

    def _step(
        self,
        place: _Place,
        group: Group | None,
        earlier: Sequence[tuple[Implementation, Row]],
        listings: tuple[Link, ...] = (),
    ) -> LadderStep:
        one, row, printer = place.implementation, place.row, self.printer
        before = next((other for _, other in reversed(earlier) if other.performance), None)
        same = next((other for other, _ in reversed(earlier) if other.language == one.language), None)
        gain, against = _gain(row, before)
        text = source_of(printer.sources.site, one)
        difference_of = difference_listing if place.folds else short_difference
        return LadderStep(
            id=place.id,
            name=one.name,
            language=LANGUAGES[one.language],
            says=Markup() if place.repeats else code_spans(join_units(first_sentence_of(text))),
            predicts=Markup() if place.repeats else code_spans(join_units(_prediction(one, row))),
            bar=_bar(row),
            meter=_meter(group, row) if group and row.performance else "",
            gain=gain,
            against=against,
            state=_row_state(row),
            reason="" if row.performance else tables.why_no_time(row),
            best=row.best,
            file=Link(file_name(one), relative(source_url(self.kernel, one), self.here)) if text else None,
            program=program_link(self.kernel, one, self.here) if text else None,
            source=source_listing(printer, one) if place.folds else None,
            difference=difference_of(printer, same, one) if place.is_first and same else None,
            effects=_effects(place, group, before) if group and before and row.performance else None,
            listings=listings,
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """An implementation with its row, its id on the page, and whether its source is folded in here."""

    implementation: Implementation
    row: Row
    id: str
    folds: bool
    is_first: bool
    """Whether no ladder before on the page has the implementation."""
    repeats: bool = False
    """Whether the section of another GPU has said what the implementation is."""


def _rows(kernel: Kernel, group: Group) -> Iterator[tuple[Implementation, Row]]:
    """Yield the implementations that take the dtype, in the order of kernel.yaml."""
    rows = {row.name: row for row in group.rows if row.ours}
    return ((one, rows[one.name]) for one in kernel.implementations if one.name in rows)


def _effects(place: _Place, group: Group, before: Row) -> Effects:
    found = effects(group, before, place.row)
    return replace(found, classes=()) if place.repeats else found


def _prediction(one: Implementation, row: Row) -> str:
    """Return the prediction as it stood when the implementation first passed; today's where it has not passed."""
    return row.evaluation.predicts if row.evaluation and row.performance else one.predicts


def _bar(row: Row) -> Markup:
    mark = Mark.STALE if row.stale else Mark.OURS
    return bar(row.share("of-ceiling"), mark, row.predicted) if row.performance else Markup()


def _stale(record: Record, rows: Sequence[Row]) -> tuple[str, ...]:
    dates = {run.id: run.date for run in record.runs}
    stale = [row for row in rows if row.stale and row.performance]
    return tuple(f"{r.name}: measured {dates.get(r.evaluation.run, '')}, {r.stale}" for r in stale if r.evaluation)


def _row_state(row: Row) -> str:
    if row.evaluation is None or row.evaluation.status in UNTRIED:
        return "planned"
    return "failed" if row.failed else "stale" if row.stale else ""


def _meter(group: Group, row: Row) -> str:
    rate = numbers.bandwidth(row.bytes_per_s) if group.bound_by_memory else numbers.operations(row.flops_per_s)
    ceiling = row.share("of-ceiling")
    facts = [f"{numbers.percent(ceiling)} of ceiling"] if ceiling is not None else []
    if (share := row.share(f"of-{group.yardstick}")) is not None:
        facts.append(f"{numbers.percent(share)} of {group.yardstick}")
    predicted = f"; predicted {numbers.prediction(row.predicted)}" if row.predicted is not None else ""
    return ", ".join([*facts, rate]) + predicted


def _gain(row: Row, before: Row | None) -> tuple[str, str]:
    if row.performance is None:
        return "", ""
    if before is None or before.performance is None:
        return numbers.ratio(1.0), "the start"
    return numbers.ratio(before.performance.median_us / row.performance.median_us), f"over {before.name}"
