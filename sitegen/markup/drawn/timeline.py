"""`{timeline}` with stages in YAML → their schedule, drawn as one row a stage, with its length and overlap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from markupsafe import Markup

from sitegen.diagnostics import Diagnostic
from sitegen.markup.collected import Collected
from sitegen.markup.drawn.cells import box, shade
from sitegen.markup.drawn.figure import Figure, Given, as_table, facts, note, percent, picture
from sitegen.markup.svg import at, join, path, text
from sitegen.model.pipeline import Schedule, Stage, schedule
from sitegen.model.site import Ref
from sitegen.read.shape import entries_of, read_as, unknown
from sitegen.read.yaml_nodes import Node, parse_yaml

_TOP, _HEIGHT, _GAP = 22.0, 26.0, 6.0
_MEASURE, _SHARE = 640.0, 68.0
"""Pixels of a column of text, and of the last column of the picture."""
_LONGEST = 2000
"""Steps of a schedule."""


@dataclass(frozen=True, slots=True)
class _Stage:
    """A stage as it is written: `{steps: 3, after: [copy], buffers: 2}`."""

    steps: int
    after: tuple[Ref, ...] | None = None
    buffers: int = 0


@dataclass(frozen=True, slots=True)
class _Written:
    tiles: int
    stages: tuple[Stage, ...] = field(default=())
    buffers: int = 1


def _read(given: Given, into: Collected) -> Schedule | None:
    rest, line = given.options.rest, given.options.rest_line
    if not rest.strip():
        hint = "`tiles: 4` and `stages: {copy: 2, compute: 3}`"
        into.error("SG111", "the directive `{timeline}` needs its stages", given.fence.span, hint)
        return None
    first = rest.split("\n", 1)[0]
    source = into.lines[line] if line < len(into.lines) else first
    col = max(source.find(first), 0) + 1
    node, mistakes = parse_yaml(rest, into.path, into.first_line + line, col)
    found = list(mistakes)
    written = read_as(_Written, node, found, convert={"stages": _stages}) if node else None
    if written and node and not found:
        found += _limits(written, node)
    into.diagnostics += found
    if written is None or found:
        return None
    return schedule(_with_buffers(written), written.tiles)


def _stages(node: Node, found: list[Diagnostic]) -> tuple[Stage, ...]:
    stages: list[Stage] = []
    for name, child in entries_of(node, found).items():
        short = isinstance(child.value, int)
        one = _Stage(int(child.text)) if short else read_as(_Stage, child, found, noun="key of a stage")
        known = [stage.name for stage in stages]
        if one.after is None:
            after: tuple[str, ...] = tuple(known[-1:])
        else:
            found += [unknown("earlier stage", r.name, r.span, known) for r in one.after if r.name not in known]
            after = tuple(ref.name for ref in one.after if ref.name in known)
        stages.append(Stage(name, one.steps, after, one.buffers))
        if (not short and one.buffers < 0) or one.steps < 1:
            found.append(_wrong(child, f"stage `{name}`: steps are 1 or more, buffers 0 or more"))
    return tuple(stages)


def _limits(written: _Written, node: Node) -> Iterator[Diagnostic]:
    for name, number in (("tiles", written.tiles), ("buffers", written.buffers)):
        if number < 1:
            yield _wrong(node.get(name) or node, f"`{name}` is 1 or more")
    if not written.stages:
        yield _wrong(node.get("stages") or node, "there is no stage")
    if written.tiles * sum(stage.steps for stage in written.stages) > _LONGEST:
        yield _wrong(node.get("tiles") or node, f"more than {_LONGEST} steps: no figure shows them")


def _wrong(node: Node, message: str) -> Diagnostic:
    return Diagnostic("SG132", message, node.span)


def _with_buffers(written: _Written) -> tuple[Stage, ...]:
    """Stages that name no number of buffers have that of the whole."""
    return tuple(Stage(s.name, s.steps, s.after, s.buffers or written.buffers) for s in written.stages)


def _draw(plan: Schedule, alt: str) -> str:
    left = 16.0 + 7.2 * max(len(stage.name) for stage in plan.stages)
    unit = max(5.0, min(26.0, (_MEASURE - left - _SHARE) / plan.total))
    bottom = _TOP + len(plan.stages) * (_HEIGHT + _GAP)
    content = [path(_ticks(plan, left, unit, bottom), "grid")]
    content += [text(str(step), left + step * unit, 12, "mid") for step in range(0, plan.total + 1, _tick(plan))]
    for row, stage in enumerate(plan.stages):
        y = _TOP + row * (_HEIGHT + _GAP)
        content.append(text(stage.name, left - 8, y + _HEIGHT / 2 + 4, "e b"))
        content += _row(plan, stage, left, y, unit)
        content.append(text(percent(plan.busy(stage)), left + plan.total * unit + 16, y + _HEIGHT / 2 + 4))
    content.append(text("busy", left + plan.total * unit + 16, 12))
    svg = picture(content, left + plan.total * unit + _SHARE, bottom, alt or _words(plan), "Timeline")
    told = [
        ("total", f"{plan.total} steps"),
        ("one after another", f"{plan.alone} steps"),
        ("speed-up", f"{plan.alone / plan.total:.3g} ×"),
        ("two or more at work", f"{plan.overlapped} steps, {percent(plan.overlapped / plan.total)}"),
    ]
    return svg + facts(told) + note("a box holds the number of its tile", "boxes of one shade fill one buffer")


def _text(plan: Schedule) -> str:
    rows = ([tile, *(plan.starts[stage.name][tile] for stage in plan.stages)] for tile in range(plan.tiles))
    return as_table("The step at which each tile begins", ["tile", *(stage.name for stage in plan.stages)], rows)


def _row(plan: Schedule, stage: Stage, left: float, y: float, unit: float) -> list[Markup]:
    """Boxes in the shade of the buffer that they use, each with its tile."""
    boxes: dict[str, list[str]] = {}
    words = []
    wide = stage.steps * unit
    for tile, start in enumerate(plan.starts[stage.name]):
        x = left + start * unit
        boxes.setdefault(shade(2 * (tile % _buffers(plan)) + 2), []).append(box(x, y, wide, _HEIGHT))
        if wide >= 8 * len(str(tile)) + 2:
            words.append(text(str(tile), x + wide / 2, y + _HEIGHT / 2 + 4, "mid i"))
    return [*(path(join(parts), class_) for class_, parts in sorted(boxes.items())), *words]


def _buffers(plan: Schedule) -> int:
    return min(max(stage.buffers for stage in plan.stages), plan.tiles)


def _tick(plan: Schedule) -> int:
    return next(step for step in (1, 2, 5, 10, 20, 50, 100, 200) if plan.total / step <= 20 or step == 200)


def _ticks(plan: Schedule, left: float, unit: float, bottom: float) -> str:
    steps = range(0, plan.total + 1, _tick(plan))
    return "".join(f"M{at(left + step * unit)} {at(_TOP - 4)}V{at(bottom)}" for step in steps)


def _words(plan: Schedule) -> str:
    busy = ", ".join(f"{stage.name} works {percent(plan.busy(stage))} of the time" for stage in plan.stages)
    return (
        f"{plan.tiles} tiles through {len(plan.stages)} stages in {plan.total} steps, "
        f"{plan.alone} one after another; {busy}."
    )


FIGURE = Figure(_read, _draw, _text)
