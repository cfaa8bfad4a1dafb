"""Print the pages of kernels: the ladder of implementations, every evaluation, the roofline, the caught wrong variants,
the record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.kernel import Kernel
from sitegen.model.plain import to_plain
from sitegen.model.record import Record, Role
from sitegen.model.urls import KERNELS, PREDICTIONS, RECORDS, exercise_url, kernel_url, relative
from sitegen.render.downloads.run_lines import programs, run_commands
from sitegen.render.inputs.implementations import source_of
from sitegen.render.inputs.rows import Group, headline, headlines
from sitegen.render.inputs.sources import Sources
from sitegen.render.measurements import tables
from sitegen.render.measurements.benchmark_table import split_benchmark
from sitegen.render.measurements.checks import checks, findings
from sitegen.render.measurements.class_table import class_tables
from sitegen.render.measurements.comparison import comparison
from sitegen.render.measurements.details import details
from sitegen.render.measurements.gpus import gpu_name, label_of, short_name
from sitegen.render.measurements.history import History, history
from sitegen.render.measurements.kernel_charts import Figure, ceiling_name, kernel_figure
from sitegen.render.measurements.kernel_table import boards, comparison_of_kernels
from sitegen.render.measurements.ladders import Ladder, LadderMaker, LadderStep
from sitegen.render.measurements.ledger import ledger
from sitegen.render.measurements.plots import PlotFigure, error_figure, sweep_figures
from sitegen.render.measurements.provenance import ceilings_href
from sitegen.render.measurements.record_csv import record_csv
from sitegen.render.measurements.record_facts import record_plate
from sitegen.render.measurements.source_code import source_url
from sitegen.render.pages.ceilings import ceilings_links
from sitegen.render.pages.changes import changes_url, last_two, render_changes
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Fact, Link, Printer
from sitegen.render.shared.structured import About
from sitegen.render.texts.mentions import mentions, worked_on
from sitegen.results.goals import GoalResult, GoalState, goal_results
from sitegen.results.predictions import prediction_lines


@dataclass(frozen=True, slots=True)
class GoalLine:
    text: str
    state: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Caught:
    """A wrong variant: the expected status and the actual one."""

    name: str
    expected: str
    status: str
    held: bool
    message: str
    log: str
    """The link to the log of its failure; empty without one."""


@dataclass(frozen=True, slots=True)
class Section:
    """All measurements on one GPU."""

    id: str
    gpu: str
    on: str
    """The words that tell its headings from those of another GPU: ` on NVIDIA H200`; empty on a page of one GPU."""
    headline: str
    """The headline workload: `8192 × 8192 in float32`."""
    ladders: tuple[Ladder, ...]
    """A ladder for each dtype."""
    table: tables.Table
    """The times at the headline workload."""
    other_table: tables.Table | None
    """The times at all other workloads; None when there is only one."""
    ledger: tables.Table | None
    """The predictions beside their measurements; None without any."""
    figure: Figure | None
    sweeps: tuple[PlotFigure, ...]
    unmeasured_sweeps: tuple[str, ...]
    """The titles of the sweeps that the record does not have."""
    details: tuple[tables.Table, ...]
    """The code, bytes and clocks at the headline workload."""
    other_details: tuple[tables.Table, ...]
    """The code, bytes and clocks at all other workloads."""
    instructions: tuple[tables.Table, ...]
    """The instructions by class, a table for each dtype."""
    checks: tables.Table | None
    errors: PlotFigure | None
    """The error of each implementation against its speed, at the headline workload."""
    findings: tuple[str, ...]
    caught: tuple[Caught, ...]
    history: History | None
    """The history; None when no stored run timed the best implementation."""
    changes: str
    """The link to the comparison of the newest run with the one before; empty when there is only one run."""
    commands: tuple[str, ...]
    """The commands that measure the kernel again, and that try its best implementation."""
    uncompared: tuple[str, ...]
    """The baselines that have no time at any workload, each with the reason."""
    csv: Link
    plate_id: str
    plate: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class KernelPage:
    stylesheet: str
    """The link to the styles that only pages of kernels need."""
    name: str
    summary: str
    posts: tuple[Link, ...]
    worked_on: tuple[Link, ...]
    """The days of the worklog that mention the kernel."""
    state: str
    plate: tuple[Fact, ...]
    goals: tuple[GoalLine, ...]
    comparison: tables.Table | None
    """The implementations on every GPU; None when fewer than two measured the kernel."""
    sections: tuple[Section, ...]
    unmeasured: tuple[LadderStep, ...]
    """The implementations of a kernel that has no record."""
    run: tuple[str, ...]
    """The commands that run the program of an implementation; empty when no source is there."""
    programs: tuple[Link, ...]
    """The program of each implementation."""


@dataclass(frozen=True, slots=True)
class KernelIndex:
    comparison: tables.Table | None
    """The kernels on every GPU; None for fewer than two."""
    board: Markup
    summaries: tuple[tuple[Link, str], ...]
    ceilings: tuple[Link, ...]
    """The pages of the GPUs' ceilings."""
    records: str
    predictions: str


