"""Everybody who is evaluated in a job, and what is known of each so far → `Evaluation`s."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from sitegen.measure.artefacts import artefact_name, pack
from sitegen.measure.process import Child
from sitegen.measure.protocol import Ended
from sitegen.measure.rounds import Race, TurnResult, by_generation, converged, cycles, times
from sitegen.measure.statistics import (
    Rounds,
    median_interval,
    quantile,
    ratio_interval,
    round_medians,
    round_ratios,
)
from sitegen.model.job import KernelJob, Key
from sitegen.model.kernel import Implementation, Status
from sitegen.model.plain import from_plain
from sitegen.model.record import (
    Compilation,
    Correctness,
    Evaluation,
    LaunchRecord,
    Performance,
    Ratio,
    Role,
    Sustained,
)


@dataclass(slots=True)
class Contestant:
    """An implementation, a baseline or a probe on its way through a job, in one process after another; `status` is None
    while it is in it, and a fault in any process ends it."""

    role: Role
    name: str
    implementation: Implementation | None = None
    child: Child | None = None
    successors: list[Child] = field(default_factory=list)
    """Of the next generations, each until it takes over."""
    late: Ended | None = None
    """Why a process after the first is gone already: counts only if the first generation passes its checks."""
    status: Status | None = None
    message: str = ""
    allocates: bool = False
    correctness: Correctness | None = None
    plan: Mapping[str, Any] = field(default_factory=dict)
    collected: Mapping[str, Any] = field(default_factory=dict)

    def ended(self, why: Ended) -> None:
        self.status, self.message = why.status, why.message

    def renew(self) -> None:
        """The next one takes over; the present child must have been ended."""
        self.child = self.successors.pop(0) if self.successors else None

    @property
    def running(self) -> bool:
        return self.status is None and self.child is not None

    @property
    def passed(self) -> bool:
        return self.status in (None, Status.PASSED)


def evaluation_of(contestant: Contestant, job: KernelJob, race: Race, baseline: str | None) -> Evaluation:
    """What is stored of it; performance only when it passed and was timed."""
    key = job.keys.get(contestant.name, Key("")) if contestant.role is Role.IMPLEMENTATION else Key("")
    passed = contestant.passed
    timed = passed and bool(race.turns.get(contestant.name))
    implementation, collected = contestant.implementation, contestant.collected
    return Evaluation(
        role=contestant.role,
        name=contestant.name,
        workload=job.workload.name,
        dtype=job.dtype,
        run="",
        status=Status.PASSED if passed else contestant.status or Status.NOT_RUN,
        key=key.digest,
        key_parts=key.parts,
        params=job.params,
        message=contestant.message,
        correctness=contestant.correctness if passed else None,
        performance=performance_of(contestant, race, baseline) if timed else None,
        compilation=_optional(Compilation, collected.get("compilation")),
        launch=_optional(LaunchRecord, collected.get("launch")),
        predicts=implementation.predicts if implementation else "",
        predicted_of_ceiling=implementation.predicted_of_ceiling if implementation else None,
        samples=hashlib.sha256(samples_artefact(race, contestant.name)).hexdigest() if timed else "",
    )


def performance_of(contestant: Contestant, race: Race, baseline: str | None) -> Performance:
    name, turns = contestant.name, race.turns[contestant.name]
    by_process, in_cycles = times(turns, race.generations), cycles(turns, race.generations)
    interval = median_interval(by_process)
    samples = [us for turn in turns for us in turn.us]
    sustained = race.sustained.get(name)
    return Performance(
        median_us=interval.value,
        p20_us=quantile(samples, 0.2),
        p80_us=quantile(samples, 0.8),
        min_us=min(samples),
        low_us=interval.low,
        high_us=interval.high,
        samples=len(samples),
        rounds_us=tuple(round_medians([turn.us for turn in turns])),
        ratios=_ratios(race, race.turns, name, times),
        graph=bool(contestant.plan.get("graph")),
        launch_bound=bool(contestant.plan.get("launch_bound")),
        allocates=contestant.allocates,
        converged=converged(race, name, baseline),
        sm_clock_mhz=_median(turn.clock_mhz for turn in turns),
        power_w=_median(turn.power_w for turn in turns),
        cycles=median_interval(in_cycles).value if in_cycles else None,
        by_process_us=tuple(median(round_medians(rounds)) for rounds in by_process),
        cycle_ratios=_ratios(race, race.turns, name, cycles) if sustained else (),
        throttle=_throttle([*turns, *(sustained or [])]),
        sustained=_sustained(race, name) if sustained else None,
    )


def _sustained(race: Race, name: str) -> Sustained:
    turns = race.sustained[name]
    interval = median_interval(times(turns, race.generations))
    return Sustained(
        median_us=interval.value,
        low_us=interval.low,
        high_us=interval.high,
        samples=sum(len(turn.us) for turn in turns),
        rounds_us=tuple(round_medians([turn.us for turn in turns])),
        ratios=_ratios(race, race.sustained, name, times),
        sm_clock_mhz=_median(turn.clock_mhz for turn in turns),
        power_w=_median(turn.power_w for turn in turns),
    )


def samples_artefact(race: Race, name: str) -> bytes:
    """The raw samples as compact JSON: a list per round, microseconds to a tenth of a nanosecond, and beside them the
    SM clock of each round; of a matrix kernel its sustained rounds too.  `generations`: rounds of each."""
    turns, sustained = race.turns[name], race.sustained.get(name)
    content: dict[str, Any] = {
        "generations": [len(part) for part in by_generation(turns, race.generations)],
        **_raw("", turns),
    }
    content |= _raw("sustained_", sustained) if sustained else {}
    return json.dumps(content, separators=(",", ":")).encode()


def _raw(prefix: str, turns: list[TurnResult]) -> dict[str, Any]:
    return {
        f"{prefix}rounds_us": [[round(us, 4) for us in turn.us] for turn in turns],
        f"{prefix}clock_mhz": [None if turn.clock_mhz is None else round(turn.clock_mhz, 3) for turn in turns],
    }


def artefacts_of(contestants: list[Contestant], race: Race) -> dict[str, str]:
    """Packed, by `<sha256>.<kind>`, of everybody who passed or failed."""
    found: dict[str, str] = {}
    for contestant in contestants:
        found |= contestant.collected.get("artefacts", {})
        if contestant.passed and race.turns.get(contestant.name):
            content = samples_artefact(race, contestant.name)
            found |= {artefact_name(content, "samples"): packed} if (packed := pack(content)) else {}
    return dict(sorted(found.items()))


Unit = Callable[[Sequence[TurnResult], int], list[Rounds] | None]
"""Turns, how many generations took them → their samples by generation: `times` or `cycles`."""


def _ratios(race: Race, turns: Mapping[str, list[TurnResult]], name: str, unit: Unit) -> tuple[Ratio, ...]:
    """To every yardstick that ran, in turns of one kind; none where a clock is not known."""
    others = [other for other in turns if other != name and other in race.yardsticks]
    own = unit(turns[name], race.generations)
    both = [(other, unit(turns[other], race.generations), own) for other in others]
    return tuple(_ratio(other, theirs, own) for other, theirs, own in both if theirs and own)


def _ratio(other: str, theirs: list[Rounds], own: list[Rounds]) -> Ratio:
    found = ratio_interval(theirs, own)
    by_process = tuple(median(round_ratios(b, t)) for b, t in zip(theirs, own, strict=True))
    return Ratio(other, found.value, found.low, found.high, by_process)


def _throttle(turns: Sequence[TurnResult]) -> tuple[str, ...]:
    return tuple(sorted({reason for turn in turns for reason in turn.throttle}))


def _median(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _optional(cls: type[Any], data: Any) -> Any:
    return from_plain(cls, data) if data else None
