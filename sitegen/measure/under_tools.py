"""The program that the tools watch: `python -m sitegen.measure.under_tools WHAT JOB FOLDER NUMBERS`.

WHAT is `sanitize`, `bytes` or `operations`; NUMBERS are of the calls in the lists of inspection.py.  What it says to
its parent (tool.py) stands in lines of its output between those of the tool.
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

from sitegen.measure import call as calling
from sitegen.measure.child import classify, expect_supported, own_stream
from sitegen.measure.correctness import Bench, wait
from sitegen.measure.counters import COPIED_BYTES, KNOWN, PRODUCT_SIDE, RANGE
from sitegen.measure.generations import RESIDENT_SHARE
from sitegen.measure.inspection import Counting, calls_to_count, calls_to_sanitize, cost_of_call
from sitegen.measure.timing import Set, make_set
from sitegen.measure.tool import FINISHED, MARK
from sitegen.measure.workload import set_count
from sitegen.model.job import InspectJob
from sitegen.model.kernel import Status
from sitegen.model.plain import from_plain
from sitegen.model.record import Role

_TAKES_OUT: Any = SimpleNamespace(takes_out=True)
"""A set for everybody has outputs; whoever makes its own leaves them alone."""


def main(arguments: list[str]) -> None:
    what, job_file, folder, numbers = arguments
    job = from_plain(InspectJob, json.loads(Path(job_file).read_text(encoding="utf-8")))
    own_stream()
    work = Sanitizer(job, Path(folder)) if what == "sanitize" else Counter(job, Path(folder), what)
    for number in numbers.split(","):
        _announced(int(number), work.call, Path(folder))
    print(FINISHED, flush=True)


def _announced(number: int, call: Callable[[int], None], folder: Path) -> None:
    """One call, with its begin and end told.  A lost context ends the process: the parent starts another."""
    print(f"{MARK} begin {number}", flush=True)
    try:
        call(number)
    except Exception as error:
        status, message = classify(error, folder)
        print(f"{MARK} failed {number} {status}: {message.replace(f'{folder}/', '').splitlines()[0]}", flush=True)
        if status is Status.TIMEOUT or not _still_works():
            os._exit(1)
        return
    print(f"{MARK} end {number}", flush=True)


def _still_works() -> bool:
    try:
        torch.cuda.synchronize()
    except Exception:
        return False
    return True


class Sanitizer:
    """Each implementation once at each small shape, into outputs that nobody wrote."""

    def __init__(self, job: InspectJob, folder: Path) -> None:
        self.kernel, self.folder, self.calls = job.kernel, folder, calls_to_sanitize(job)
        self.reference = calling.reference_of(folder, job.kernel)

    def call(self, number: int) -> None:
        one = self.calls[number]
        expect_supported(one.implementation.arch)
        subject = calling.implementation_subject(self.folder, self.kernel, one.implementation, one.dtype, one.params)
        bench = Bench(self.kernel, one.dtype, one.params, self.reference, None, "cuda")
        for dims in one.shapes:
            ready = make_set(bench, subject, dims, 0)
            inputs = [tensor.cpu().cuda() for tensor in ready.inputs]  # initcheck does not see all that made them
            subject.into(inputs, ready.outs, dims)
            wait()


class Counter:
    """Each call once with the counters on, in a steady state: the calls before it on the other sets leave as many
    dirty lines in the L2 as it leaves itself, and nothing of its own set.
    """

    def __init__(self, job: InspectJob, folder: Path, what: str) -> None:
        self.kernel, self.folder, self.calls = job.kernel, folder, calls_to_count(job)
        self.reference = calling.reference_of(folder, job.kernel)
        self.subjects: dict[Any, calling.Subject] = {}
        self.place: object = None
        self.sets: list[Set] = []
        _count_copy() if what == "bytes" else _count_product()

    def call(self, number: int) -> None:
        one = self.calls[number]
        subject = self._subject(one)
        self._lay(one)
        dims = one.workload.dims
        _count(str(number), [partial(subject.into, ready.inputs, ready.outs, dims) for ready in self.sets])

    def _subject(self, one: Counting) -> calling.Subject:
        key = (one.role, one.name, *one.place[1:])
        if key not in self.subjects:
            self.subjects[key] = self._new_subject(one)
        return self.subjects[key]

    def _new_subject(self, one: Counting) -> calling.Subject:
        if one.role is Role.BASELINE:
            return calling.baseline_subject(self.folder, self.kernel, one.name, one.params)
        implementation = next(i for i in self.kernel.implementations if i.name == one.name)
        expect_supported(implementation.arch)
        return calling.implementation_subject(self.folder, self.kernel, implementation, one.dtype, one.params)

    def _lay(self, one: Counting) -> None:
        """The sets of a place, the same for everybody there."""
        if one.place == self.place:
            return
        self.sets, self.place = [], None
        torch.cuda.empty_cache()
        bench = Bench(self.kernel, one.dtype, one.params, self.reference, None, "cuda")
        count = _set_count(int(cost_of_call(self.kernel, one).bytes))
        self.sets = [make_set(bench, _TAKES_OUT, one.workload.dims, index) for index in range(count)]
        self.place = one.place


def _count(name: str, calls: Sequence[Callable[[], Any]]) -> None:
    """Every call once, then the first with the counters on, in a range of that name."""
    for call in calls:
        call()
    wait()
    torch.cuda.profiler.start()
    span = torch.cuda.nvtx.range_start(f"{RANGE} {name}")
    calls[0]()
    wait()
    torch.cuda.nvtx.range_end(span)
    torch.cuda.profiler.stop()


def _count_copy() -> None:
    """A kernel that reads and writes COPIED_BYTES; a copy might be done by the copy engine, which has no counters."""
    pairs = [
        (torch.randn(COPIED_BYTES // 8, device="cuda"), torch.empty(COPIED_BYTES // 8, device="cuda")) for _ in "ab"
    ]
    _count(KNOWN, [partial(torch.neg, source, out=target) for source, target in pairs])


def _count_product() -> None:
    """A matrix product of counters.PRODUCT_FLOPS."""
    a, b = (torch.randn(PRODUCT_SIDE, PRODUCT_SIDE, device="cuda", dtype=torch.bfloat16) for _ in "ab")
    _count(KNOWN, [partial(torch.mm, a, b)])


def _set_count(size: int) -> int:
    properties = torch.cuda.get_device_properties(0)
    return set_count(size, properties.L2_cache_size, RESIDENT_SHARE * properties.total_memory)


if __name__ == "__main__":
    main(sys.argv[1:])
