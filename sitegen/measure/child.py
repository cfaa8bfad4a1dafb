"""One process for one implementation, baseline or probe: `python -m sitegen.measure.child FD FD JOB ROLE NAME FOLDER`.

Answers the parent's requests (protocol.py) until the pipe closes:
`environment`, `healthy`, `start`, `prepare`, `first`, `check`, `plan`, `use_graph`, `resume`, `warm`, `turn`,
`recheck`, `artefacts`, `ceilings`.
Whatever goes wrong becomes one status and a message; the parent then ends this process.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import traceback
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sitegen.measure.protocol import Closed, Ended, Link, Message
from sitegen.model.frames import TracebackFrame, with_frames
from sitegen.model.job import UNJUDGED, KernelJob, RejectJob
from sitegen.model.kernel import Implementation, Kernel, Status
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.record import Role

_PR_SET_PDEATHSIG = 1
_ADVICE = (
    "Search for `cuda",
    "CUDA kernel errors might",
    "For debugging consider",
    "Compile with `TORCH_USE_CUDA_DSA`",
)


def main(arguments: list[str]) -> None:
    reads, writes, job, role, name, folder = arguments
    die_with_parent()
    link = Link(int(reads), int(writes))
    import_ahead()
    worker = Worker(Path(job), role, name, Path(folder))
    while True:
        try:
            request = link.receive()
        except Closed:
            return
        link.send(answer(worker, request))


def import_ahead() -> None:
    """What takes seconds and touches no GPU.  What is missing shows when it is asked for anything."""
    with contextlib.suppress(Exception):
        import torch  # noqa: F401

        from sitegen.measure import call, clock, correctness, launches, timing  # noqa: F401


def answer(worker: Worker, request: Message) -> Message:
    """A reply, or the status with which the evaluation ends."""
    try:
        do = request.pop("do")
        return {"reply": getattr(worker, f"do_{do}")(**request)}
    except BaseException as error:
        status, message = classify(error, worker.folder, worker.implementation)
        return {"status": status.value, "message": message.replace(f"{worker.folder}/", "")}


def classify(error: BaseException, folder: Path, implementation: Implementation | None = None) -> tuple[Status, str]:
    """Return the status that an exception of the code under test means, and what it says.

    `folder` holds the sources.  `implementation` is the one under test, whose text may stand in a cell of a post.
    """
    if isinstance(error, Ended):
        return error.status, error.message
    frames = frames_of(error, folder, implementation)
    if limit := _limit_in(error):
        return Status.NOT_RUN, with_frames(limit, frames[-1:])
    error = _innermost(error)
    name, text = type(error).__name__, f"{type(error).__name__}: {error}"
    if name in ("OutOfMemoryError", "MemoryError") or "out of memory" in text.lower():
        return Status.OUT_OF_MEMORY, _short(text)
    if name == "CompileError":
        return Status.COMPILE_ERROR, _short(str(error))
    if name in ("CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct", "PTXASError"):
        return Status.COMPILE_ERROR, _short(text)
    if isinstance(error, SyntaxError | ImportError):
        return Status.COMPILE_ERROR, with_frames(_short(text), frames)
    return Status.RUNTIME_ERROR, with_frames(_short(text), frames)


def frames_of(error: BaseException, folder: Path, implementation: Implementation | None = None) -> list[TracebackFrame]:
    """Return the frames in the author's own files, the innermost last, also those inside an interpreted kernel."""
    found: list[TracebackFrame] = []
    while True:
        found += [
            _frame(frame, folder, implementation)
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename.startswith(f"{folder}{os.sep}")
        ]
        if not _wraps(error):
            return found
        assert error.__cause__ is not None
        error = error.__cause__


def _frame(frame: traceback.FrameSummary, folder: Path, implementation: Implementation | None) -> TracebackFrame:
    """A line of a cell's file becomes the line of the post in which the cell stands."""
    path, line = Path(frame.filename).relative_to(folder).as_posix(), frame.lineno or 0
    if implementation is not None and implementation.source and Path(path).name.startswith("_cell_"):
        return TracebackFrame(implementation.file.partition("#")[0], implementation.line + line - 1, frame.line or "")
    return TracebackFrame(path, line, frame.line or "")


def _innermost(error: BaseException) -> BaseException:
    """The exception that a kernel raised inside Triton's interpreter, which wraps it once for each call."""
    while _wraps(error) and error.__cause__ is not None:
        error = error.__cause__
    return error


def _wraps(error: BaseException) -> bool:
    return type(error).__name__ == "InterpreterError" and error.__cause__ is not None


def _limit_in(error: BaseException) -> str:
    """The limit of the interpreter that was met; empty when the code under test is at fault."""
    if "sitegen.measure.interpreter" not in sys.modules:
        return ""
    from sitegen.measure.interpreter import limit_in

    return str(limit_in(error) or "")


