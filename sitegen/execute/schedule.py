"""Jobs with their expected seconds → the order of a run; and seconds in an order → when each job runs on which GPU.

`simulate` hands out jobs as `local.py` does: a GPU that is idle takes the next job of the queue, and a job whose worker
is lost goes to the front.  Graham's bound for such a queue is 2 - 1/n of the best makespan on n GPUs in any order, and
4/3 when the longest jobs come first.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sitegen.model.job import CeilingsJob, Job


def longest_first(jobs: Sequence[Job], seconds: Mapping[str, float], ranks: Mapping[str, int]) -> tuple[Job, ...]:
    """Return the jobs in the order of a run: ceilings, then by rank, and within a rank the longest first.

    `seconds` and `ranks` are by the id of a job; a job without a rank has 0.  Equally long jobs keep their order.
    """
    order = {job.id: (not isinstance(job, CeilingsJob), ranks.get(job.id, 0), -seconds[job.id]) for job in jobs}
    return tuple(sorted(jobs, key=lambda job: order[job.id]))


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
    """Return the schedule of a queue of jobs on so many equal GPUs.

    `start_s` is what a worker does before its first job, such as the ceilings; a worker that takes the place of a lost
    one does it again.
    """
    queue = _Queue(deque(range(len(seconds))), deque(range(gpus)))
    while queue.waiting or queue.running:
        while queue.waiting and queue.idle:
            queue.start_next(seconds, start_s, losses)
        queue.end_first()
    return Schedule(tuple(queue.turns))


@dataclass(slots=True)
class _Queue:
    """Jobs that wait and run, and GPUs that are idle, at one moment of a run."""

    waiting: deque[int]
    idle: deque[int]
    running: list[tuple[float, int, Turn]] = field(default_factory=list)
    """A heap by the time at which each turn ends; of two at once, the one that began first."""
    turns: list[Turn] = field(default_factory=list)
    begun: set[int] = field(default_factory=set)
    """GPUs whose worker has done what comes before its first job."""
    now: float = 0.0

    def start_next(self, seconds: Sequence[float], start_s: float, losses: Sequence[Loss]) -> None:
        """Give the next job to an idle GPU."""
        gpu, job = self.idle.popleft(), self.waiting.popleft()
        end = self.now + seconds[job] + (0.0 if gpu in self.begun else start_s)
        self.begun.add(gpu)
        lost = min((one.at for one in losses if one.gpu == gpu and self.now < one.at < end), default=None)
        turn = Turn(gpu, job, self.now, end if lost is None else lost, lost is not None)
        heapq.heappush(self.running, (turn.ended, len(self.turns) + len(self.running), turn))

    def end_first(self) -> None:
        """Go on to the end of the turn that ends first."""
        self.now, _, turn = heapq.heappop(self.running)
        self.turns.append(turn)
        self.idle.append(turn.gpu)
        if turn.lost:
            self.waiting.appendleft(turn.job)
            self.begun.discard(turn.gpu)


def least_makespan(seconds: Sequence[float], gpus: int, start_s: float = 0.0) -> float:
    """Return the seconds that no order can beat: the longest job, or all jobs shared evenly."""
    return start_s + max(max(seconds, default=0.0), sum(seconds) / gpus)
