"""Tabulate the results of the checker and the sanitizer tools: errors beside the baseline's error, every finding, and
the logs of failures.

An implementation has one row for each dtype, with the worst of its workloads, because the checks use the same shapes
for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from sitegen.model.record import Correctness, Evaluation, Role
from sitegen.render.inputs.rows import Group
from sitegen.render.measurements import tables
from sitegen.render.shared import numbers

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
CAPTION = (
    "Error is ‖out − ref‖ / ‖ref‖ against float64, the worst of all checks; the largest error stands beside the "
    "largest of the baseline. Equal: five runs, bit for bit. The last four are the tools of compute-sanitizer."
)
LOG_CAPTION = "The log holds all that the compiler or the failed process printed."
CLEAN, NOT_RUN = "clean", "not run"


def checks(shown: Sequence[Group], id: str, logs: Mapping[str, str]) -> tables.Table | None:
    """Return the table of errors, tool results and logs of failures; None when nothing was checked.

    `logs` has the link to each log by its SHA-256; without any the table has no column for them.
    """
    own = {one.log: logs[one.log] for one in _ours(shown) if one.log in logs}
    names = ("error", "of a row", "largest", "baseline’s", "equal", *TOOLS, *(["log"] if own else []))
    dtypes = dict.fromkeys(group.dtype for group in shown)
    bodies = tuple(body for dtype in dtypes if (body := _body(shown, dtype, own)).lines)
    heads = tuple(tables.Heading(name) for name in names)
    caption = f"{CAPTION} {LOG_CAPTION}" if own else CAPTION
    return tables.Table(id, caption, "", heads, bodies, (), wide=False) if bodies else None


def findings(shown: Sequence[Group]) -> tuple[str, ...]:
    """Return each finding once: `cluster, racecheck: Race reported …`."""
    lines = (
        f"{one.name}, {tool}: {' '.join(text.split())}"
        for one in _ours(shown)
        for tool, text in one.sanitizer.items()
        if text
    )
    return tuple(dict.fromkeys(lines))


def _body(shown: Sequence[Group], dtype: str, logs: Mapping[str, str]) -> tables.Body:
    ours = [one for one in _ours(shown) if one.dtype == dtype]
    names = dict.fromkeys(one.name for one in ours)
    lines = tuple(line for name in names if (line := _line([one for one in ours if one.name == name], logs)))
    checked = next((one.correctness for one in ours if one.correctness), None)
    return tables.Body(dtype, _facts(checked) if checked else "", "", lines)


def _ours(shown: Sequence[Group]) -> list[Evaluation]:
    rows = (row for group in shown for row in group.rows if row.role is Role.IMPLEMENTATION)
    return [row.evaluation for row in rows if row.evaluation]


def _facts(checked: Correctness) -> str:
    sets = ", ".join(name.replace("_", " ") for name in checked.input_sets)
    shapes = f"{numbers.count(checked.shapes, 'shape')} × {numbers.count(checked.seeds, 'seed')}"
    return f"tolerance {numbers.error(checked.tolerance)}, {shapes}{f', inputs: {sets}' if sets else ''}"


def _line(same: Sequence[Evaluation], logs: Mapping[str, str]) -> tables.Line | None:
    """Return the row of one implementation in one dtype; None when it was not checked and left no log."""
    one = same[0]
    checked = [e.correctness for e in same if e.correctness]
    if not checked and not any(e.sanitizer or e.log in logs for e in same):
        return None
    state = "failed" if any(e.status.failed for e in same) else "ours"
    cells = (*_errors(checked), *(_verdict(same, tool) for tool in TOOLS), *([_logs(same, logs)] if logs else []))
    notes = tuple(dict.fromkeys(_failure(e) for e in same if e.status.failed and not any(e.sanitizer.values())))
    return tables.Line("", one.name, state, "", cells, notes=notes)


def _failure(one: Evaluation) -> str:
    """Return why a row is marked although its checks may be clean: `timeout at 8192 × 8192`."""
    return f"{one.status.words} at {numbers.shape(one.workload)}"


def _errors(checked: Sequence[Correctness]) -> Iterator[str]:
    for name in ("relative_error", "row_error", "max_abs_error", "baseline_max_abs_error"):
        yield numbers.error(max(getattr(c, name) for c in checked)) if checked else ""
    yield ("yes" if all(c.deterministic for c in checked) else "no") if checked else ""


def _logs(same: Sequence[Evaluation], logs: Mapping[str, str]) -> Markup:
    """Return a link to each log, named by the status of the failure: `compile error`."""
    statuses = {logs[e.log]: e.status.words for e in same if e.log in logs}
    links = [Markup('<a href="{}">{}</a>').format(href, words) for href, words in statuses.items()]
    return Markup(", ").join(links)


def _verdict(same: Sequence[Evaluation], tool: str) -> str | Markup:
    said = [e.sanitizer[tool] for e in same if tool in e.sanitizer]
    if not said:
        return Markup('<span class="state planned">{}</span>').format(NOT_RUN)
    return Markup('<span class="state failed">finding</span>') if any(said) else CLEAN
