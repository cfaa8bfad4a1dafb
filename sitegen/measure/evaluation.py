"""The state of each evaluation while its job runs, and with the turns of the rounds → `Evaluation`s and artefacts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event

from sitegen.measure.artefacts import artefact_name, digest_of_log, log_artefact, pack
from sitegen.measure.performance import performance_of, samples_artefact
from sitegen.measure.process import Child
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.requests import CollectedArtefacts
from sitegen.measure.rounds import Timings
from sitegen.model.job import KernelJob, Key
from sitegen.model.kernel import Implementation, Status
from sitegen.model.record import Correctness, Evaluation, Performance, Role


@dataclass(frozen=True, slots=True)
class TimingPlan:
    """Plan by which an implementation, baseline or probe is timed."""

    sets: int
    """Sets of inputs and outputs over which calls rotate."""
    resident: bool
    """True when the sets stay in memory between turns."""
    estimate_us: float
    """Device time of one call."""
    chosen: str = ""
    """Name of the fastest way of a memory probe; empty for others."""
    graph: bool = False
    graph_calls: int = 0
    launch_bound: bool = False

    @property
    def sample_us(self) -> float:
        """Device time of one sample: of a call, or of a graph of many calls."""
        return max(1, self.graph_calls) * self.estimate_us


@dataclass(slots=True)
class PendingEvaluation:
    """An implementation, baseline or probe of the job that runs: its process, and what is known of it so far.

    `status` is None as long as no process of it has failed; a failure in any of its processes ends it.
    """

    role: Role
    name: str
    implementation: Implementation | None = None
    child: Child | None = None
    """The process of the present generation."""
    next_children: list[Child] = field(default_factory=list)
    """The processes of the next generations, in order."""
    compiled: Event = field(default_factory=Event)
    """Set when its first process has compiled everything, so that the next ones find the compiled code."""
    later_failure: EvaluationEnded | None = None
    """Why a process of a later generation has failed already.  It counts only when the first process passes its checks,
    whose message says more."""
    status: Status | None = None
    message: str = ""
    log: str = ""
    """All that a compiler or a process printed when it failed; empty when the message says everything."""
    allocates: bool = False
    correctness: Correctness | None = None
    plan: TimingPlan | None = None
    collected: CollectedArtefacts = field(default_factory=CollectedArtefacts)

    def end(self, why: EvaluationEnded) -> None:
        """Record why the evaluation has ended."""
        self.status, self.message, self.log = why.status, why.message, why.log

    def use_next_child(self) -> None:
        """Continue with the process of the next generation; the present one must have been ended."""
        self.child = self.next_children.pop(0) if self.next_children else None

    @property
    def running(self) -> bool:
        return self.status is None and self.child is not None

    @property
    def passed(self) -> bool:
        return self.status in (None, Status.PASSED)

    @property
    def process(self) -> Child:
        """The process of the present generation, which must exist."""
        assert self.child is not None
        return self.child

    @property
    def timing(self) -> TimingPlan:
        """The plan of its timing, which must exist."""
        assert self.plan is not None
        return self.plan


def evaluation_of(pending: PendingEvaluation, job: KernelJob, timings: Timings, baseline: str | None) -> Evaluation:
    """Return what is stored of an evaluation, with performance only when it passed and was timed.

    `baseline` is the one whose ratio decides whether the rounds have converged.
    """
    key = job.keys.get(pending.name, Key("")) if pending.role is Role.IMPLEMENTATION else Key("")
    timed = _was_timed(pending, timings)
    implementation = pending.implementation
    return Evaluation(
        role=pending.role,
        name=pending.name,
        workload=job.workload.name,
        dtype=job.dtype,
        run="",
        status=Status.PASSED if pending.passed else pending.status or Status.NOT_RUN,
        key=key.digest,
        key_parts=key.parts,
        params=job.params,
        message=pending.message,
        correctness=pending.correctness if pending.passed else None,
        performance=_performance(pending, timings, baseline) if timed else None,
        compilation=pending.collected.compilation,
        launch=pending.collected.launch,
        predicts=implementation.predicts if implementation else "",
        predicted_of_ceiling=implementation.predicted_of_ceiling if implementation else None,
        samples=hashlib.sha256(samples_artefact(timings, pending.name)).hexdigest() if timed else "",
        log=digest_of_log(pending.log),
    )


def artefacts_of(evaluations: Sequence[PendingEvaluation], timings: Timings) -> dict[str, str]:
    """Return compiled code, samples of what was timed, and logs of what failed.

    They are base64 of gzip by `<sha256>.<ptx|sass|samples|log>`.
    """
    artefacts: dict[str, str] = {}
    for pending in evaluations:
        artefacts |= {**pending.collected.artefacts, **log_artefact(pending.log)}
        if _was_timed(pending, timings):
            content = samples_artefact(timings, pending.name)
            artefacts |= {artefact_name(content, "samples"): packed} if (packed := pack(content)) else {}
    return dict(sorted(artefacts.items()))


def _was_timed(pending: PendingEvaluation, timings: Timings) -> bool:
    return pending.passed and bool(timings.turns.get(pending.name))


def _performance(pending: PendingEvaluation, timings: Timings, baseline: str | None) -> Performance:
    plan = pending.plan
    return performance_of(
        pending.name,
        timings,
        baseline,
        graph=plan is not None and plan.graph,
        launch_bound=plan is not None and plan.launch_bound,
        allocates=pending.allocates,
    )
