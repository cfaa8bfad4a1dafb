"""One process for one implementation, baseline or probe: `python -m sitegen.measure.child FD FD JOB ROLE NAME FOLDER`.

Answers the parent's requests (protocol.py) until the pipe closes:
`environment`, `healthy`, `prepare`, `first`, `check`, `plan`, `use_graph`, `warm`, `turn`, `artefacts`, `ceilings`.
Whatever goes wrong becomes one status and a message; the parent then ends this process.
"""

from __future__ import annotations

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
from sitegen.model.job import KernelJob, RejectJob
from sitegen.model.kernel import Kernel, Status
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
    _die_with_parent()
    link = Link(int(reads), int(writes))
    worker = Worker(Path(job), role, name, Path(folder))
    while True:
        try:
            request = link.receive()
        except Closed:
            return
        link.send(answer(worker, request))


def answer(worker: Worker, request: Message) -> Message:
    """A reply, or the status with which the evaluation ends."""
    try:
        do = request.pop("do")
        return {"reply": getattr(worker, f"do_{do}")(**request)}
    except BaseException as error:
        status, message = classify(error, worker.folder)
        return {"status": status.value, "message": message.replace(f"{worker.folder}/", "")}


def classify(error: BaseException, folder: Path) -> tuple[Status, str]:
    """Which status an exception of the code under test means, and what it says; `folder` holds the sources."""
    if isinstance(error, Ended):
        return error.status, error.message
    name, text = type(error).__name__, f"{type(error).__name__}: {error}"
    if name in ("OutOfMemoryError", "MemoryError") or "out of memory" in text.lower():
        return Status.OUT_OF_MEMORY, _short(text)
    if name == "CompileError":
        return Status.COMPILE_ERROR, _short(str(error))
    if name in ("CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct", "PTXASError"):
        return Status.COMPILE_ERROR, _short(text)
    if isinstance(error, SyntaxError | ImportError):
        return Status.COMPILE_ERROR, _short(text)
    return Status.RUNTIME_ERROR, _short(text) + _place(error, folder)


