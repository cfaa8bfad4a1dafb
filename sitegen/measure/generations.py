"""Contestants that passed their checks → a `Race`, timed by generations of processes, one after the other.

The next generations are prepared while the first makes its first calls and is checked, when nothing is timed; their
first calls wait until all is compiled, and find it.  Each gets sets and graphs when it takes over, after every process
of the one before has ended: only one generation holds memory at a time.  Where the GPU is too small for so many
contexts, and when there is doubt, further ones are started between generations, two at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from threading import Event
from typing import Any

from sitegen.measure.contestant import Contestant
from sitegen.measure.doubt import in_doubt
from sitegen.measure.process import Child
from sitegen.measure.protocol import Ended
from sitegen.measure.rounds import (
    GENERATIONS,
    MORE_GENERATIONS,
    Kind,
    Race,
    Rules,
    TurnResult,
    run_rounds,
    samples_per_turn,
)
from sitegen.measure.stage import (
    EVALUATION_S,
    PREPARE_S,
    Noted,
    Stage,
    child_of,
    end_all,
    end_children,
    guarded,
    out,
    side_by_side,
)
from sitegen.measure.workload import bytes_of, checks_at_once, fitting, is_matrix, set_count
from sitegen.model.gpu import gpu_id
from sitegen.model.job import KernelJob
from sitegen.model.plain import from_plain
from sitegen.model.record import Role

WARM_S = 0.2
"""The baseline runs so long before the first round of a generation, so that all start from the same clock."""
RESIDENT_SHARE, LATE_CALL_SHARE = 0.5, 0.15
"""Of the GPU's memory: what all children's sets may take together, and first calls while others are checked."""
RECHECK_SHARE = 0.25
"""Of the GPU's memory, beside the sets: what checks of the last outputs may take together."""
CONTEXT_SHARE, CONTEXT_BYTES = 0.25, 700 << 20
"""Of the GPU's memory: what the contexts of all processes may take that are there at a time; and what one takes on an
H200 with torch."""
GRAPH_BELOW_US = 20.0


@contextmanager
def next_generations(job: KernelJob, contestants: Sequence[Contestant], stage: Stage) -> Iterator[Event]:
    """Prepares the next processes while the block runs, which sets the event when the first generation has compiled
    everything; at its end all are ready, or known to be faulty.
    """
    compiled = Event()
    if not stage.gpu:
        yield compiled
        return
    with ThreadPoolExecutor(1) as pool:
        ready = pool.submit(_prepare, job, contestants, stage, compiled)
        try:
            yield compiled
        except BaseException:
            end_all(contestants)
            raise
        finally:
            compiled.set()
        with stage.timed("next generations"):
            ready.result()
    for contestant in contestants:
        if contestant.running and contestant.late:
            contestant.ended(contestant.late)


def _prepare(job: KernelJob, contestants: Sequence[Contestant], stage: Stage, compiled: Event) -> None:
    """A fault is put down apart: what the first process says of the code comes first."""

    def late(contestant: Contestant, why: Ended) -> None:
        contestant.late = why

    contexts = GENERATIONS * len(contestants) * CONTEXT_BYTES
    last = GENERATIONS if contexts <= CONTEXT_SHARE * stage.memory_bytes else 2
    _start(contestants, stage, range(2, last + 1))
    side_by_side(contestants, stage, _prepare_successors, noted=late)
    compiled.wait()
    _first_calls(job, [c for c in contestants if c.late is None], stage, late)


def _start(contestants: Iterable[Contestant], stage: Stage, numbers: Iterable[int]) -> None:
    """Further processes of everybody."""
    for number, contestant in product(numbers, [c for c in contestants if c.running]):
        contestant.successors.append(stage.start(contestant.role, contestant.name, generation=number))


def _prepare_successors(contestant: Contestant) -> None:
    _ask_all(contestant.successors, "prepare")


def _first_calls(job: KernelJob, contestants: Iterable[Contestant], stage: Stage, noted: Noted = out) -> None:
    """Of all successors, at the workload."""
    ours = [c for c in contestants if c.role is not Role.PROBE]
    most = max((len(c.successors) for c in ours), default=1)
    at_once = fitting(LATE_CALL_SHARE, stage.memory_bytes, most * sum(bytes_of(job)), most=max(1, len(ours)))
    shapes = [dict(job.workload.dims)]
    side_by_side(ours, stage, lambda c: _ask_all(c.successors, "first", shapes=shapes), at_once, noted)


def _ask_all(children: Sequence[Child], do: str, **arguments: Any) -> None:
    """Side by side.  Raises Ended as the first of them does."""
    with ThreadPoolExecutor(max(1, len(children))) as pool:
        list(pool.map(lambda child: child.ask(do, PREPARE_S, **arguments), children))


def time_all(job: KernelJob, contestants: Sequence[Contestant], stage: Stage) -> Race:
    """All who are still in it; an empty race when no implementation is."""
    if not stage.gpu or not any(c.running and c.role is Role.IMPLEMENTATION for c in contestants):
        return Race()
    with stage.timed("plan"):
        side_by_side(contestants, stage, lambda c: _plan(c, job, stage, len(contestants)), at_once=1)
        short = _calls_are_short(contestants)
        if short:
            side_by_side(contestants, stage, _use_graph, at_once=1)
    running = {c.name: c for c in contestants if c.running}
    rules = Rules(
        judged=tuple(name for name, c in running.items() if c.role is Role.IMPLEMENTATION),
        baseline=first_baseline(contestants, None),
        seed=_seed(job.id),
        matrix=is_matrix(job) and not short,
    )
    samples = samples_per_turn({name: _sample_us(c) for name, c in running.items()})
    track = Track(job, stage, contestants, running, rules, samples)
    track.warm()
    race = run_rounds(list(running), rules, track.turn, track.take_over, track.in_doubt)
    track.recheck()
    for name in (name for name, c in running.items() if not c.running):
        race.drop(name)
    race.yardsticks = tuple(c.name for c in contestants if c.role is not Role.IMPLEMENTATION)
    return race