def _short(text: str, lines: int = 12, width: int = 400) -> str:
    """The first lines, without the advice that torch adds to each error of CUDA."""
    kept = [line[:width] for line in text.strip().splitlines() if line.strip() and not line.startswith(_ADVICE)]
    return "\n".join(kept[:lines])


class Worker:
    """State between requests."""

    def __init__(self, job: Path, role: str, name: str, folder: Path) -> None:
        self.job_file, self.role, self.name, self.folder = job, role, name, folder
        self.bench: Any = None
        self.subject: Any = None
        self.stopwatch: Any = None
        self.watch: Any = None
        self.clock: Any = None
        self.power: Any = None
        self.device = ""
        self.implementation: Any = None

    def do_environment(self) -> Any:
        from sitegen.measure.environment import read_environment

        return to_plain(read_environment())

    def do_healthy(self) -> bool:
        """Whether a known kernel on this GPU gives the known sum."""
        import torch

        from sitegen.measure.correctness import wait

        values = torch.arange(1 << 20, dtype=torch.int64, device="cuda") * 3
        wait()
        return int(values.sum()) == 3 * ((1 << 20) - 1) * (1 << 20) // 2

    def do_ceilings(self) -> Any:
        from sitegen.measure.ceilings import measure_ceilings

        return to_plain(measure_ceilings())

    def do_start(self) -> None:
        """Imports torch and makes the GPU ready; whatever comes next may ask for it again."""
        if self.device:
            return
        import torch

        from sitegen.measure.clock import power_meter, sm_clock
        from sitegen.measure.interpreter import teach
        from sitegen.measure.launches import TritonWatch

        if torch.cuda.is_available():
            own_stream()
            self.watch, self.clock, self.power = TritonWatch(), sm_clock(), power_meter()
            self.device = "cuda"
        else:
            teach()
            self.device = "cpu"

    def do_prepare(self) -> Any:
        """Imports and compiles."""
        from sitegen.measure import call
        from sitegen.measure.correctness import Bench

        self.do_start()
        job = self.read_job()
        kernel, params = job.kernel, call.params_of(job)
        reference = call.reference_of(self.folder, kernel)
        self.subject = self._subject(job, params)
        yardstick = self._yardstick(kernel, params)
        self.bench = Bench(kernel, self._dtype(job), params, reference, yardstick, self.device)
        return {"allocates": not self.subject.takes_out}

    def _yardstick(self, kernel: Kernel, params: Mapping[str, Any]) -> Any:
        """The baseline whose own error is the measure: for a baseline itself."""
        from sitegen.measure import call

        if self.role == Role.BASELINE:
            return self.subject
        return call.baseline_subject(self.folder, kernel, kernel.baselines[0], params) if kernel.baselines else None

    def do_first(self, shapes: list[dict[str, int]]) -> None:
        """A first call at each of the shapes, of the yardstick too, so that later deadlines hold no compiler."""
        from sitegen.measure.correctness import call_and_wait
        from sitegen.measure.timing import make_set

        for dims in shapes:
            ready = make_set(self.bench, self.subject, dims, 0)
            call_and_wait(partial(self.subject.into, ready.inputs, ready.outs, dims))
            if self.bench.baseline is not None and self.bench.baseline is not self.subject:
                call_and_wait(partial(self.bench.baseline.fresh, ready.inputs, dims))
            del ready
        _free()

    def read_job(self) -> KernelJob | RejectJob:
        data = json.loads(self.job_file.read_text(encoding="utf-8"))
        return from_plain(KernelJob, data) if data["kind"] == "kernel" else from_plain(RejectJob, data)

    def _subject(self, job: KernelJob | RejectJob, params: Mapping[str, Any]) -> Any:
        from sitegen.measure import call

        if self.role == Role.PROBE:
            from sitegen.measure.memory_probes import probe_subject

            dims = job.workload.dims if isinstance(job, KernelJob) else {}
            return probe_subject(self.name, job.kernel, job.dtype, params, dims)
        if self.role == Role.BASELINE:
            return call.baseline_subject(self.folder, job.kernel, self.name, params)
        self.implementation = _named(job.kernel, self.name, isinstance(job, RejectJob))
        expect_supported(self.implementation.arch)
        return call.implementation_subject(self.folder, job.kernel, self.implementation, self._dtype(job), params)

    def _dtype(self, job: KernelJob | RejectJob) -> str:
        return job.dtype if isinstance(job, KernelJob) else job.dtype_of(_named(job.kernel, self.name, True))

    def do_check(self, shapes: list[dict[str, int]]) -> Any:
        from sitegen.measure.correctness import check

        declared = bool(self.implementation and self.implementation.deterministic)
        try:
            found = to_plain(check(self.bench, self.subject, shapes, declared))
        except Ended as why:
            raise self._judged_again(why) from why
        _free()  # not after a failure: it would wait for a kernel that hangs
        return found

    def _judged_again(self, why: Ended) -> Ended:
        """Without a GPU: a wrong result is no failure where the interpreter itself computes wrongly."""
        from sitegen.measure.interpreter import misjudges_bfloat16

        tensors = (*self.bench.kernel.inputs, *self.bench.kernel.outputs)
        dtypes = {self.bench.dtype if tensor.dtype == "same" else tensor.dtype for tensor in tensors}
        if self.device == "cuda" or why.status is not Status.INCORRECT or "bfloat16" not in dtypes:
            return why
        if not misjudges_bfloat16():
            return why
        return Ended(Status.NOT_RUN, f"{UNJUDGED}: this Triton's interpreter computes bfloat16 wrongly")

    def do_plan(self, dims: dict[str, int], sets: int, resident: bool) -> Any:
        """Makes ready for `turn`, and says what another process needs to `resume`."""
        if self.role == Role.PROBE:
            ready = [self.subject.make_set(index) for index in range(sets)]
            self.subject.choose(ready)
            del ready
            _free()
        stopwatch = self._stopwatch(dims, sets, resident)
        chosen = self.subject.chosen.name if self.role == Role.PROBE else ""
        return {"estimate_us": stopwatch.prepare(), "graph_calls": 0, "chosen": chosen}

    def do_resume(
        self, dims: dict[str, int], sets: int, resident: bool, estimate_us: float, graph_calls: int, chosen: str
    ) -> None:
        """As `plan` and `use_graph` in another process of the same code, by what they found."""
        if self.role == Role.PROBE:
            self.subject.chosen = next(c for c in self.subject.candidates if c.name == chosen)
        self._stopwatch(dims, sets, resident).resume(estimate_us, graph_calls)

    def _stopwatch(self, dims: dict[str, int], sets: int, resident: bool) -> Any:
        from sitegen.measure.timing import Stopwatch, make_set

        make: Any = partial(make_set, self.bench, self.subject, dims)
        if self.role == Role.PROBE:
            make = self.subject.make_set
        self.dims = dims
        call = partial(_call_on, self.subject, dims)
        self.stopwatch = Stopwatch(call, make, sets, resident, self.clock, self.power)
        return self.stopwatch

    def do_use_graph(self) -> Any:
        graph = self.stopwatch.use_graph()
        return {
            "graph": graph,
            "graph_calls": self.stopwatch.graph_calls,
            "launch_bound": self.stopwatch.launch_bound,
            "estimate_us": self.stopwatch.estimate_us,
        }

    def do_warm(self, for_s: float) -> None:
        self.stopwatch.warm(for_s)

    def do_turn(self, kind: str, samples: int, keep: bool) -> Any:
        """One turn; `keep`: its sets stay for a `recheck`, which comes next."""
        from sitegen.measure.rounds import Kind

        turn = self.stopwatch.turn(Kind(kind), samples)
        if not keep:
            self.stopwatch.finish_turn()
        return to_plain(turn)

    def do_recheck(self) -> None:
        """The output of the last timed call, through all gates of error."""
        from sitegen.measure.correctness import recheck

        if self.role != Role.PROBE:
            used = self.stopwatch.last_set()
            recheck(self.bench, self.subject, self.dims, used.inputs, used.outs)
            del used
        self.stopwatch.finish_turn()
        _free()  # room for the float64 references of the others

    def do_artefacts(self, dims: dict[str, int]) -> Any:
        """Launch record, compilation and artefacts at these dims; never fails an evaluation."""
        from sitegen.measure.collect import collect

        self.stopwatch = None
        _free()
        return collect(self.bench, self.subject, self.watch, dims)