def _place(error: BaseException, folder: Path) -> str:
    """The last line of the author's own files that was running."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(str(folder))]
    return f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""


def _short(text: str, lines: int = 12, width: int = 400) -> str:
    """The first lines, without the advice that torch adds to each error of CUDA."""
    kept = [line[:width] for line in text.strip().splitlines() if line.strip() and not line.startswith(_ADVICE)]
    return "\n".join(kept[:lines])


class Worker:
    """State between requests.  torch is imported by the first request that needs it, once TRITON_INTERPRET is set."""

    def __init__(self, job: Path, role: str, name: str, folder: Path) -> None:
        self.job_file, self.role, self.name, self.folder = job, role, name, folder
        self.bench: Any = None
        self.subject: Any = None
        self.stopwatch: Any = None
        self.watch: Any = None
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

    def do_prepare(self) -> Any:
        """Imports and compiles."""
        import torch

        from sitegen.measure import call
        from sitegen.measure.correctness import Bench
        from sitegen.measure.interpreter import teach_bfloat16
        from sitegen.measure.launches import TritonWatch

        device = "cuda" if torch.cuda.is_available() else "cpu"
        if device == "cuda":
            _own_stream()
            self.watch = TritonWatch()
        else:
            teach_bfloat16()
        job = self.read_job()
        kernel, params = job.kernel, call.params_of(job)
        reference = call.reference_of(self.folder, kernel)
        self.subject = self._subject(job, params)
        yardstick = self._yardstick(kernel, params)
        self.bench = Bench(kernel, self._dtype(job), params, reference, yardstick, device)
        return {"allocates": not self.subject.takes_out}

    def _yardstick(self, kernel: Kernel, params: Mapping[str, Any]) -> Any:
        """The baseline whose own error is the measure: for a baseline itself."""
        from sitegen.measure import call

        if self.role == Role.BASELINE:
            return self.subject
        return call.baseline_subject(self.folder, kernel, kernel.baselines[0], params) if kernel.baselines else None

    def do_first(self, shapes: list[dict[str, int]]) -> None:
        """A first call at each of the shapes, so that later deadlines hold no compiler."""
        from sitegen.measure.correctness import call_and_wait
        from sitegen.measure.timing import make_set

        for dims in shapes:
            ready = make_set(self.bench, self.subject, dims, 0)
            call_and_wait(partial(self.subject.into, ready.inputs, ready.outs, dims))
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
        _expect_supported(self.implementation.arch)
        return call.implementation_subject(self.folder, job.kernel, self.implementation, self._dtype(job), params)

    def _dtype(self, job: KernelJob | RejectJob) -> str:
        return job.dtype if isinstance(job, KernelJob) else job.dtype_of(_named(job.kernel, self.name, True))

    def do_check(self, shapes: list[dict[str, int]]) -> Any:
        from sitegen.measure.correctness import check

        declared = bool(self.implementation and self.implementation.deterministic)
        found = to_plain(check(self.bench, self.subject, shapes, declared))
        _free()  # not after a failure: it would wait for a kernel that hangs
        return found

    def do_plan(self, dims: dict[str, int], sets: int, resident: bool) -> Any:
        """Makes ready for `turn`."""
        from sitegen.measure.timing import Stopwatch, make_set

        make: Any = partial(make_set, self.bench, self.subject, dims)
        if self.role == Role.PROBE:
            make = self.subject.make_set
            self.subject.choose([make(index) for index in range(sets)])
            _free()
        self.dims = dims
        self.stopwatch = Stopwatch(lambda s: self.subject.into(s.inputs, s.outs, dims), make, sets, resident)
        return {"estimate_us": self.stopwatch.prepare()}

    def do_use_graph(self) -> Any:
        graph = self.stopwatch.use_graph()
        return {
            "graph": graph,
            "launch_bound": self.stopwatch.launch_bound,
            "estimate_us": self.stopwatch.estimate_us,
        }

    def do_warm(self, for_s: float) -> None:
        self.stopwatch.warm(for_s)

    def do_turn(self, samples: int, recheck: bool = False) -> Any:
        """One turn; `recheck`, in the last, looks at the output of its last timed call, through all gates of error."""
        turn = self.stopwatch.turn(samples)
        if recheck and self.role != Role.PROBE:
            self._recheck()
        if recheck:
            self.stopwatch.release()
        else:
            self.stopwatch.finish_turn()
        return to_plain(turn)

    def _recheck(self) -> None:
        from sitegen.measure.correctness import recheck

        used = self.stopwatch.last_set()
        recheck(self.bench, self.subject, self.dims, used.inputs, used.outs)

    def do_artefacts(self, dims: dict[str, int]) -> Any:
        """Launch record, compilation and artefacts at these dims; never fails an evaluation."""
        from sitegen.measure.collect import collect

        self.stopwatch = None
        _free()
        return collect(self.bench, self.subject, self.watch, dims)


def _named(kernel: Kernel, name: str, wrong: bool) -> Any:
    several = [w.implementation for w in kernel.wrong] if wrong else list(kernel.implementations)
    return next(implementation for implementation in several if implementation.name == name)


def _expect_supported(arch: str) -> None:
    """Raises Ended(unsupported) unless the GPU is at least `>=sm_90`."""
    import torch

    if not arch or not torch.cuda.is_available():
        return
    major, minor = torch.cuda.get_device_capability()
    digits = "".join(c for c in arch if c.isdigit())
    if major * 10 + minor < int(digits):
        raise Ended(Status.UNSUPPORTED, f"needs {arch}, this GPU is sm_{major}{minor}")


def _own_stream() -> None:
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
        torch.cuda.empty_cache()


def _die_with_parent() -> None:
    """The kernel of the operating system ends this process when its parent is gone, even in a hung launch."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")


if __name__ == "__main__":
    main(sys.argv[1:])
