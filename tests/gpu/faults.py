"""On a GPU machine: plants faults beside a healthy kernel and prints what became of each.

    python tests/gpu/faults.py

Uses only `python -m sitegen.measure`.  Exit 1 when a status is wrong, the healthy kernel was not timed,
the GPU does not work afterwards, or a process is left.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from sitegen.model.job import JobResult  # noqa: E402  (a script: the repository is not installed on a GPU machine)
from sitegen.model.kernel import Language, Launch, Status  # noqa: E402
from sitegen.model.plain import from_plain, to_plain  # noqa: E402

ARGUMENTS = "const DTYPE* x, const DTYPE* y, DTYPE* z, long long n"
HEADER = "long long i = blockIdx.x * 256LL + threadIdx.x;"
CUDA = f'extern "C" __global__ void fault({ARGUMENTS}) {{ {HEADER} %s }}'
LAUNCH = Launch("fault", ("cdiv(N, 256)",), ("256",), args=("x", "y", "z", "N"))
HEALTHY = "if (i < n) z[i] = x[i] + y[i];"
HOST = f"""
#include <cuda_runtime.h>
#include <cstdint>
__global__ void sum_of_two({ARGUMENTS}) {{ {HEADER} {HEALTHY} }}
extern "C" int add_host(void** buffers, const int64_t* dims, const double*, void* stream) {{
    const long long n = dims[0];
    sum_of_two<<<(n + 255) / 256, 256, 0, (cudaStream_t)stream>>>(
        (const DTYPE*)buffers[0], (const DTYPE*)buffers[1], (DTYPE*)buffers[2], n);
    return cudaGetLastError();
}}
"""
"""Device and host code in one file: nvcc, called through ctypes."""
LOOP = "volatile long long* forever = (volatile long long*)z; if (i < n) { while (n > 0) forever[0] = i; }"
ILLEGAL = "if (i < n) *(volatile DTYPE*)(((unsigned long long)i << 40) | 16) = x[i];"
OUT_OF_MEMORY = """
import torch
def add(x, y, *, out=None):
    return torch.empty(1 << 45, dtype=torch.uint8, device=x.device)
"""
ASSERT = """
import torch, triton, triton.language as tl

@triton.jit(debug=True)
def kernel(z, n):
    tl.device_assert(n < 0, "planted")
    tl.store(z, 0.0)

def add(x, y, *, out=None):
    out = torch.empty_like(x) if out is None else out
    kernel[(1,)](out, x.numel())
    return out
"""
ABORT = "import os\ndef add(x, y, *, out=None):\n    os.abort()\n"
N = 1 << 22


@dataclass(frozen=True)
class Fault:
    name: str
    source: str
    language: Language
    expected: Status
    message: str
    """What must stand in the message."""


FAULTS = (
    Fault("endless_loop", CUDA % LOOP, Language.CUDA, Status.TIMEOUT, "10 s"),
    Fault("illegal_access", CUDA % ILLEGAL, Language.CUDA, Status.RUNTIME_ERROR, ""),
    Fault("device_assert", ASSERT, Language.TRITON, Status.RUNTIME_ERROR, ""),
    Fault("abort", ABORT, Language.TRITON, Status.RUNTIME_ERROR, "SIGABRT"),
    Fault("out_of_memory", OUT_OF_MEMORY, Language.TRITON, Status.OUT_OF_MEMORY, ""),
)


def add_kernel() -> ModuleType:
    spec = importlib.util.spec_from_file_location("add_kernel", ROOT / "tests" / "measure" / "add_kernel.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def measured(faults: tuple[Fault, ...]) -> tuple[JobResult, float]:
    """One job with these faults beside healthy kernels in Triton, CUDA and CUDA with host code, and its seconds."""
    kernels = add_kernel()
    sources = {fault.name: fault.source for fault in faults}
    languages: dict[str, tuple[Any, ...]] = {
        fault.name: (fault.language, LAUNCH) for fault in faults if fault.language is Language.CUDA
    }
    sources |= {"healthy": kernels.triton_source(), "healthy_cuda": CUDA % HEALTHY, "healthy_host": HOST}
    languages |= {"healthy_cuda": (Language.CUDA, LAUNCH), "healthy_host": (Language.CUDA_HOST, None, "add_host")}
    job = kernels.kernel_job(sources, n=N, languages=languages)
    with tempfile.TemporaryDirectory() as folder:
        job_file, result_file = Path(folder) / "job.json", Path(folder) / "result.json"
        job_file.write_text(json.dumps(to_plain(job)))
        start = time.monotonic()
        command = [sys.executable, "-m", "sitegen.measure", str(job_file), str(result_file)]
        subprocess.run(command, cwd=ROOT, check=True, timeout=500)
        return from_plain(JobResult, json.loads(result_file.read_text())), time.monotonic() - start


def others_finished(result: JobResult) -> bool:
    """The healthy kernels, the baseline and the probes passed and were timed."""
    names = {"healthy", "healthy_cuda", "healthy_host", "torch", "copy", "read"}
    timed = {e.name for e in result.evaluations if e.status is Status.PASSED and e.performance is not None}
    return names <= timed


def left_processes() -> list[str]:
    """Children of ours that are still there."""
    commands = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            commands.append(file.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return [command for command in commands if "sitegen.measure.child" in command]


def main() -> int:
    wrong = 0
    print(f"{'fault':16} {'status':16} {'expected':16} {'seconds':>8}  others  GPU      left  message")
    for faults in (*((fault,) for fault in FAULTS), FAULTS):
        result, seconds = measured(faults)
        found = {e.name: e for e in result.evaluations}
        finished, healthy, left = others_finished(result), not result.error, left_processes()
        for fault in faults:
            got = found[fault.name]
            good = got.status is fault.expected and fault.message in got.message
            wrong += not (good and finished and healthy and not left)
            print(
                f"{fault.name:16} {got.status:16} {fault.expected:16} {seconds:8.1f}  "
                f"{'yes' if finished else 'NO':6}  {'healthy' if healthy else 'SICK':7}  {len(left):4}  "
                f"{got.message.splitlines()[0][:90] if got.message else ''}{'' if good else '  <-- WRONG'}"
            )
        if not finished:
            print("\n".join(f"    {e.name}: {e.status} {e.message}" for e in result.evaluations))
        if len(faults) > 1:
            print(f"all at once: {dict(result.seconds)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
