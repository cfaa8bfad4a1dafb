"""Turn `{timeline}` with stages in YAML into their schedule, drawn as one row a stage, with its length and overlap."""

from __future__ import annotations

from markupsafe import Markup

from sitegen.markup.collected import Collected
from sitegen.markup.drawn.cells import box, shade
from sitegen.markup.drawn.figure import MEASURE, FigureKind, FigureSource, as_table, facts, note, percent, picture
from sitegen.markup.svg import at, join, path, text
from sitegen.model.pipeline import PipelineStage, Schedule

_TOP, _HEIGHT, _GAP = 22.0, 26.0, 6.0
_SHARE = 68.0
"""Width in pixels of the last column of the picture."""


def _read(given: FigureSource, into: Collected) -> Schedule | None:
    from sitegen.markup.drawn.stages import read_schedule

    return read_schedule(given, into)


def _draw(plan: Schedule, alt: str) -> str:
    left = 16.0 + 7.2 * max(len(stage.name) for stage in plan.stages)
    unit = max(5.0, min(26.0, (MEASURE - left - _SHARE) / plan.total))
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
    return svg + facts(_facts(plan)) + note("a box holds the number of its tile", "boxes of one shade fill one buffer")


def _facts(plan: Schedule) -> list[tuple[str, str]]:
    return [
        ("total", f"{plan.total} steps"),
        ("one after another", f"{plan.alone} steps"),
        ("speed-up", f"{plan.alone / plan.total:.3g} ×"),
        ("two or more at work", f"{plan.overlapped} steps, {percent(plan.overlapped / plan.total)}"),
    ]


def _text(plan: Schedule) -> str:
    rows = ([tile, *(plan.starts[stage.name][tile] for stage in plan.stages)] for tile in range(plan.tiles))
    return as_table("The step at which each tile begins", ["tile", *(stage.name for stage in plan.stages)], rows)


def _row(plan: Schedule, stage: PipelineStage, left: float, y: float, unit: float) -> list[Markup]:
    """Return the boxes of a stage, one a tile with the tile's number, in the shade of the buffer that the tile uses."""
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


FIGURE = FigureKind(_read, _draw, _text, _facts)
