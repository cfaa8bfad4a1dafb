"""Print the page of all records: what is fresh, stale and why, outdated or missing on each GPU, with dates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.kernel import Kernel
from sitegen.model.record import Record
from sitegen.model.urls import KERNELS, RECORDS, kernel_url, relative
from sitegen.render.inputs.evidence import Evidence
from sitegen.render.measurements import tables
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Fact, Printer
from sitegen.results.freshness import Freshness, FreshnessState, sweep_title
from sitegen.results.records import cell_name

STATES = {
    FreshnessState.FRESH: "fresh",
    FreshnessState.STALE: "stale",
    FreshnessState.OUTDATED: "planned",
    FreshnessState.MISSING: "planned",
}
"""The class of the state grammar for each state."""
HEADINGS = (
    tables.Heading("state", class_="l"),
    tables.Heading("records"),
    tables.Heading("measured", class_="l"),
    tables.Heading("which, and why", class_="t"),
)
MOST_NAMED = 6
"""The most evaluations of one line that are named."""


@dataclass(frozen=True, slots=True)
class RecordsPage:
    plate: tuple[Fact, ...]
    gpus: tuple[tuple[str, tables.Table], ...]
    """The id of each GPU with the table of its kernels."""
    unmeasured: tuple[tuple[str, str], ...]
    """The name and the link of each kernel without any record."""


@dataclass(frozen=True, slots=True)
class RecordState:
    """An evaluation, a wrong variant or a sweep with its state."""

    name: str
    """The implementation or baseline, `wrong/no_max` or `sweep/threads`."""
    cell: str
    """`8192x8192:float32`; empty for a variant and a sweep."""
    freshness: Freshness
    date: str
    """The day of its run; empty when it is missing."""


def records_page(printer: Printer) -> tuple[str, str]:
    sources = printer.sources
    kernels = [(kernel, sources.records(kernel.name)) for kernel in sources.site.kernels]
    gpus = dict.fromkeys((*sources.config.gpus, *sources.evidence.records.gpus()))
    by_gpu = {gpu: [(k, record) for k, found in kernels for record in found if record.gpu == gpu] for gpu in gpus}
    states = {gpu: [(k, _states(sources.evidence, k, r)) for k, r in pairs] for gpu, pairs in by_gpu.items() if pairs}
    page = RecordsPage(
        plate=_plate([one for pairs in states.values() for _, found in pairs for one in found]),
        gpus=tuple((gpu, _table(gpu, pairs)) for gpu, pairs in states.items()),
        unmeasured=tuple((k.name, relative(kernel_url(k.name), RECORDS)) for k, found in kernels if not found),
    )
    description = "Every stored measurement: whether today’s code made it, when, and what changed since."
    return printer.page("records.html", RECORDS, page, title="Records", description=description, section=KERNELS)


def _states(evidence: Evidence, kernel: Kernel, record: Record) -> tuple[RecordState, ...]:
    """Return everything of a kernel that can be recorded on a GPU, in the order of kernel.yaml."""
    dates, prefix = dict(_dates(kernel, record)), f"{kernel.name}/"
    of_gpu = ((title, state) for (gpu, title), state in evidence.evaluations.items() if gpu == record.gpu)
    return tuple(
        RecordState(*_parts(title.removeprefix(prefix)), state, dates.get(title, ""))
        for title, state in of_gpu
        if title.startswith(prefix)
    )


def _parts(title: str) -> tuple[str, str]:
    name, _, cell = title.partition("@")
    return name, cell


def _dates(kernel: Kernel, record: Record) -> Iterator[tuple[str, str]]:
    """Yield the title and the day of everything that a record holds."""
    days = {run.id: run.date for run in record.runs}
    for one in record.evaluations:
        title = f"{kernel.name}/{one.name}@{cell_name(one.workload, one.dtype, one.params, kernel)}"
        yield title, days.get(one.run, "")
    yield from ((f"{kernel.name}/wrong/{one.name}", days.get(one.run, "")) for one in record.rejections)
    yield from ((sweep_title(kernel.name, one.name), days.get(one.run, "")) for one in record.sweeps)


def _plate(states: Iterable[RecordState]) -> tuple[Fact, ...]:
    shown = tuple(states)
    counts = Counter(one.freshness.state for one in shown)
    days = sorted(one.date for one in shown if one.date)
    facts = [Fact(state.value, str(counts[state]), state=STATES[state] if counts[state] else "") for state in STATES]
    return (*facts, *([Fact("oldest", days[0]), Fact("newest", days[-1])] if days else []))


def _table(gpu: str, kernels: Iterable[tuple[Kernel, tuple[RecordState, ...]]]) -> tables.Table:
    bodies = tuple(_body(gpu, kernel, states) for kernel, states in kernels)
    caption = "A line holds the records of an implementation that are in the same state for the same reason."
    return tables.Table(f"on-{gpu}", caption, "", HEADINGS, bodies, (), wide=False, first="record")


def _body(gpu: str, kernel: Kernel, states: tuple[RecordState, ...]) -> tables.Body:
    counts = Counter(one.freshness.state for one in states)
    facts = ", ".join(f"{counts[state]}{numbers.NBSP}{state}" for state in STATES if counts[state])
    link = Markup('<a href="{}">{}</a>').format(
        relative(f"{kernel_url(kernel.name)}#record-{gpu}", RECORDS), kernel.name
    )
    grouped = _in_same_state(states)
    lines = tuple(
        _line(f"{gpu}-{kernel.name}-{number}", alike, is_whole=sum(name == one for one, _ in grouped) == 1)
        for number, ((name, _), alike) in enumerate(grouped.items())
    )
    return tables.Body(link, facts, lines=lines)


def _in_same_state(states: Iterable[RecordState]) -> Mapping[tuple[str, Freshness], list[RecordState]]:
    grouped: dict[tuple[str, Freshness], list[RecordState]] = {}
    for one in states:
        grouped.setdefault((one.name, one.freshness), []).append(one)
    return grouped


def _line(id: str, alike: list[RecordState], *, is_whole: bool) -> tables.Line:
    """Return the line of records in the same state; where a name has several lines, the line says which they are."""
    first, cells = alike[0], [one.cell for one in alike if one.cell]
    named = "" if is_whole else ", ".join(cells[:MOST_NAMED])
    more = f" and {len(cells) - MOST_NAMED} more" if named and len(cells) > MOST_NAMED else ""
    why = ", ".join(first.freshness.reasons)
    words = ": ".join(filter(None, (f"{named}{more}", why)))
    days = sorted({one.date for one in alike if one.date})
    measured = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else ""
    state = first.freshness.state
    return tables.Line(id, first.name, STATES[state], "", (str(state), str(len(alike)), measured, words))
