"""Everybody who is evaluated in a job, and what is known of each so far → `Evaluation`s."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from sitegen.measure.artefacts import artefact_name, pack
from sitegen.measure.process import Child
from sitegen.measure.protocol import Ended
from sitegen.measure.rounds import Race, converged
from sitegen.measure.statistics import median_interval, quantile, ratio_interval, round_medians
from sitegen.model.job import KernelJob, Key
from sitegen.model.kernel import Implementation, Status
from sitegen.model.plain import from_plain
from sitegen.model.record import Compilation, Correctness, Evaluation, LaunchRecord, Performance, Ratio, Role


@dataclass(slots=True)
class Contestant:
    """An implementation, a baseline or a probe on its way through a job; `status` is None while it is in it."""

    role: Role
    name: str
    implementation: Implementation | None = None
    child: Child | None = None
    status: Status | None = None
    message: str = ""
    allocates: bool = False
    correctness: Correctness | None = None
    plan: Mapping[str, Any] = field(default_factory=dict)
    collected: Mapping[str, Any] = field(default_factory=dict)

    def ended(self, why: Ended) -> None:
        self.status, self.message = why.status, why.message

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
    name = contestant.name
    rounds = race.rounds(name)
    interval = median_interval(rounds)
    samples = [us for samples in rounds for us in samples]
    clock = _median(turn.clock_mhz for turn in race.turns[name])
    return Performance(
        median_us=interval.value,
        p20_us=quantile(samples, 0.2),
        p80_us=quantile(samples, 0.8),
        min_us=min(samples),
        low_us=interval.low,
        high_us=interval.high,
        samples=len(samples),
        rounds_us=tuple(round_medians(rounds)),
        ratios=tuple(_ratio(race, other, name) for other in race.turns if other != name and other in race.yardsticks),
        graph=bool(contestant.plan.get("graph")),
        launch_bound=bool(contestant.plan.get("launch_bound")),
        allocates=contestant.allocates,
        converged=converged(race, name, baseline),
        sm_clock_mhz=clock,
        power_w=_median(turn.power_w for turn in race.turns[name]),
        cycles=interval.value * clock if clock else None,
    )


def samples_artefact(race: Race, name: str) -> bytes:
    """The raw samples as compact JSON: a list per round, microseconds to a tenth of a nanosecond."""
    rounds = [[round(us, 4) for us in samples] for samples in race.rounds(name)]
    return json.dumps({"rounds_us": rounds}, separators=(",", ":")).encode()


def artefacts_of(contestants: list[Contestant], race: Race) -> dict[str, str]:
    """Packed, by `<sha256>.<kind>`, of everybody who passed or failed."""
    found: dict[str, str] = {}
    for contestant in contestants:
        found |= contestant.collected.get("artefacts", {})
        if contestant.passed and race.turns.get(contestant.name):
            content = samples_artefact(race, contestant.name)
            found |= {artefact_name(content, "samples"): packed} if (packed := pack(content)) else {}
    return dict(sorted(found.items()))


def _ratio(race: Race, other: str, name: str) -> Ratio:
    found = ratio_interval(race.rounds(other), race.rounds(name))
    return Ratio(other, found.value, found.low, found.high)


def _median(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _optional(cls: type[Any], data: Any) -> Any:
    return from_plain(cls, data) if data else None
