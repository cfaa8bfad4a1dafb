"""One implementation, baseline or probe in its own process: requests (requests.py) → replies.

Imports torch, so only a child process imports this module.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from sitegen.measure import correctness, requests
from sitegen.measure import runnable as runnables
from sitegen.measure.clock import LatePowerMeter, SmClock, sm_clock
from sitegen.measure.collect import collect
from sitegen.measure.correctness import KernelSetup
from sitegen.measure.device import limit_memory, require_arch, use_own_stream
from sitegen.measure.empty_kernel import time_empty_kernel
from sitegen.measure.environment import read_environment
from sitegen.measure.guarded_calls import LastCall, call_and_wait, wait
from sitegen.measure.imports import COMPILER, import_ahead
from sitegen.measure.launches import TritonWatch
from sitegen.measure.memory_probes import MemoryProbe, probe_runnable
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.requests import ChildTask, Request, Shapes
from sitegen.measure.rounds import TurnResult
from sitegen.measure.runnable import BaselineRunnable, Runnable
from sitegen.measure.timing import BufferSet, CallTimer, give_back_memory, make_set
from sitegen.measure.workload import is_matrix_kernel
from sitegen.model.job import UNJUDGED, KernelJob, RejectJob
from sitegen.model.kernel import Implementation, Kernel, Scalar, Status
from sitegen.model.plain import from_plain
from sitegen.model.record import Correctness, Environment, Role

Dims = Mapping[str, int]
COMPILED_BASELINE = "torch.compile"
"""The names of baselines begin with it when their compiler is imported ahead."""


class Evaluator:
    """State of one implementation, baseline or probe between requests.

    The parent sends `Prepare` before any request that calls the code, and `Plan` or `Resume` before any that times it.
    """

    def __init__(self, task: ChildTask) -> None:
        self.implementation: Implementation | None = None
        """The implementation under test, as soon as it is known."""
        self._task = task
        self._device = ""
        self._watch: TritonWatch | None = None
        self._clock: SmClock | None = None
        self._power = LatePowerMeter()
        self._prepared: tuple[KernelSetup, Runnable] | None = None
        self._timed: tuple[CallTimer, Dims] | None = None

    def answer(self, request: Request[Any]) -> Any:
        """Return the reply, of the type that the request names.  Raises whatever the code under test raises."""
        match request:
            case requests.ReadEnvironment():
                return self.environment()
            case requests.CheckHealth():
                return self.healthy()
            case requests.MeasureCeilings():
                return self.ceilings()
            case requests.Start():
                return self.start()
            case requests.Prepare():
                return self.prepare()
            case requests.MakeFirstCalls():
                return self.first_calls(request.shapes)
            case requests.Check():
                return self.check(request.shapes)
            case requests.CollectArtefacts():
                return self.artefacts(request.dims, last=True)
        return self._answer_timing(request)

    def _answer_timing(self, request: Request[Any]) -> Any:
        match request:
            case requests.Plan():
                return self.plan(request)
            case requests.Resume():
                return self.resume(request)
            case requests.TimeEmptyKernel():
                return self.empty_kernel()
            case requests.UseGraph():
                return self.use_graph()
            case requests.Warm():
                return self._timer.warm(request.for_s)
            case requests.TakeTurn():
                return self.turn(request)
            case requests.Recheck():
                return self.recheck()
        raise TypeError(f"a child does not answer {type(request).__name__}")

    def environment(self) -> Environment:
        """Return the facts of the GPU and the versions of the software."""
        return read_environment()

    def healthy(self) -> bool:
        """Return whether a known kernel on this GPU gives the known sum."""
        values = torch.arange(1 << 20, dtype=torch.int64, device="cuda") * 3
        wait()
        return int(values.sum()) == 3 * ((1 << 20) - 1) * (1 << 20) // 2

    def ceilings(self) -> requests.Ceilings:
        """Return the measured limits of the GPU."""
        from sitegen.measure.ceilings import measure_ceilings

        return requests.Ceilings(tuple(measure_ceilings()))

    def start(self) -> None:
        """Create the CUDA context, or correct Triton's interpreter where there is no GPU; only the first time."""
        if self._device:
            return
        if torch.cuda.is_available():
            use_own_stream()
            limit_memory()
            self._watch, self._clock = TritonWatch(), sm_clock()
            self._device = "cuda"
        else:
            from sitegen.measure.interpreter import teach

            teach()
            self._device = "cpu"

    def prepare(self) -> requests.Prepared:
        """Import or compile the code.  Raises CompileError, and EvaluationEnded where the GPU does not offer it."""
        self.start()
        job = self._read_job()
        if self._device == "cuda" and isinstance(job, KernelJob) and is_matrix_kernel(job):
            self._power.open()
        kernel, params = job.kernel, runnables.params_of(job)
        reference = runnables.reference_of(self._task.folder, kernel)
        runnable = self._new_runnable(job, params)
        if self._task.role == Role.BASELINE and self._task.name.startswith(COMPILED_BASELINE):
            import_ahead([COMPILER])  # while others of the job are compiled
        baseline = self._error_baseline(runnable, kernel, params)
        self._prepared = (
            KernelSetup(kernel, self._dtype(job), params, reference, baseline, self._device),
            runnable,
        )
        return requests.Prepared(allocates=not runnable.takes_out)

    def first_calls(self, shapes: Shapes) -> None:
        """Call the code once at each shape, and the baseline of the error too."""
        for dims in shapes:
            self._first_call(dims)
        _release_memory()

    def check(self, shapes: Shapes) -> Correctness:
        """Return how large the errors are at the shapes.  Raises EvaluationEnded when a gate fails."""
        declared = bool(self.implementation and self.implementation.deterministic)
        try:
            checked = correctness.check(self._setup, self._runnable, shapes, declared)
        except EvaluationEnded as why:
            raise self._unless_interpreter_is_wrong(why) from why
        _release_memory()  # not after a failure: it would wait for a kernel that hangs
        return checked

    def plan(self, request: requests.Plan) -> requests.Planned:
        """Make the sets of buffers and estimate the time of a call; a memory probe chooses its fastest way first."""
        chosen = ""
        if isinstance(self._runnable, MemoryProbe):
            chosen = _choose_fastest(self._runnable, request.sets)
            _release_memory()
        timer = self._new_timer(request.dims, request.sets, request.resident)
        return requests.Planned(timer.prepare(), chosen)

    def resume(self, request: requests.Resume) -> None:
        """Make ready for turns with what another process of the same code has learned."""
        if isinstance(self._runnable, MemoryProbe):
            candidates = self._runnable.candidates
            self._runnable.chosen = next(c for c in candidates if c.name == request.chosen)
        timer = self._new_timer(request.dims, request.sets, request.resident)
        timer.resume(request.estimate_us, request.graph_calls)

    def use_graph(self) -> requests.GraphUse:
        """Time calls inside a CUDA graph from now on, where they can be captured."""
        timer, graph = self._timer, self._timer.use_graph()
        return requests.GraphUse(graph, timer.graph_calls, timer.launch_bound, timer.estimate_us)

    def empty_kernel(self) -> requests.EmptyKernelTimes:
        """Return the times of a kernel that does nothing; never fails an evaluation."""
        with contextlib.suppress(Exception):
            return requests.EmptyKernelTimes(time_empty_kernel())
        return requests.EmptyKernelTimes(None)

    def turn(self, request: requests.TakeTurn) -> TurnResult:
        """Take the samples of one turn."""
        result = self._timer.turn(request.kind, request.samples)
        if not request.keep:
            self._timer.finish_turn()
        return result

    def recheck(self) -> None:
        """Make the last timed call again and check its output by all gates of error.  Raises EvaluationEnded."""
        if not isinstance(self._runnable, MemoryProbe):
            self._recheck_last_set()
        self._timer.finish_turn()
        _release_memory()  # the float64 references of the other processes need the room

    def artefacts(self, dims: Dims, *, last: bool) -> requests.CollectedArtefacts:
        """Return launch record, compilation and artefacts at these dims; never fails an evaluation.

        `last` promises that the process times nothing afterwards.
        """
        return self.listing(dims, last=last)()

    def listing(self, dims: Dims, *, last: bool = False) -> Callable[[], requests.CollectedArtefacts]:
        """Make the call that `artefacts` describes, and return the function that does the rest without the GPU."""
        self._timed = None
        _release_memory()
        return collect(self._setup, self._runnable, self._watch, dims, last=last)

    @property
    def _setup(self) -> KernelSetup:
        assert self._prepared is not None, "the parent sends Prepare first"
        return self._prepared[0]

    @property
    def _runnable(self) -> Runnable:
        assert self._prepared is not None, "the parent sends Prepare first"
        return self._prepared[1]

    @property
    def _timer(self) -> CallTimer:
        assert self._timed is not None, "the parent sends Plan or Resume first"
        return self._timed[0]

    def _read_job(self) -> KernelJob | RejectJob:
        data = json.loads(self._task.job_file.read_text(encoding="utf-8"))
        return from_plain(KernelJob, data) if data["kind"] == "kernel" else from_plain(RejectJob, data)

    def _new_runnable(self, job: KernelJob | RejectJob, params: Mapping[str, Scalar]) -> Runnable:
        task = self._task
        if task.role == Role.PROBE:
            dims = job.workload.dims if isinstance(job, KernelJob) else {}
            return probe_runnable(task.name, job.kernel, job.dtype, params, dims)
        if task.role == Role.BASELINE:
            return runnables.baseline_runnable(task.folder, job.kernel, task.name, self._dtype(job), params)
        self.implementation = _implementation(job, task.name)
        require_arch(self.implementation.arch)
        return runnables.implementation_runnable(task.folder, job.kernel, self.implementation, self._dtype(job), params)

    def _error_baseline(
        self, runnable: Runnable, kernel: Kernel, params: Mapping[str, Scalar]
    ) -> BaselineRunnable | None:
        """Return the baseline whose own error limits the largest error: for a baseline itself."""
        if isinstance(runnable, BaselineRunnable):
            return runnable
        name = runnables.first_reference_baseline(kernel)
        return runnables.reference_baseline(self._task.folder, kernel, name, params) if name else None

    def _dtype(self, job: KernelJob | RejectJob) -> str:
        return job.dtype if isinstance(job, KernelJob) else job.dtype_of(_implementation(job, self._task.name))

    def _first_call(self, dims: Dims) -> None:
        buffers, baseline = make_set(self._setup, self._runnable, dims, 0), self._setup.baseline
        call_and_wait(partial(self._runnable.run_into, buffers.inputs, buffers.outs, dims))
        if baseline is not None and baseline is not self._runnable:
            call_and_wait(partial(baseline.run_allocating, buffers.inputs, dims))

    def _unless_interpreter_is_wrong(self, why: EvaluationEnded) -> EvaluationEnded:
        """Return `not_run` for a wrong result that Triton's interpreter itself computed wrongly, else the same."""
        setup = self._setup
        tensors = (*setup.kernel.inputs, *setup.kernel.outputs)
        dtypes = {setup.dtype if tensor.dtype == "same" else tensor.dtype for tensor in tensors}
        if self._device == "cuda" or why.status is not Status.INCORRECT or "bfloat16" not in dtypes:
            return why
        from sitegen.measure.interpreter import misjudges_bfloat16

        if not misjudges_bfloat16():
            return why
        return EvaluationEnded(Status.NOT_RUN, f"{UNJUDGED}: this Triton's interpreter computes bfloat16 wrongly")

    def _new_timer(self, dims: Dims, sets: int, resident: bool) -> CallTimer:
        runnable = self._runnable
        make: Callable[[int], BufferSet] = partial(make_set, self._setup, runnable, dims)
        if isinstance(runnable, MemoryProbe):
            make = runnable.make_set
        call = partial(_call_on, runnable, dims)
        timer = CallTimer(call, make, sets, resident, self._clock, self._power)
        self._timed = timer, dims
        return timer

    def _recheck_last_set(self) -> None:
        assert self._timed is not None, "the parent sends Plan or Resume first"
        timer, dims = self._timed
        last, runnable = timer.last_set(), self._runnable

        def repeat() -> Sequence[Any]:
            if not runnable.takes_out:
                return runnable.run_allocating(last.inputs, dims)
            timer.repeat_last()
            return last.outs

        correctness.recheck(self._setup, dims, LastCall(last.inputs, last.outs, repeat))


def _choose_fastest(probe: MemoryProbe, sets: int) -> str:
    """Let the probe choose its fastest way on fresh sets, which are dropped afterwards; return the way's name."""
    probe.choose([probe.make_set(index) for index in range(sets)])
    return probe.chosen.name


def _call_on(runnable: Runnable, dims: Dims, buffers: BufferSet) -> Any:
    return runnable.run_into(buffers.inputs, buffers.outs, dims)


def _implementation(job: KernelJob | RejectJob, name: str) -> Implementation:
    wrong = [variant.implementation for variant in job.kernel.wrong]
    choice = wrong if isinstance(job, RejectJob) else job.kernel.implementations
    return next(implementation for implementation in choice if implementation.name == name)


def _release_memory() -> None:
    if torch.cuda.is_available():
        give_back_memory()
