"""What a reader wants to see beside the time of a call: launch record, compilation, PTX and SASS.

Nothing here may fail an evaluation: what cannot be had is left out, and `notes` says why.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

import torch

from sitegen.measure.artefacts import Binary, compilation_of, pack
from sitegen.measure.call import CudaSubject, HostSubject, PythonSubject, Subject
from sitegen.measure.compile import arch_of
from sitegen.measure.correctness import Bench, call_and_wait
from sitegen.measure.launches import TritonWatch, record_launch
from sitegen.measure.timing import make_set
from sitegen.model.plain import to_plain


def collect(bench: Bench, subject: Subject, watch: TritonWatch | None, dims: Mapping[str, int]) -> dict[str, Any]:
    """`launch`, `compilation` (plain, or None), `artefacts` (packed, by name), `notes`."""
    found: dict[str, Any] = {"launch": None, "compilation": None, "artefacts": {}, "notes": []}
    try:
        ready = make_set(bench, subject, dims, 0)
        binaries = binaries_of(subject, watch, lambda: subject.into(ready.inputs, ready.outs, dims), dims)
        found["launch"] = to_plain(record_launch(lambda: subject.into(ready.inputs, ready.outs, dims)))
        compiled = compilation_of(binaries, arch_of(torch.cuda.get_device_capability()))
    except Exception:
        return {**found, "notes": [traceback.format_exc(limit=-3)]}
    if compiled is None:
        return found
    compilation, artefacts = compiled
    packed = {name: pack(content) for name, content in artefacts.items()}
    return {**found, "compilation": to_plain(compilation), "artefacts": packed}


def binaries_of(subject: Subject, watch: TritonWatch | None, call: Any, dims: Mapping[str, int]) -> list[Binary]:
    """The machine code that one call runs; none for a baseline that is not ours."""
    if isinstance(subject, CudaSubject):
        code, config, _ = subject.plan(dims)
        return [Binary(code.cubin, (subject.launch.entry,), code.ptx(), code.flags, config.shmem_size)]
    if isinstance(subject, HostSubject):
        return [Binary(subject.shared_object.read_bytes(), flags=subject.flags)]
    if watch is None or type(subject) is not PythonSubject:
        return []
    watch.start()
    call_and_wait(call)
    watch.stop()
    return watch.binaries()