def first_baseline(contestants: Sequence[Contestant], race: Race | None) -> str | None:
    """To whom ratios are taken: the first baseline that passed."""
    names = [c.name for c in contestants if c.role is Role.BASELINE and c.passed]
    return next((name for name in names if race is None or name in race.turns), None)


@dataclass(frozen=True, slots=True)
class Track:
    """What `run_rounds` asks of the children."""

    job: KernelJob
    stage: Stage
    contestants: Sequence[Contestant]
    running: Mapping[str, Contestant]
    """Those who took part in the first round, by name."""
    rules: Rules
    samples: Mapping[str, int]

    def turn(self, name: str, kind: Kind, recheck: bool) -> TurnResult | None:
        contestant, taken = self.running[name], list[TurnResult]()
        if not contestant.running:
            return None
        with self.stage.timed("time"):
            guarded(contestant, self.stage, lambda c: taken.append(self._take(c, kind, keep=recheck)))
        if recheck and contestant.running and not contestant.plan["resident"]:
            self._recheck([contestant])
        return taken[0] if contestant.running else None

    def recheck(self) -> None:
        """The last outputs of a generation, once all are timed: what lies in memory until then, side by side."""
        self._recheck([c for c in self.running.values() if c.running and c.plan["resident"]])

    def _recheck(self, contestants: Sequence[Contestant]) -> None:
        at_once = checks_at_once(self.job, RECHECK_SHARE, self.stage.memory_bytes)
        with self.stage.timed("recheck"):
            side_by_side(contestants, self.stage, _recheck, at_once)

    def _take(self, contestant: Contestant, kind: Kind, keep: bool) -> TurnResult:
        samples = self.samples[contestant.name]
        found = child_of(contestant).ask_within_budget("turn", EVALUATION_S, kind=kind, samples=samples, keep=keep)
        return from_plain(TurnResult, found)

    def in_doubt(self, race: Race) -> bool:
        """Against what the record says of this model of GPU."""
        gpu = gpu_id(self.stage.environment.gpu) if self.stage.environment else ""
        previous = {name: one for name, one in self.job.previous.items() if one.gpu == gpu}
        return in_doubt(race, self.rules.judged, previous, self.job.kernel.baselines)

    def take_over(self, generation: int) -> None:
        """The next generation in place of the present one."""
        self.recheck()
        with self.stage.timed("take over"):
            gone = [child for c in self.contestants if not c.running for child in c.successors]
            end_children([*gone, *(c.child for c in self.contestants if c.child is not None)])
        if not any(c.successors for c in self.running.values()):
            self._start_more(generation)
        for contestant in self.running.values():
            contestant.renew()
        with self.stage.timed("plan"):
            side_by_side(self.running.values(), self.stage, self._resume)
        self.warm()

    def _start_more(self, generation: int) -> None:
        """Now, when nothing is timed, also the one after it."""
        with self.stage.timed("more generations"):
            _start(self.running.values(), self.stage, range(generation, generation + MORE_GENERATIONS))
            side_by_side(self.running.values(), self.stage, _prepare_successors)
            _first_calls(self.job, self.running.values(), self.stage)

    def _resume(self, contestant: Contestant) -> None:
        plan = contestant.plan
        known = {name: plan[name] for name in ("sets", "resident", "estimate_us", "graph_calls", "chosen")}
        child_of(contestant).ask_within_budget("resume", EVALUATION_S, dims=dict(self.job.workload.dims), **known)

    def warm(self) -> None:
        """Nothing before bursts, which begin with idleness."""
        if self.rules.baseline and self.running[self.rules.baseline].running and not self.rules.matrix:
            with self.stage.timed("plan"):
                guarded(self.running[self.rules.baseline], self.stage, _warm)


def _plan(contestant: Contestant, job: KernelJob, stage: Stage, children: int) -> None:
    reads, writes = bytes_of(job)
    size = reads if contestant.name == "read" and contestant.role is Role.PROBE else reads + writes
    l2_bytes = stage.environment.l2_bytes if stage.environment else 0
    room = RESIDENT_SHARE * stage.memory_bytes / children
    sets = set_count(size, l2_bytes, room)
    memory = {"sets": sets, "resident": sets * (reads + writes) <= room}
    found = child_of(contestant).ask_within_budget("plan", EVALUATION_S, dims=dict(job.workload.dims), **memory)
    contestant.plan = {**memory, **found}


def _calls_are_short(contestants: Sequence[Contestant]) -> bool:
    """One way of timing for all, since events add a microsecond or two that a graph does not."""
    rivals = [c for c in contestants if c.running and c.role is not Role.PROBE]
    return any(c.plan["estimate_us"] < GRAPH_BELOW_US for c in rivals)


def _sample_us(contestant: Contestant) -> float:
    """Of one call, or of a graph of many."""
    calls: int = contestant.plan["graph_calls"]
    return max(1, calls) * float(contestant.plan["estimate_us"])


def _use_graph(contestant: Contestant) -> None:
    found = child_of(contestant).ask_within_budget("use_graph", EVALUATION_S)
    contestant.plan = {**contestant.plan, **found}


def _recheck(contestant: Contestant) -> None:
    child_of(contestant).ask_within_budget("recheck", EVALUATION_S)


def _warm(contestant: Contestant) -> None:
    child_of(contestant).ask("warm", EVALUATION_S, for_s=WARM_S)


def _seed(text: str) -> int:
    """Of the order of rounds: the same job, the same order."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