def render_kernels(printer: Printer) -> dict[str, str]:
    sources = printer.sources
    if not sources.site.kernels:
        return {}
    pages: dict[str, str] = {}
    for kernel in sources.site.kernels:
        pages |= _kernel_pages(printer, kernel) | _data(sources, kernel)
    summaries = tuple((Link(k.name, relative(kernel_url(k.name), KERNELS)), k.summary) for k in sources.site.kernels)
    compared, shown = comparison_of_kernels(sources, KERNELS), boards(printer, KERNELS)
    index = KernelIndex(compared, shown, summaries, ceilings_links(sources, KERNELS), *_ledgers())
    description = "Best implementation of each kernel, against the ceiling that binds it."
    pages.update(
        [printer.page("kernels.html", KERNELS, index, title="Kernels", description=description, section=KERNELS)]
    )
    return pages


def _ledgers() -> tuple[str, str]:
    """Return the links to the states of all records, and to all predictions."""
    return relative(RECORDS, KERNELS), relative(PREDICTIONS, KERNELS)


def _data(sources: Sources, kernel: Kernel) -> dict[str, str]:
    """Return each record as JSON and CSV, the source of each implementation and each log as text, by output path."""
    records, folder = sources.records(kernel.name), kernel_url(kernel.name)
    files = {f"{folder}{r.gpu}.json": _json(r) for r in records} | {
        f"{folder}{r.gpu}.csv": record_csv(r) for r in records
    }
    sourced = {source_url(kernel, i): source_of(sources.site, i) for i in kernel.implementations}
    logs = {_log_url(kernel, digest): text for digest, text in _logs(sources, kernel).items()}
    return {**files, **{path: text for path, text in sourced.items() if text}, **logs}


def _logs(sources: Sources, kernel: Kernel) -> dict[str, str]:
    """Return the logs of failures of a kernel by their SHA-256."""
    every = sources.evidence.records.logs
    return {digest: text for (name, digest), text in every.items() if name == kernel.name}


def _log_url(kernel: Kernel, digest: str) -> str:
    return f"{kernel_url(kernel.name)}{digest[:16]}.log.txt"


def _log_links(sources: Sources, kernel: Kernel, here: str) -> dict[str, str]:
    """Return the link to each log by its SHA-256."""
    return {digest: relative(_log_url(kernel, digest), here) for digest in _logs(sources, kernel)}


