"""The program that NVIDIA's tools watch: the calls of an `InspectJob` → one call of the code each, with its progress.

`python -m sitegen.measure.tool_target WORK JOB FOLDER NUMBERS`: WORK is `sanitize`, `bytes` or `operations`, FOLDER
holds the sources, and NUMBERS are indices into the lists of tool_calls.py.  The progress that tool_runs.py reads stands
in lines of its own between those of the tool.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from sitegen.measure import runnable as runnables
from sitegen.measure.correctness import KernelSetup
from sitegen.measure.counters import COPIED_BYTES, KNOWN, PRODUCT_SIDE, RANGE
from sitegen.measure.device import require_arch, use_own_stream
from sitegen.measure.faults import failure_of
from sitegen.measure.guarded_calls import wait
from sitegen.measure.memory_plan import RESIDENT_SHARE
from sitegen.measure.timing import BufferSet, make_set
from sitegen.measure.tool_calls import CallToCount, calls_to_count, calls_to_sanitize, cost_of_call
from sitegen.measure.tool_runs import FINISHED, MARK
from sitegen.measure.visible_writes import VisibleLibraryWrites
from sitegen.measure.workload import set_count
from sitegen.model.job import InspectJob
from sitegen.model.kernel import Status
from sitegen.model.plain import from_plain
from sitegen.model.record import Role

_TAKES_OUT: Any = SimpleNamespace(takes_out=True)
"""Sets that several calls share have outputs; a call that allocates its own outputs leaves them alone."""


def main(arguments: list[str]) -> None:
    """Make the calls and print their progress."""
    work, job_file, folder, numbers = arguments
    job = from_plain(InspectJob, json.loads(Path(job_file).read_text(encoding="utf-8")))
    use_own_stream()
    caller = Sanitizer(job, Path(folder)) if work == "sanitize" else Counter(job, Path(folder), work)
    for number in numbers.split(","):
        _call_with_progress(int(number), caller.call, Path(folder))
    print(FINISHED, flush=True)


def _call_with_progress(number: int, call: Callable[[int], None], folder: Path) -> None:
    """Make one call and print its begin and end.  A lost context ends the process: the parent starts another."""
    print(f"{MARK} begin {number}", flush=True)
    try:
        call(number)
    except Exception as error:
        why = failure_of(error, folder)
        print(f"{MARK} failed {number} {why}", flush=True)
        if why.status is Status.TIMEOUT or not _context_works():
            os._exit(1)
        return
    print(f"{MARK} end {number}", flush=True)


def _context_works() -> bool:
    try:
        torch.cuda.synchronize()
    except Exception:
        return False
    return True


class Sanitizer:
    """Calls each implementation once at each small shape, into outputs that nothing has written."""

    def __init__(self, job: InspectJob, folder: Path) -> None:
        self.kernel, self.folder, self.calls = job.kernel, folder, calls_to_sanitize(job)
        self.reference = runnables.reference_of(folder, job.kernel)

    def call(self, number: int) -> None:
        """Make the call with that index."""
        call = self.calls[number]
        require_arch(call.implementation.arch)
        runnable = runnables.implementation_runnable(
            self.folder, self.kernel, call.implementation, call.dtype, call.params
        )
        setup = KernelSetup(self.kernel, call.dtype, call.params, self.reference, None, "cuda")
        for dims in call.shapes:
            buffers = make_set(setup, runnable, dims, 0)
            # initcheck does not see every kernel that made the inputs
            inputs = [tensor.cpu().cuda() for tensor in buffers.inputs]
            with VisibleLibraryWrites():
                runnable.run_into(inputs, buffers.outs, dims)
            wait()


class Counter:
    """Makes each call once with the counters on, in a steady state.

    The calls before it use the other sets.  They leave as many dirty lines in the L2 as the counted call leaves itself,
    and nothing of its own set.
    """

    def __init__(self, job: InspectJob, folder: Path, work: str) -> None:
        self.kernel, self.folder, self.calls = job.kernel, folder, calls_to_count(job)
        self.reference = runnables.reference_of(folder, job.kernel)
        self.runnables: dict[Any, runnables.Runnable] = {}
        self.inputs_key: object = None
        self.sets: list[BufferSet] = []
        known = {"bytes": _count_known_copy, "operations": _count_known_product}
        if work in known:
            known[work]()

    def call(self, number: int) -> None:
        """Make the call with that index."""
        call = self.calls[number]
        runnable = self._runnable(call)
        self._make_sets(call)
        dims = call.workload.dims
        _count(str(number), [partial(runnable.run_into, one.inputs, one.outs, dims) for one in self.sets])

    def _runnable(self, call: CallToCount) -> runnables.Runnable:
        key = (call.role, call.name, *call.inputs_key[1:])
        if key not in self.runnables:
            self.runnables[key] = self._new_runnable(call)
        return self.runnables[key]

    def _new_runnable(self, call: CallToCount) -> runnables.Runnable:
        if call.role is Role.BASELINE:
            return runnables.baseline_runnable(self.folder, self.kernel, call.name, call.dtype, call.params)
        implementation = next(i for i in self.kernel.implementations if i.name == call.name)
        require_arch(implementation.arch)
        return runnables.implementation_runnable(self.folder, self.kernel, implementation, call.dtype, call.params)

    def _make_sets(self, call: CallToCount) -> None:
        """Make the sets of buffers, which all calls with the same inputs share."""
        if call.inputs_key == self.inputs_key:
            return
        self.sets, self.inputs_key = [], None
        torch.cuda.empty_cache()
        setup = KernelSetup(self.kernel, call.dtype, call.params, self.reference, None, "cuda")
        count = _set_count(int(cost_of_call(self.kernel, call).bytes))
        self.sets = [make_set(setup, _TAKES_OUT, call.workload.dims, index) for index in range(count)]
        self.inputs_key = call.inputs_key


def _count(name: str, calls: Sequence[Callable[[], Any]]) -> None:
    """Make every call once, then the first with the counters on, in an NVTX range of that name."""
    for call in calls:
        call()
    wait()
    torch.cuda.profiler.start()
    span = torch.cuda.nvtx.range_start(f"{RANGE} {name}")
    calls[0]()
    wait()
    torch.cuda.nvtx.range_end(span)
    torch.cuda.profiler.stop()


def _count_known_copy() -> None:
    """Count a kernel that reads and writes COPIED_BYTES; the copy engine, which may do a copy, has no counters."""
    pairs = [
        (torch.randn(COPIED_BYTES // 8, device="cuda"), torch.empty(COPIED_BYTES // 8, device="cuda")) for _ in "ab"
    ]
    _count(KNOWN, [partial(torch.neg, source, out=target) for source, target in pairs])


def _count_known_product() -> None:
    """Count a matrix product of counters.PRODUCT_FLOPS operations."""
    a, b = (torch.randn(PRODUCT_SIDE, PRODUCT_SIDE, device="cuda", dtype=torch.bfloat16) for _ in "ab")
    _count(KNOWN, [partial(torch.mm, a, b)])


def _set_count(size: int) -> int:
    properties = torch.cuda.get_device_properties(0)
    return set_count(size, properties.L2_cache_size, RESIDENT_SHARE * properties.total_memory)


if __name__ == "__main__":
    main(sys.argv[1:])
