"""The candidates of a job, one after the other in this process → a line of JSON each, with figures from a few rounds.

Its arguments are FD JOB FOLDER NAME…: the lines go to the pipe FD, JOB is a kernel job, FOLDER holds its sources.
The fork server starts it, and has imported torch.  Evaluator answers the same requests as in a run.  The baseline and a
copy of the workload's bytes by torch take turns with each candidate.  After a fault of the GPU the process ends itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import torch

from sitegen.measure.clock import NoPowerMeter
from sitegen.measure.evaluator import Evaluator
from sitegen.measure.faults import failure_of
from sitegen.measure.inputs import generator
from sitegen.measure.job_timing import GRAPH_BELOW_US
from sitegen.measure.memory_plan import set_room_in_one_process
from sitegen.measure.merging import merge
from sitegen.measure.performance import performance_of
from sitegen.measure.protocol import END, Channel
from sitegen.measure.requests import ChildTask, Plan, TakeTurn
from sitegen.measure.rounds import Timings, TurnKind, TurnResult, samples_per_turn
from sitegen.measure.timing import FIRST_SEED, BufferSet, CallTimer, give_back_memory
from sitegen.measure.workload import least_bytes, set_count
from sitegen.model.job import KernelJob
from sitegen.model.kernel import Status
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.record import Correctness, Evaluation, Performance, Role

ROUNDS = 6
"""Rounds of each candidate, all in this process: enough for a rough interval, too few for a record."""
COPY = "copy"
_SIDE_BY_SIDE = 3
"""The candidate, the baseline and the copy hold buffers at the same time."""
TakeSamples = Callable[[int], TurnResult]


def main(arguments: list[str]) -> None:
    """Send the facts of the GPU, then the beginning and the evaluation of each candidate, and END."""
    pipe, job_file, folder, *names = arguments
    job = from_plain(KernelJob, json.loads(Path(job_file).read_text(encoding="utf-8")))
    channel = Channel(int(pipe), int(pipe))
    process = TryProcess(job, Path(job_file), Path(folder), lambda text: channel.send({"warning": text}))
    evaluate_all(process, names, channel)
    channel.send(END)


def evaluate_all(process: TryProcess, names: Iterable[str], channel: Channel) -> None:
    """Send the facts of the GPU, then the beginning and the evaluation of each candidate.

    After a fault of the GPU this process ends.
    """
    channel.send({"environment": to_plain(process.start())})
    for name in names:
        channel.send({"begin": name})
        evaluation, log = process.evaluate(name)
        channel.send({"evaluation": to_plain(evaluation), "log": log})
        if evaluation.status.failed and not _context_works(evaluation.status):
            os._exit(1)


class TryProcess:
    """Evaluates candidates beside one baseline and one copy."""

    def __init__(
        self, job: KernelJob, job_file: Path, folder: Path, warn: Callable[[str], None], rounds: int = ROUNDS
    ) -> None:
        self._job, self._folder, self._warn, self._rounds = job, folder, warn, rounds
        self._task = partial(ChildTask, job_file, folder=folder)
        self._baseline: Evaluator | None = None
        self._other_core = ThreadPoolExecutor(1)

    def start(self) -> Any:
        """Create the CUDA context, prepare the baseline, and return the facts of the GPU."""
        first = Evaluator(self._task(role=Role.BASELINE, name=next(iter(self._job.kernel.baselines), "")))
        first.start()
        if self._job.kernel.baselines:
            try:
                first.prepare()
                first.first_calls((self._job.workload.dims,))
                self._baseline = first
            except Exception as error:
                self._warn(f"no ratio to {self._job.kernel.baselines[0]}: {failure_of(error, self._folder).message}")
        return first.environment()

    def evaluate(self, name: str) -> tuple[Evaluation, str]:
        """Return the evaluation of a candidate, and the log of its failure; a failure becomes its status."""
        evaluator = Evaluator(self._task(role=Role.IMPLEMENTATION, name=name))
        give_back_memory()
        try:
            correctness = self._check(evaluator)
            # listings take 0.4 s of another core, and the times beside them are rough anyway
            listing = self._other_core.submit(evaluator.listing(self._job.workload.dims))
            performance = self._time(name, evaluator)
            made = listing.result()
        except Exception as error:
            why = failure_of(error, self._folder, evaluator.implementation)
            return self._evaluation(name, why.status, why.message), why.log
        passed = self._evaluation(
            name,
            Status.PASSED,
            made.missing,
            correctness=correctness,
            performance=performance,
            compilation=made.compilation,
            launch=made.launch,
        )
        return passed, ""

    def _check(self, evaluator: Evaluator) -> Correctness:
        """Compile, and check at the small shapes and at the workload."""
        shapes, at_size = tuple(self._job.kernel.checks), (self._job.workload.dims,)
        evaluator.prepare()
        evaluator.first_calls((*shapes, *at_size))
        checked = evaluator.check(at_size)
        return merge(evaluator.check(shapes), checked) if shapes else checked

    def _time(self, name: str, candidate: Evaluator) -> Performance:
        """Take the rounds of a candidate, its baseline and the copy; check the last output."""
        sets, resident = self._sets()
        plan = Plan(self._job.workload.dims, sets, resident)
        evaluators = {name: candidate} | ({self._job.kernel.baselines[0]: self._baseline} if self._baseline else {})
        estimates = {one: evaluator.plan(plan).estimate_us for one, evaluator in evaluators.items()}
        copy = _copy_timer(sum(least_bytes(self._job)), sets, resident)
        estimates[COPY] = copy.prepare()
        short = min(estimates[one] for one in evaluators) < GRAPH_BELOW_US
        uses = {one: evaluator.use_graph() for one, evaluator in evaluators.items()} if short else {}
        if short:
            copy.use_graph()
        calls = {one: max(1, use.graph_calls) for one, use in uses.items()} | {COPY: max(1, copy.graph_calls)}
        sample_us = {one: us * calls.get(one, 1) for one, us in estimates.items()}
        takers: dict[str, TakeSamples] = {one: partial(_turn, each, one == name) for one, each in evaluators.items()}
        samples = samples_per_turn(sample_us, calls)
        timings = take_rounds({**takers, COPY: partial(_copy_turn, copy)}, samples, self._rounds)
        candidate.recheck()
        compared = next((one for one in evaluators if one != name), None)
        use = uses.get(name)
        graph, launch_bound = (use.graph, use.launch_bound) if use else (False, False)
        return performance_of(name, timings, compared, graph=graph, launch_bound=launch_bound, allocates=False)

    def _sets(self) -> tuple[int, bool]:
        """Return the number of sets of buffers, and whether they stay in memory between turns."""
        properties, size = torch.cuda.get_device_properties(0), sum(least_bytes(self._job))
        room = set_room_in_one_process(self._job, _SIDE_BY_SIDE, properties.total_memory)
        sets = set_count(size, properties.L2_cache_size, room)
        return sets, sets * size <= room

    def _evaluation(self, name: str, status: Status, message: str, **fields: Any) -> Evaluation:
        job = self._job
        place = (Role.IMPLEMENTATION, name, job.workload.name, job.dtype)
        return Evaluation(*place, run="", status=status, params=job.params, message=message, **fields)


def take_rounds(takers: Mapping[str, TakeSamples], samples: Mapping[str, int], rounds: int = ROUNDS) -> Timings:
    """Return the turns of each name, of so many samples; every second round is in the reverse order."""
    timings = Timings(compared_with=tuple(takers)[1:])
    for number in range(rounds):
        for name in list(takers)[:: -1 if number % 2 else 1]:
            timings.turns.setdefault(name, []).append(takers[name](samples[name]))
    return timings


def _turn(evaluator: Evaluator, keep: bool, samples: int) -> TurnResult:
    """Take one plain turn; the buffers of the candidate stay, because its last output is checked."""
    return evaluator.turn(TakeTurn(TurnKind.PLAIN, samples, keep))


def _copy_turn(copy: CallTimer, samples: int) -> TurnResult:
    result = copy.turn(TurnKind.PLAIN, samples)
    copy.finish_turn()
    return result


def _copy_timer(total_bytes: int, sets: int, resident: bool) -> CallTimer:
    """Return the timer of torch's copy of half as many bytes, which are random, so that as many are moved in all."""
    count = max(1, total_bytes // 8)

    def make(index: int) -> BufferSet:
        source = generator("cuda", FIRST_SEED + index)
        bits = torch.randint(-(2**31), 2**31 - 1, (count,), dtype=torch.int32, device="cuda", generator=source)
        return BufferSet([bits], [torch.empty_like(bits)])

    return CallTimer(lambda one: one.outs[0].copy_(one.inputs[0]), make, sets, resident, None, NoPowerMeter())


def _context_works(status: Status) -> bool:
    """Return whether this process can still launch kernels; after a launch that hangs it cannot."""
    if status is Status.TIMEOUT:
        return False
    try:
        torch.cuda.synchronize()
    except Exception:
        return False
    return True
