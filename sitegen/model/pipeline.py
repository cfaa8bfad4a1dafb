"""Stages with durations, dependencies and buffers → when each of them works on which tile.

Every stage takes the tiles in order, one at a time.  It begins a tile when it is free, when the stages that it comes
after are done with that tile, and when one of its buffers is: a buffer is held until all that come after the stage
are done with the tile in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    name: str
    steps: int
    """How long one tile takes, at least 1."""
    after: tuple[str, ...] = ()
    """Names of earlier stages."""
    buffers: int = 1
    """Places for its results."""


@dataclass(frozen=True, slots=True)
class Schedule:
    stages: tuple[Stage, ...]
    tiles: int
    starts: Mapping[str, tuple[int, ...]]
    """By stage, the step at which it begins each tile."""

    @property
    def total(self) -> int:
        """Steps until the last stage is done."""
        return max(self.starts[stage.name][-1] + stage.steps for stage in self.stages)

    @property
    def alone(self) -> int:
        """Steps of the same work, one thing after another."""
        return self.tiles * sum(stage.steps for stage in self.stages)

    def busy(self, stage: Stage) -> float:
        """The share of the total in which a stage works."""
        return self.tiles * stage.steps / self.total

    @property
    def overlapped(self) -> int:
        """Steps in which two stages or more work."""
        working = [0] * self.total
        for stage in self.stages:
            for start in self.starts[stage.name]:
                for step in range(start, start + stage.steps):
                    working[step] += 1
        return sum(count > 1 for count in working)


def schedule(stages: tuple[Stage, ...], tiles: int) -> Schedule:
    """`stages` in an order in which each stands behind those that it comes after."""
    starts: dict[str, list[int]] = {stage.name: [] for stage in stages}
    steps = {stage.name: stage.steps for stage in stages}
    users = {stage.name: [s.name for s in stages if stage.name in s.after] for stage in stages}
    for tile in range(tiles):
        for stage in stages:
            done = [starts[name][tile] + steps[name] for name in stage.after]
            freed = tile - stage.buffers
            done += [starts[name][freed] + steps[name] for name in users[stage.name]] if freed >= 0 else []
            done += [starts[stage.name][-1] + stage.steps] if tile else []
            starts[stage.name].append(max(done, default=0))
    return Schedule(stages, tiles, {name: tuple(times) for name, times in starts.items()})
