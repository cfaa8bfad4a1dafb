"""Kernels → their pages: the ladder of implementations, every evaluation, the roofline, what was caught, the record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.kernel import Goal, Implementation, Kernel, Language, Status
from sitegen.model.plain import to_plain
from sitegen.model.record import Record, Role
from sitegen.model.urls import KERNELS, kernel_url, relative
from sitegen.render import numbers, tables
from sitegen.render.benchmark import CAPTION, benchmark_table, record_href
from sitegen.render.charts import Figure, ceiling_name, kernel_figure
from sitegen.render.frame import Fact, Link, Printer
from sitegen.render.marks import Mark, bar
from sitegen.render.measured import Group, Row, groups, headline
from sitegen.render.plates import record_plate
from sitegen.render.slots import file_name
from sitegen.render.sources import Sources, source_of

LANGUAGES = {Language.TRITON: "Triton", Language.CUDA: "CUDA", Language.CUDA_HOST: "CUDA, host code"}


@dataclass(frozen=True, slots=True)
class Step:
    """A rung of the ladder."""

    id: str
    name: str
    language: str
    predicts: str
    bar: Markup
    """Empty without a time."""
    meter: str
    """`95.1 % of copy, 4.07 TB/s; predicted 95 %`."""
    gain: str
    against: str
    state: str
    reason: str
    best: bool
    source: Link | None


@dataclass(frozen=True, slots=True)
class GoalLine:
    text: str
    state: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Caught:
    """A wrong variant: what it must get, and what it got."""

    name: str
    expected: str
    status: str
    held: bool
    message: str


@dataclass(frozen=True, slots=True)
class Section:
    """All of one GPU."""

    id: str
    gpu: str
    headline: str
    """`8192 × 8192 in float32`."""
    steps: tuple[Step, ...]
    stale: tuple[str, ...]
    table: tables.Table
    figure: Figure | None
    caught: tuple[Caught, ...]
    plate_id: str
    plate: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class KernelPage:
    name: str
    summary: str
    posts: tuple[Link, ...]
    state: str
    plate: tuple[Fact, ...]
    goals: tuple[GoalLine, ...]
    sections: tuple[Section, ...]
    unmeasured: tuple[Step, ...]
    """The implementations of a kernel without any record."""


@dataclass(frozen=True, slots=True)
class BoardRow:
    """The best of one kernel."""

    kernel: Link
    by: str
    workload: str
    rate: str
    share: str
    bar: Markup
    ratio: str
    against: str
    state: str
    state_text: str


@dataclass(frozen=True, slots=True)
class Board:
    rows: tuple[BoardRow, ...]
    provenance: tuple[tables.Provenance, ...]


@dataclass(frozen=True, slots=True)
class KernelIndex:
    board: Board
    summaries: tuple[tuple[Link, str], ...]


def render_kernels(printer: Printer) -> dict[str, str]:
    sources = printer.sources
    if not sources.site.kernels:
        return {}
    pages: dict[str, str] = {}
    for kernel in sources.site.kernels:
        pages.update([_kernel_page(printer, kernel)])
        pages.update(_data(sources, kernel))
    summaries = tuple((Link(k.name, relative(kernel_url(k.name), KERNELS)), k.summary) for k in sources.site.kernels)
    index = KernelIndex(board(sources, KERNELS), summaries)
    description = "Best implementation of each kernel, against the ceiling that binds it."
    pages.update(
        [printer.page("kernels.html", KERNELS, index, title="Kernels", description=description, section=KERNELS)]
    )
    return pages


def _data(sources: Sources, kernel: Kernel) -> dict[str, str]:
    """Each record as JSON, and the source of each implementation as text."""
    files = {f"{kernel_url(kernel.name)}{r.gpu}.json": _json(r) for r in sources.records(kernel.name)}
    sourced = {source_url(kernel, i): source_of(sources.site, i) for i in kernel.implementations}
    return {**files, **{path: text for path, text in sourced.items() if text}}


def _json(record: Record) -> str:
    return json.dumps(to_plain(record), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def source_url(kernel: Kernel, implementation: Implementation) -> str:
    """As text, which a browser shows instead of saving it."""
    return f"{kernel_url(kernel.name)}{file_name(implementation)}.txt"


def _kernel_page(printer: Printer, kernel: Kernel) -> tuple[str, str]:
    sources, here = printer.sources, kernel_url(kernel.name)
    records = sources.records(kernel.name)
    found = [(record, groups(kernel, record, sources.evidence)) for record in records]
    several = len(records) > 1
    page = KernelPage(
        name=kernel.name,
        summary=kernel.summary,
        posts=_posts(sources, kernel, here),
        state=_state([group for _, shown in found for group in shown]),
        plate=_kernel_plate(kernel, found),
        goals=tuple(_goal(goal, found[0][1] if found else ()) for goal in kernel.goals),
        sections=tuple(_section(sources, kernel, record, shown, here, several) for record, shown in found),
        unmeasured=() if records else tuple(_unmeasured(sources, kernel, i, here) for i in kernel.implementations),
    )
    return printer.page("kernel.html", here, page, title=kernel.name, description=kernel.summary, section=KERNELS)


def _posts(sources: Sources, kernel: Kernel, here: str) -> tuple[Link, ...]:
    """The posts that treat it."""
    shown = sources.linked.kernel_posts.get(kernel.name, ())
    return tuple(Link(post.title, relative(sources.post_url(post), here)) for post in shown)


def _state(shown: list[Group]) -> str:
    """`1 of 6 results stale`; empty when all are fresh."""
    timed = [row for group in shown for row in group.rows if row.ours and row.performance]
    stale = [row for row in timed if row.stale]
    return f"{len(stale)} of {len(timed)} results stale" if stale else ""


def _kernel_plate(kernel: Kernel, found: Sequence[tuple[Record, tuple[Group, ...]]]) -> tuple[Fact, ...]:
    facts = [Fact("reads", _formula(kernel.reads)), Fact("writes", _formula(kernel.writes))]
    facts.append(Fact("operations", _formula(kernel.flops)))
    group = headline(found[0][1]) if found else None
    if group and group.limit:
        rate = numbers.bandwidth if group.bound_by_memory else numbers.operations
        facts.append(Fact("binding ceiling", f"{ceiling_name(group.limit.name)}, {rate(group.limit.rate)}"))
    facts += [Fact(f"tolerance {dtype}", numbers.error(value)) for dtype, value in kernel.tolerance.items()]
    facts.append(Fact("odd shapes checked", str(len(kernel.checks))))
    if found and kernel.wrong:
        caught = _caught(found[0][0])
        facts.append(Fact("wrong/ caught", f"{sum(c.held for c in caught)} of {len(kernel.wrong)}"))
    return (*facts, Fact("GPU", ", ".join(_gpu_name(record) for record, _ in found) or "not measured yet"))


def _formula(text: str) -> str:
    return text.replace(" * ", f"{numbers.NBSP}·{numbers.NBSP}")


def _gpu_name(record: Record) -> str:
    return record.runs[-1].environment.gpu if record.runs else record.gpu


def _section(
    sources: Sources, kernel: Kernel, record: Record, shown: tuple[Group, ...], here: str, several: bool
) -> Section:
    end = f"-{record.gpu}" if several else ""
    group = headline(shown)
    first = record is sources.records(kernel.name)[0]
    charted = group if group and group.can_be_drawn else None
    columns = (*tables.columns_for(shown, _compared(shown, kernel)), "error")
    return Section(
        id=f"on{end}" if several else "on",
        gpu=_gpu_name(record),
        headline=f"{numbers.shape(group.workload.name)} in {group.dtype}" if group else "",
        steps=_steps(sources, kernel, group, here, "" if first else f"{record.gpu}-"),
        stale=_stale_lines(record, group),
        table=benchmark_table(
            kernel,
            record,
            shown,
            here,
            id=f"workloads{end}",
            prefix=f"w{end}",
            columns=columns,
            caption=f"{CAPTION} Error is ‖out − ref‖ / ‖ref‖ against float64, the worst of all checks.",
            wide=False,
        ),
        figure=kernel_figure(kernel, record, charted, here, id=f"roofline{end}", wide=False) if charted else None,
        caught=_caught(record),
        plate_id=f"record-{record.gpu}",
        plate=record_plate(record, f"{record.gpu}.json"),
    )


def _compared(shown: tuple[Group, ...], kernel: Kernel) -> tuple[str, ...]:
    timed = {row.name for group in shown for row in group.rows if row.performance}
    return tuple(name for name in kernel.baselines if name in timed)


def _steps(sources: Sources, kernel: Kernel, group: Group | None, here: str, prefix: str) -> tuple[Step, ...]:
    """In the order of kernel.yaml: what each bought over the last one before it that has a time."""
    steps: list[Step] = []
    before: Row | None = None
    for implementation in kernel.implementations:
        row = next((r for r in group.rows if r.ours and r.name == implementation.name), None) if group else None
        steps.append(_step(sources, kernel, implementation, group, row, before, here, prefix))
        before = row if row and row.performance else before
    return tuple(steps)


def _step(
    sources: Sources,
    kernel: Kernel,
    implementation: Implementation,
    group: Group | None,
    row: Row | None,
    before: Row | None,
    here: str,
    prefix: str,
) -> Step:
    timed = row is not None and row.performance is not None
    gain, against = _gain(row, before)
    href = relative(source_url(kernel, implementation), here)
    source = Link(file_name(implementation), href) if source_of(sources.site, implementation) else None
    return Step(
        id=f"{prefix}{implementation.name}",
        name=implementation.name,
        language=LANGUAGES[implementation.language],
        predicts=numbers.tied(implementation.predicts),
        bar=bar(row.of_ceiling, Mark.STALE if row.stale else Mark.OURS, row.predicted) if row and timed else Markup(),
        meter=_meter(group, row) if group and row and timed else "",
        gain=gain,
        against=against,
        state=_row_state(row),
        reason="" if timed else tables.why_no_time(row) if row else "not offered in this dtype",
        best=row.best if row else False,
        source=source,
    )


def _row_state(row: Row | None) -> str:
    if row is None or row.evaluation is None or row.evaluation.status in (Status.NOT_RUN, Status.UNSUPPORTED):
        return "planned"
    return "failed" if row.failed else "stale" if row.stale else ""


def _meter(group: Group, row: Row) -> str:
    rate = numbers.bandwidth(row.bytes_per_s) if group.bound_by_memory else numbers.operations(row.flops_per_s)
    facts = [f"{numbers.percent(row.of_ceiling)} of ceiling"] if row.of_ceiling is not None else []
    if (share := row.of_probes.get(group.cost.yardstick)) is not None:
        facts.append(f"{numbers.percent(share)} of {group.cost.yardstick}")
    predicted = f"; predicted {numbers.prediction(row.predicted)}" if row.predicted is not None else ""
    return ", ".join([*facts, rate]) + predicted


def _gain(row: Row | None, before: Row | None) -> tuple[str, str]:
    if row is None or row.performance is None:
        return "", ""
    if before is None or before.performance is None:
        return numbers.ratio(1.0), "the start"
    return numbers.ratio(before.performance.median_us / row.performance.median_us), f"over {before.name}"


def _unmeasured(sources: Sources, kernel: Kernel, implementation: Implementation, here: str) -> Step:
    return _step(sources, kernel, implementation, None, Row(Role.IMPLEMENTATION, implementation.name), None, here, "")


def _stale_lines(record: Record, group: Group | None) -> tuple[str, ...]:
    rows = [row for row in group.rows if row.stale and row.performance] if group else []
    dates = {run.id: run.date for run in record.runs}
    return tuple(f"{r.name}: measured {dates.get(r.evaluation.run, '')}, {r.stale}" for r in rows if r.evaluation)


def _caught(record: Record) -> tuple[Caught, ...]:
    return tuple(
        Caught(
            r.name,
            r.expected.value.replace("_", " "),
            r.status.value.replace("_", " "),
            r.status == r.expected,
            " ".join(r.message.split())[:240],
        )
        for r in record.rejections
    )


def _goal(goal: Goal, shown: Sequence[Group]) -> GoalLine:
    group = next((g for g in shown if (g.workload.name, g.dtype) == (goal.workload, goal.dtype)), None)
    row = _subject(goal, group) if group else None
    reached = _reached(goal, row) if row else None
    if reached is None or row is None:
        return GoalLine(goal.text, "planned", "not measured yet")
    shown_value = numbers.ratio(reached) if goal.unit.startswith("x ") else f"{reached:.3f}"
    met = reached >= goal.at_least
    state = "stale" if row.stale else "done" if met else "failed"
    return GoalLine(goal.text, state, f"{'met' if met else 'missed'}: {shown_value} by {row.name}")


def _subject(goal: Goal, group: Group) -> Row | None:
    if goal.subject == "best":
        return group.best
    return next((row for row in group.rows if row.ours and row.name == goal.subject), None)


def _reached(goal: Goal, row: Row) -> float | None:
    if goal.unit == "of-ceiling":
        return row.of_ceiling
    if goal.unit in ("of-copy", "of-read"):
        return row.of_probes.get(goal.unit.removeprefix("of-"))
    return row.ratio(goal.unit.removeprefix("x ").strip())


def board(sources: Sources, here: str) -> Board:
    """One row a kernel, on the first of its GPUs."""
    rows, made = [], dict[str, tables.Provenance]()
    for kernel in sources.site.kernels:
        record = next(iter(sources.records(kernel.name)), None)
        shown = groups(kernel, record, sources.evidence) if record else ()
        group = headline(shown)
        rows.append(_board_row(kernel, group, here))
        if record and group and group.best:
            for line in tables.provenances(record, (group,), record_href(record, here)):
                made.setdefault(" ".join((*line.facts, line.commit)), line)
    return Board(tuple(rows), tuple(made.values()))


def _board_row(kernel: Kernel, group: Group | None, here: str) -> BoardRow:
    link, best = Link(kernel.name, relative(kernel_url(kernel.name), here)), group.best if group else None
    if group is None or best is None or best.performance is None:
        return BoardRow(link, "", "", "", "", Markup(), "", "", "planned", "not measured yet")
    fastest = _strongest(kernel, best)
    rate = numbers.bandwidth(best.bytes_per_s) if group.bound_by_memory else numbers.operations(best.flops_per_s)
    return BoardRow(
        kernel=link,
        by=best.name,
        workload=f"{numbers.shape(group.workload.name)} {group.dtype}",
        rate=rate,
        share=numbers.fixed(best.of_ceiling * 100, 1) if best.of_ceiling is not None else "",
        bar=bar(best.of_ceiling, Mark.STALE if best.stale else Mark.OURS, best.predicted),
        ratio=numbers.ratio(fastest[1]) if fastest else "",
        against=fastest[0] if fastest else "",
        state="stale" if best.stale else "fresh",
        state_text="stale" if best.stale else "fresh",
    )


def _strongest(kernel: Kernel, best: Row) -> tuple[str, float] | None:
    """The baseline that comes nearest: the honest one to be compared with."""
    ratios = [(name, ratio) for name in kernel.baselines if (ratio := best.ratio(name)) is not None]
    return min(ratios, key=lambda pair: pair[1], default=None)
