"""Jobs with their expected seconds → the order of a run; and seconds in an order → when each job runs on which GPU.

`simulate` hands out jobs as `local.py` does: a GPU that is idle takes the next job of the queue, and a job whose worker
is lost goes to the front.  Graham's bound for such a queue is 2 - 1/n of the best makespan on n GPUs in any order, and
4/3 when the longest jobs come first.

The GPUs of a host share its driver, which creates and ends CUDA contexts for one process at a time.  `simulate_steps`
counts that, for jobs that are given as steps: several steps that need the driver at once are slower by their number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from sitegen.model.job import CeilingsJob, InspectJob, Job

ROUNDING_S = 1e-9
"""Seconds that a step may have left by rounding when it ends."""


def longest_first(jobs: Sequence[Job], seconds: Mapping[str, float], ranks: Mapping[str, int]) -> tuple[Job, ...]:
    """Return the jobs in the order of a run: ceilings, then by rank, and within a rank the longest first.

    The tools come last of a rank: they call what the other jobs of a kernel call, too, and find it compiled.
    `seconds` and `ranks` are by the id of a job; a job without a rank has 0.  Equally long jobs keep their order.
    """

    def place(job: Job) -> tuple[bool, int, bool, float]:
        tools = isinstance(job, InspectJob)
        return not isinstance(job, CeilingsJob), ranks.get(job.id, 0), tools, -seconds[job.id]

    return tuple(sorted(jobs, key=place))


class Needs(Enum):
    """The resource of a host that a step of a job shares with jobs on other GPUs."""

    NOTHING = "nothing"
    DRIVER = "the driver, beside others"
    TURN = "the driver, in turn"
    """As `DRIVER`, and the step waits until no earlier step with this need is under way (measure/driver_turns.py)."""


@dataclass(frozen=True, slots=True)
class Step:
    """A part of a job."""

    seconds: float
    """Seconds that it takes while no other job needs the driver."""
    needs: Needs = Needs.NOTHING


@dataclass(frozen=True, slots=True)
class Loss:
    """A worker that is lost at a time, and starts again."""

    gpu: int
    at: float
    """Seconds since the start of the run."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One job on one GPU, from start to end or until its worker was lost."""

    gpu: int
    job: int
    """The job's number in the queue."""
    began: float
    ended: float
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Schedule:
    """The turns of a run, in the order in which they ended."""

    turns: tuple[Turn, ...]

    @property
    def makespan(self) -> float:
        """Seconds from the start of the run to the end of its last job."""
        return max((turn.ended for turn in self.turns), default=0.0)


def simulate(seconds: Sequence[float], gpus: int, start_s: float = 0.0, losses: Sequence[Loss] = ()) -> Schedule:
    """Return the schedule of a queue of jobs on so many equal GPUs that share nothing.

    `start_s` is what a worker does before its first job, such as the ceilings; a worker that takes the place of a lost
    one does it again.
    """
    return simulate_steps([(Step(one),) for one in seconds], gpus, start_s, losses)


def simulate_steps(
    jobs: Sequence[Sequence[Step]], gpus: int, start_s: float = 0.0, losses: Sequence[Loss] = ()
) -> Schedule:
    """Return the schedule of a queue of jobs on so many equal GPUs of one host; each job has at least one step."""
    queue = _Queue(deque(range(len(jobs))), deque(range(gpus)))
    while queue.waiting or queue.running:
        while queue.waiting and queue.idle:
            queue.start_next(jobs, start_s)
        queue.go_on(losses)
    return Schedule(tuple(queue.turns))


@dataclass(eq=False, slots=True)
class _Running:
    """A job on a GPU; the first of `steps` is under way or waits for its turn."""

    gpu: int
    job: int
    began: float
    steps: deque[Step]
    left: float = 0.0
    """Seconds that the first step would still take alone."""

    @property
    def needs(self) -> Needs:
        return self.steps[0].needs


