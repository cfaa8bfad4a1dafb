"""What a reader wants to see beside the time of a call: launch record, compilation, PTX and SASS.

Nothing here may fail an evaluation: what cannot be had is left out, and `missing` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from sitegen.measure.artefacts import Binary, disassemble, plain
from sitegen.measure.call import CudaSubject, HostSubject, PythonSubject, Subject
from sitegen.measure.compile import arch_of
from sitegen.measure.correctness import Bench, call_and_wait
from sitegen.measure.launches import Captured, TritonWatch, capture
from sitegen.measure.timing import make_set
from sitegen.model.plain import to_plain


def collect(bench: Bench, subject: Subject, watch: TritonWatch | None, dims: Mapping[str, int]) -> dict[str, Any]:
    """`launch`, `compilation` (plain, or None), `artefacts` (packed, by name), `missing`: why, or empty."""
    found: dict[str, Any] = {"launch": None, "compilation": None, "artefacts": {}, "missing": ""}
    try:
        ready = make_set(bench, subject, dims, 0)
        call = partial(subject.into, ready.inputs, ready.outs, dims)
        noted = noted_by(watch, subject, call)
        captured = capture(call)
        found["launch"] = to_plain(captured.launch) if captured else None
        made = disassemble(binaries_of(subject, noted, captured, dims), arch_of(torch.cuda.get_device_capability()))
    except Exception as error:
        return {**found, "missing": f"{type(error).__name__}: {error}"}
    return found if made is None else {**found, **plain(made.compilation, made.artefacts)}


def noted_by(watch: TritonWatch | None, subject: Subject, call: Callable[[], Any]) -> list[Binary]:
    """Calls once, so that nothing is left to compile or load, and gives the Triton kernels of a function of ours."""
    if watch is None or type(subject) is not PythonSubject:
        call_and_wait(call)
        return []
    watch.start()
    call_and_wait(call)
    watch.stop()
    return watch.binaries()


def binaries_of(
    subject: Subject, noted: list[Binary], captured: Captured | None, dims: Mapping[str, int]
) -> list[Binary]:
    """The machine code that one call runs; none for a baseline that is not ours."""
    if isinstance(subject, CudaSubject):
        plan = subject.plan(dims)
        return [plan.code.binary(plan.geometry.shared_bytes)]
    if isinstance(subject, HostSubject):
        data, shared = subject.shared_object.read_bytes(), captured.launch.shared_bytes if captured else 0
        return [Binary(data, captured.kernels if captured else (), flags=subject.flags, dynamic_shared=shared)]
    return noted