def _call_on(subject: Any, dims: Mapping[str, int], ready: Any) -> Any:
    return subject.into(ready.inputs, ready.outs, dims)


def _named(kernel: Kernel, name: str, wrong: bool) -> Any:
    several = [w.implementation for w in kernel.wrong] if wrong else list(kernel.implementations)
    return next(implementation for implementation in several if implementation.name == name)


def expect_supported(arch: str) -> None:
    """Raises Ended(unsupported) unless the GPU is at least `>=sm_90`."""
    import torch

    from sitegen.measure.compile import arch_of, supports

    if not torch.cuda.is_available():
        return
    ours = arch_of(torch.cuda.get_device_capability())
    if not supports(ours, arch):
        raise Ended(Status.UNSUPPORTED, f"needs {arch}, this GPU is {ours}")


def own_stream() -> None:
    """Everything runs in a stream of its own: the legacy default stream waits for others and cannot be captured."""
    import torch

    torch.cuda.init()
    torch.cuda.set_stream(torch.cuda.Stream())
    _set_cuda_core_device()


def _set_cuda_core_device() -> None:
    try:
        from cuda.core import Device
    except ImportError:
        return
    Device(0).set_current()


def _free() -> None:
    import torch

    if torch.cuda.is_available():
        from sitegen.measure.timing import give_back_memory

        give_back_memory()


def die_with_parent() -> None:
    """The kernel of the operating system ends this process when its parent is gone, even in a hung launch."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")


if __name__ == "__main__":
    main(sys.argv[1:])