@dataclass(slots=True)
class _Queue:
    """Jobs that wait and run, and GPUs that are idle, at one moment of a run."""

    waiting: deque[int]
    idle: deque[int]
    running: list[_Running] = field(default_factory=list)
    """In the order in which they began."""
    in_turn: list[_Running] = field(default_factory=list)
    """Jobs with a step that needs a turn, in the order in which they asked; the first has it."""
    turns: list[Turn] = field(default_factory=list)
    begun: set[int] = field(default_factory=set)
    """GPUs whose worker has done what comes before its first job."""
    now: float = 0.0

    def start_next(self, jobs: Sequence[Sequence[Step]], start_s: float) -> None:
        """Give the next job to an idle GPU."""
        gpu, job = self.idle.popleft(), self.waiting.popleft()
        before = [] if gpu in self.begun else [Step(start_s)]
        self.begun.add(gpu)
        self.running.append(_Running(gpu, job, self.now, deque([*before, *jobs[job]])))
        self._begin_step(self.running[-1])

    def go_on(self, losses: Iterable[Loss]) -> None:
        """Go on to the end of a step or to the loss of a worker, whichever comes first."""
        speeds = self._speeds()
        end = min(self.now + one.left / speed for one, speed in zip(self.running, speeds, strict=True) if speed)
        loss, lost = self._next_loss(losses)
        until = min(end, loss)
        for one, speed in zip(self.running, speeds, strict=True):
            one.left -= speed * (until - self.now)
        self.now = until
        if lost and loss < end:
            self._end(lost, lost=True)
        else:
            self._end_steps()

    def _speeds(self) -> list[float]:
        """Return how fast each job goes on: 1 alone, 0 while it waits for its turn."""
        waits = [one.needs is Needs.TURN and one is not self.in_turn[0] for one in self.running]
        shares = [one.needs is not Needs.NOTHING and not wait for one, wait in zip(self.running, waits, strict=True)]
        share = 1.0 / max(1, sum(shares))
        return [0.0 if wait else share if shared else 1.0 for wait, shared in zip(waits, shares, strict=True)]

    def _next_loss(self, losses: Iterable[Loss]) -> tuple[float, _Running | None]:
        """Return when the next worker is lost while it runs a job, and its job."""
        by_gpu = {one.gpu: one for one in self.running}
        coming = [(loss.at, by_gpu[loss.gpu]) for loss in losses if loss.at >= self.now and loss.gpu in by_gpu]
        found = [(at, one) for at, one in coming if one.began < at]
        return min(found, key=lambda one: one[0], default=(float("inf"), None))

    def _end_steps(self) -> None:
        """End each step that has no time left, and each job without another step."""
        for one in [one for one in self.running if one.left <= ROUNDING_S]:
            if len(one.steps) == 1:
                self._end(one)
            else:
                self._leave_turn(one)
                one.steps.popleft()
                self._begin_step(one)

    def _begin_step(self, one: _Running) -> None:
        one.left = one.steps[0].seconds
        if one.needs is Needs.TURN:
            self.in_turn.append(one)

    def _leave_turn(self, one: _Running) -> None:
        if one in self.in_turn:
            self.in_turn.remove(one)

    def _end(self, one: _Running, lost: bool = False) -> None:
        """Take a job off its GPU; a lost one goes to the front of the queue."""
        self._leave_turn(one)
        self.running.remove(one)
        self.turns.append(Turn(one.gpu, one.job, one.began, self.now, lost))
        self.idle.append(one.gpu)
        if lost:
            self.waiting.appendleft(one.job)
            self.begun.discard(one.gpu)


def least_makespan(seconds: Sequence[float], gpus: int, start_s: float = 0.0) -> float:
    """Return the seconds that no order can beat: the longest job, or all jobs shared evenly."""
    return start_s + max(max(seconds, default=0.0), sum(seconds) / gpus)
