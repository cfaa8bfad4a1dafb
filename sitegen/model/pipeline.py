"""Schedule the stages of a pipeline, with durations, dependencies and buffers, over its tiles.

Every stage takes the tiles in order, one at a time.  A stage begins a tile when it has finished the tile before, when
the stages that it comes after have finished this tile, and when one of its buffers is free.  A buffer is held until
all stages that come after this one have finished the tile in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PipelineStage:
    """One stage of a pipeline."""

    name: str
    steps: int
    """Duration of one tile in time steps, at least 1."""
    after: tuple[str, ...] = ()
    """Names of earlier stages."""
    buffers: int = 1
    """Number of buffers for its results."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The times at which stages work on tiles."""

    stages: tuple[PipelineStage, ...]
    tiles: int
    starts: Mapping[str, tuple[int, ...]]
    """Time step at which a stage begins each tile, by the stage's name."""

    @property
    def total(self) -> int:
        """Time steps until the last stage is done."""
        return max(self.starts[stage.name][-1] + stage.steps for stage in self.stages)

    @property
    def alone(self) -> int:
        """Time steps of the same work without any overlap."""
        return self.tiles * sum(stage.steps for stage in self.stages)

    def busy(self, stage: PipelineStage) -> float:
        """Return the share of the total in which a stage works."""
        return self.tiles * stage.steps / self.total

    @property
    def overlapped(self) -> int:
        """Time steps in which two stages or more work."""
        working = [0] * self.total
        for stage in self.stages:
            for start in self.starts[stage.name]:
                for step in range(start, start + stage.steps):
                    working[step] += 1
        return sum(count > 1 for count in working)


def schedule(stages: tuple[PipelineStage, ...], tiles: int) -> Schedule:
    """Return the earliest schedule.  Each stage must stand behind those that it comes after."""
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