def _json(record: Record) -> str:
    return json.dumps(to_plain(record), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _kernel_pages(printer: Printer, kernel: Kernel) -> dict[str, str]:
    """Return the page of a kernel, and for each record the page of changes from run to run."""
    sources, here = printer.sources, kernel_url(kernel.name)
    records = sources.records(kernel.name)
    measured = [(record, sources.groups(record)) for record in records]
    several = len(records) > 1
    maker = LadderMaker(printer, kernel, here)
    page = KernelPage(
        stylesheet=relative(sources.assets["kernel.css"], here),
        name=kernel.name,
        summary=kernel.summary,
        posts=mentions(sources, sources.linked.kernel_posts.get(kernel.name, ()), here),
        worked_on=worked_on(sources, here, here, numbers.day),
        state=_state([group for _, shown in measured for group in shown]),
        plate=_kernel_plate(sources, kernel, measured, here),
        goals=_goals(kernel, measured),
        comparison=comparison(kernel, measured),
        sections=tuple(_section(maker, record, shown, several) for record, shown in measured),
        unmeasured=() if records else maker.unmeasured(),
        run=run_commands(sources.site, kernel),
        programs=programs(sources.site, kernel, here),
    )
    about, lede = About(card=True), kernel.summary
    made = [printer.page("kernel.html", here, page, title=kernel.name, description=lede, section=KERNELS, about=about)]
    for record, section in zip(records, page.sections, strict=True):
        made += render_changes(printer, kernel, record, section.history).items()
    return dict(made)


def _state(shown: list[Group]) -> str:
    """Return the number of stale results in words, `1 of 6 results stale`; empty when all are fresh."""
    timed = [row for group in shown for row in group.rows if row.ours and row.performance]
    stale = [row for row in timed if row.stale]
    return f"{len(stale)} of {len(timed)} results stale" if stale else ""


def _kernel_plate(
    sources: Sources, kernel: Kernel, measured: Sequence[tuple[Record, tuple[Group, ...]]], here: str
) -> tuple[Fact, ...]:
    facts = [Fact("reads", _formula(kernel.reads)), Fact("writes", _formula(kernel.writes))]
    facts.append(Fact("operations", _formula(kernel.flops)))
    for record, shown in measured:
        on = f", {short_name(gpu_name(record))}" if len(measured) > 1 else ""
        if binding := _binding_ceilings(shown):
            facts.append(Fact(f"binding ceiling{on}", binding, ceilings_href(sources, record.gpu, here)))
    allowed = ",\n".join(f"{numbers.error(value)}{numbers.NBSP}{dtype}" for dtype, value in kernel.tolerance.items())
    facts += [Fact("tolerance", allowed)] if allowed else []
    facts.append(Fact("odd shapes checked", str(len(kernel.checks))))
    if measured and kernel.wrong:
        caught = max(sum(one.status == one.expected for one in record.rejections) for record, _ in measured)
        facts.append(Fact("wrong/ caught", f"{caught} of {len(kernel.wrong)}"))
    own = [one for one in sources.site.exercises if one.kernel.name == kernel.name]
    facts += [Fact("exercise", one.title, relative(exercise_url(one.id), here)) for one in own]
    return (*facts, Fact("GPU", ", ".join(gpu_name(record) for record, _ in measured) or "not measured yet"))


def _binding_ceilings(shown: Sequence[Group]) -> str:
    """Return the binding ceiling of the headline workload in each dtype, because those of a matrix product differ."""
    ceilings = dict.fromkeys(_ceiling(group) for group in headlines(shown) if group.ceiling[0])
    return ";\n".join(ceilings)


def _ceiling(group: Group) -> str:
    name, rate = group.ceiling
    shown = numbers.bandwidth if group.bound_by_memory else numbers.operations
    return f"{ceiling_name(name)}, {shown(rate)}"


def _formula(text: str) -> str:
    return text.replace(" * ", f"{numbers.NBSP}· ")


def _section(maker: LadderMaker, record: Record, shown: tuple[Group, ...], several: bool) -> Section:
    sources, kernel, here = maker.printer.sources, maker.kernel, maker.here
    end = f"-{record.gpu}" if several else ""
    group = headline(shown)
    first = record is sources.records(kernel.name)[0]
    among = [(one, its) for one in sources.records(kernel.name) if (its := _charted(sources, one))]
    others = [other for other in shown if other is not group]
    label = label_of(sources, record)
    times = split_benchmark(sources, kernel, record, shown, group, here, end=end, label=label)
    compared = next((row.name for g in shown for row in g.rows if row.role is Role.BASELINE and row.performance), "")
    return Section(
        id=f"on{end}" if several else "on",
        gpu=gpu_name(record),
        on=f" on {gpu_name(record)}" if several else "",
        headline=f"{numbers.shape(group.workload.name)} in {group.dtype}" if group else "",
        ladders=maker.ladders(record, shown, "" if first else record.gpu),
        table=times[0],
        other_table=tables.folded(times[1]) if len(times) > 1 else None,
        ledger=_ledger(kernel, record, f"predictions{end}", () if first else sources.records(kernel.name)[:1]),
        figure=_figure(sources, kernel, record, among, here, f"roofline{end}"),
        sweeps=sweep_figures(sources, kernel, record, here, f"sweep{end}"),
        unmeasured_sweeps=_unmeasured_sweeps(kernel, record),
        details=details([group], compared, f"code{end}") if group else (),
        other_details=details(others, compared, f"code-more{end}"),
        instructions=_instructions(sources, record, shown, f"instructions{end}"),
        checks=checks(shown, f"checks{end}", _log_links(sources, kernel, here)),
        errors=error_figure(sources, kernel, record, group, here, f"error{end}") if group else None,
        findings=findings(shown),
        caught=_caught(record, _log_links(sources, kernel, here)),
        history=history(kernel, record, sources.histories(record), shown, group),
        changes=relative(changes_url(kernel.name, record.gpu), here) if last_two(sources, record) else "",
        commands=_commands(kernel, group),
        uncompared=_uncompared(kernel, shown),
        csv=Link(f"{record.gpu}.csv", f"{record.gpu}.csv"),
        plate_id=f"record-{record.gpu}",
        plate=record_plate(record, f"{record.gpu}.json", ceilings_href(sources, record.gpu, here)),
    )


def _instructions(sources: Sources, record: Record, shown: tuple[Group, ...], id: str) -> tuple[tables.Table, ...]:
    """Return the instructions by class; none where the first GPU has the same, as with GPUs of one architecture."""
    made, first = class_tables(shown, id), sources.records(record.kernel)[0]
    is_repeated = record is not first and _counts(made) == _counts(class_tables(sources.groups(first), id))
    return () if is_repeated else made


def _counts(made: Sequence[tables.Table]) -> list[tuple[str, tuple[str | Markup, ...]]]:
    return [(line.name, line.cells) for table in made for body in table.bodies for line in body.lines]


def _ledger(kernel: Kernel, record: Record, id: str, above: Sequence[Record]) -> tables.Table | None:
    lines = tuple(prediction_lines(kernel, record))
    others = [line for other in above for line in prediction_lines(kernel, other)]
    return ledger(kernel, record.gpu, id, lines, others) if lines else None


def _commands(kernel: Kernel, group: Group | None) -> tuple[str, ...]:
    measure = f"sitegen run {kernel.name} --all"
    if group is None or group.best is None:
        return (measure,)
    return measure, f"sitegen try {kernel.name}/{group.best.name}@{group.workload.name}:{group.dtype}"


def _uncompared(kernel: Kernel, shown: Sequence[Group]) -> tuple[str, ...]:
    rows = [row for group in shown for row in group.rows if row.role is Role.BASELINE]
    timed = {row.name for row in rows if row.performance}
    first = {row.name: row for row in reversed(rows)}
    return tuple(f"{n}: {tables.why_no_time(first[n])}" for n in kernel.baselines if n in first and n not in timed)


def _unmeasured_sweeps(kernel: Kernel, record: Record) -> tuple[str, ...]:
    measured = {sweep.name for sweep in record.sweeps}
    return tuple(sweep.title for sweep in kernel.sweeps if sweep.name not in measured)


def _charted(sources: Sources, record: Record) -> Group | None:
    """Return the group that the charts of a record show."""
    group = headline(sources.groups(record))
    return group if group and group.can_be_drawn else None


def _figure(
    sources: Sources, kernel: Kernel, record: Record, among: Sequence[tuple[Record, Group]], here: str, id: str
) -> Figure | None:
    group, label = next((group for one, group in among if one is record), None), label_of(sources, record)
    if group is None:
        return None
    return kernel_figure(sources, kernel, record, group, here, id=id, label=label, wide=False, among=among)


def _caught(record: Record, logs: Mapping[str, str]) -> tuple[Caught, ...]:
    return tuple(
        Caught(
            r.name,
            r.expected.value.replace("_", " "),
            r.status.words,
            r.status == r.expected,
            tables.in_one_line(r.message)[:240],
            logs.get(r.log, ""),
        )
        for r in record.rejections
    )


def _goals(kernel: Kernel, measured: Sequence[tuple[Record, tuple[Group, ...]]]) -> tuple[GoalLine, ...]:
    """Return each goal with its outcome on each GPU, which names the GPU where there are several."""
    if not measured:
        return tuple(_goal(result, ()) for result in goal_results(kernel, None))
    lines = [
        [
            _goal(r, shown, short_name(gpu_name(record)) if len(measured) > 1 else "")
            for r in goal_results(kernel, record)
        ]
        for record, shown in measured
    ]
    return tuple(line for goal in kernel.goals for of_gpu in lines for line in of_gpu if line.text == goal.text)


def _goal(result: GoalResult, shown: Sequence[Group], gpu: str = "") -> GoalLine:
    """Return the outcome of a goal on one GPU; `gpu` is the name that the outcome states."""
    goal, on = result.goal, f" on {gpu}" if gpu else ""
    if result.value is None:
        return GoalLine(goal.text, "planned", f"not measured{on or ' yet'}")
    times = goal.unit.startswith("x")
    decimals = numbers.decimals_beside(result.value, goal.at_least, 2 if times else 3)
    reached = numbers.ratio(result.value, decimals) if times else numbers.fixed(result.value, decimals)
    here = [g for g in shown if (g.workload.name, g.dtype) == (goal.workload, goal.dtype)]
    stale = any(row.stale for group in here for row in group.rows if row.name == result.name)
    state = "stale" if stale else "done" if result.state is GoalState.MET else "failed"
    return GoalLine(goal.text, state, f"{result.state}{on}: {reached} by {result.name}")
