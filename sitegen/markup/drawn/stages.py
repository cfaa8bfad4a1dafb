"""Turn the YAML of a `{timeline}` into its schedule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sitegen.diagnostics import Diagnostic
from sitegen.markup.collected import Collected
from sitegen.markup.drawn.figure import FigureSource
from sitegen.model.pipeline import PipelineStage, Schedule, schedule
from sitegen.model.site import Ref
from sitegen.read.shape import entries_of, read_as, unknown_word
from sitegen.read.yaml_nodes import Node, parse_yaml

_LONGEST = 2000
"""Most steps of a schedule."""


@dataclass(frozen=True, slots=True)
class _Stage:
    """A stage as written: `{steps: 3, after: [copy], buffers: 2}`."""

    steps: int
    after: tuple[Ref, ...] | None = None
    buffers: int = 0


@dataclass(frozen=True, slots=True)
class _WrittenSchedule:
    tiles: int
    stages: tuple[PipelineStage, ...] = field(default=())
    buffers: int = 1


def read_schedule(given: FigureSource, into: Collected) -> Schedule | None:
    """Return the schedule of a figure's stages; None after an error, which is reported."""
    rest, line = given.options.rest, given.options.rest_line
    if not rest.strip():
        hint = "`tiles: 4` and `stages: {copy: 2, compute: 3}`"
        into.error("SG111", "the directive `{timeline}` needs its stages", given.fence.span, hint)
        return None
    first = rest.split("\n", 1)[0]
    source = into.lines[line] if line < len(into.lines) else first
    col = max(source.find(first), 0) + 1
    node, mistakes = parse_yaml(rest, into.path, into.first_line + line, col)
    all_mistakes = list(mistakes)
    written = read_as(_WrittenSchedule, node, all_mistakes, convert={"stages": _stages}) if node else None
    if written and node and not all_mistakes:
        all_mistakes += _limits(written, node)
    into.diagnostics += all_mistakes
    if written is None or all_mistakes:
        return None
    return schedule(_with_buffers(written), written.tiles)


def _stages(node: Node, mistakes: list[Diagnostic]) -> tuple[PipelineStage, ...]:
    stages: list[PipelineStage] = []
    for name, child in entries_of(node, mistakes).items():
        short = isinstance(child.value, int)
        one = _Stage(int(child.text)) if short else read_as(_Stage, child, mistakes, noun="key of a stage")
        known = [stage.name for stage in stages]
        if one.after is None:
            after: tuple[str, ...] = tuple(known[-1:])
        else:
            mistakes += [unknown_word("earlier stage", r.name, r.span, known) for r in one.after if r.name not in known]
            after = tuple(ref.name for ref in one.after if ref.name in known)
        stages.append(PipelineStage(name, one.steps, after, one.buffers))
        if (not short and one.buffers < 0) or one.steps < 1:
            mistakes.append(_wrong(child, f"stage `{name}`: steps are 1 or more, buffers 0 or more"))
    return tuple(stages)


def _limits(written: _WrittenSchedule, node: Node) -> Iterator[Diagnostic]:
    for name, number in (("tiles", written.tiles), ("buffers", written.buffers)):
        if number < 1:
            yield _wrong(node.get(name) or node, f"`{name}` is 1 or more")
    if not written.stages:
        yield _wrong(node.get("stages") or node, "there is no stage")
    if written.tiles * sum(stage.steps for stage in written.stages) > _LONGEST:
        yield _wrong(node.get("tiles") or node, f"more than {_LONGEST} steps: no figure shows them")


def _wrong(node: Node, message: str) -> Diagnostic:
    return Diagnostic("SG132", message, node.span)


def _with_buffers(written: _WrittenSchedule) -> tuple[PipelineStage, ...]:
    """Return the stages; a stage without a number of buffers gets the number that is set for all stages."""
    return tuple(PipelineStage(s.name, s.steps, s.after, s.buffers or written.buffers) for s in written.stages)
