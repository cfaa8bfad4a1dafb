"""Plant faults beside healthy kernels on a GPU machine, and print the result of each.

    python tests/gpu/faults.py --out FOLDER                    (up to 330 s)
    python tests/gpu/faults.py --out FOLDER --parts killed     (one part: alone 180 s, killed 90 s, together 90 s)

Shows that whatever goes wrong in one implementation costs that implementation alone.  Each fault runs in a job of its
own (`alone`) beside a healthy kernel, the baseline and the probes, and all of them in one job (`together`) beside
kernels in three languages: it must get its status, the others must be timed, a canary kernel must find the GPU healthy,
and no process may be left.  Two faults strike late: one at a call that only the timed rounds reach, one in later
generations of processes, which nobody checks.  A bundle runs through Dask (`killed`) while the measuring process is
killed in its first job and the worker itself in its second: the first has no result and says why, the second is done
again; this part needs Dask and click.  `contained` is what a fault cost: the job's seconds beyond those of the same job
without it, or the seconds until nothing of the killed was left.  One GPU is used, the machine's first; others may be at
work for somebody else.

Exit 1 when a status is wrong, another kernel was not timed, the GPU does not work afterwards, or a process, a file in
the working tree or in the folder for temporary files, or memory of the GPU is left.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
from machine import ROOT, Limit, OutOfTime, end, environment, gpus, measured, save, table, without_listings

from sitegen.execute.bundle import read_results, write_bundle
from sitegen.model.job import JobResult, KernelJob
from sitegen.model.kernel import Language, Launch, Status

MARK = "SITEGEN_FAULTS"
"""Variable in the environment of every process that this script starts."""
PARTS = {"alone": 180.0, "killed": 90.0, "together": 90.0}
"""Parts that the command line can name, and the most seconds of each; the job without faults is in all of them."""
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
"""Source with device and host code, which nvcc compiles and ctypes calls."""
LOOP = "volatile long long* forever = (volatile long long*)z; if (i < n) { while (n > 0) forever[0] = i; }"
ILLEGAL = "if (i < n) *(volatile DTYPE*)(((unsigned long long)i << 40) | 16) = x[i];"
LATE_CALL = 12000
"""Number of a call that only timed rounds reach.

Checks make some hundred calls, the warm-up and the choice of a way to time six thousand, and a round of graphs four
thousand.  The first process takes four rounds.
"""
LATE = f"if (i == 0 && atomicAdd(&calls, 1ULL) == {LATE_CALL}) *(volatile DTYPE*)16 = z[0];"
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
SEEN = """
from pathlib import Path
try:
    Path(__file__).with_suffix(".seen").touch(exist_ok=False)
    second = False
except FileExistsError:
    second = True
"""
"""Code that leaves a trace in the job's folder when a process loads it, so that the next process finds it."""
N = 1 << 22
"""Number of elements: a call is so short that it is timed in graphs of many calls."""
UNDER_WAY_S = 4.0
"""Age in seconds at which a job has started its children and is checking or timing."""
NOTHING_MIB = 64
CACHES = {"__pycache__", ".git", ".venv"}
DASK = {"dask-scratch-space", "global.lock", "purge.lock"}
"""Files that may remain: Dask leaves its folder for temporary files, empty except for its locks."""


@dataclass(frozen=True)
class Fault:
    name: str
    source: str
    language: Language
    expected: Status
    message: str = ""
    """Words that the message must contain."""


@dataclass(frozen=True)
class Row:
    """The result of one fault."""

    fault: str
    status: str
    expected: str
    contained_s: float
    others: bool
    healthy: bool
    left: int
    message: str = ""
    good: bool = True

    @property
    def held(self) -> bool:
        return self.good and self.others and self.healthy and not self.left

    def cells(self) -> tuple[object, ...]:
        others, gpu = "yes" if self.others else "NO", "healthy" if self.healthy else "SICK"
        wrong = "" if self.held else "<-- WRONG"
        return (
            self.fault,
            self.status,
            self.expected,
            self.contained_s,
            others,
            gpu,
            self.left,
            self.message[:80],
            wrong,
        )


@dataclass(frozen=True)
class Family:
    """The processes of a job that runs through Dask."""

    guard: psutil.Process
    measure: psutil.Process

    @property
    def worker(self) -> psutil.Process:
        found = self.guard.parent()
        assert found is not None, "the guard ends with its worker"
        return found


HEAD = ("fault", "status", "expected", "contained", "others", "GPU", "left", "message", "")


def the_faults(kernels: ModuleType) -> tuple[Fault, ...]:
    late = f"__device__ unsigned long long calls;\n{CUDA % (HEALTHY + LATE)}"
    second = kernels.triton_source(
        before=SEEN, epilogue="if second: out[torch.full((1,), 1 << 40, device=x.device)] = 0.0"
    )
    return (
        Fault("endless_loop", CUDA % LOOP, Language.CUDA, Status.TIMEOUT, "10 s"),
        Fault("illegal_access", CUDA % ILLEGAL, Language.CUDA, Status.RUNTIME_ERROR),
        Fault("device_assert", ASSERT, Language.TRITON, Status.RUNTIME_ERROR),
        Fault("out_of_memory", OUT_OF_MEMORY, Language.TRITON, Status.OUT_OF_MEMORY),
        Fault("abort", ABORT, Language.TRITON, Status.RUNTIME_ERROR, "SIGABRT"),
        Fault("while_timed", late, Language.CUDA, Status.RUNTIME_ERROR),
        Fault("second_process", second, Language.TRITON, Status.RUNTIME_ERROR),
    )


def add_kernel() -> ModuleType:
    spec = importlib.util.spec_from_file_location("add_kernel", ROOT / "tests" / "measure" / "add_kernel.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def job_of(kernels: ModuleType, faults: tuple[Fault, ...], every_language: bool = False, n: int = N) -> KernelJob:
    """Return a job with these faults beside a healthy kernel in Triton, and on request in CUDA as well."""
    sources = {fault.name: fault.source for fault in faults} | {"healthy": kernels.triton_source()}
    languages: dict[str, tuple[Any, ...]] = {
        fault.name: (fault.language, LAUNCH) for fault in faults if fault.language is Language.CUDA
    }
    if every_language:
        sources |= {"healthy_cuda": CUDA % HEALTHY, "healthy_host": HOST}
        languages |= {"healthy_cuda": (Language.CUDA, LAUNCH), "healthy_host": (Language.CUDA_HOST, None, "add_host")}
    made: KernelJob = kernels.kernel_job(sources, n=n, languages=languages)
    return made


def others_finished(result: JobResult, faults: tuple[Fault, ...]) -> bool:
    """Return whether all others passed and were timed: at least a healthy kernel, the baseline and the probes."""
    others = [e for e in result.evaluations if e.name not in {fault.name for fault in faults}]
    timed = {e.name for e in others if e.status is Status.PASSED and e.performance is not None}
    return {"healthy", "torch", "copy", "read"} <= timed == {e.name for e in others}


def rows_of(faults: tuple[Fault, ...], result: JobResult, extra_s: float, left: int) -> Iterator[Row]:
    found = {e.name: e for e in result.evaluations}
    others, healthy = others_finished(result, faults), not result.error
    for fault in faults:
        got, name = found[fault.name], f"{fault.name}{' among all' if len(faults) > 1 else ''}"
        good = got.status is fault.expected and fault.message in got.message and got.performance is None
        message = got.message.splitlines()[0] if got.message else ""
        yield Row(name, got.status, fault.expected, extra_s, others, healthy, left, message, good)


def ours_running() -> list[psutil.Process]:
    """Return the processes of this program that this script started, also those without a living parent."""
    return [p for p in psutil.process_iter() if is_marked(p) and any(w.startswith("sitegen") for w in words_of(p))]


def is_marked(process: psutil.Process) -> bool:
    """Return whether this script started the process: the mark is set in the environment with which a process began."""
    try:
        return bool(process.environ().get(MARK) == str(os.getpid()))
    except psutil.Error:
        return False


def words_of(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def killed_in_a_bundle(kernels: ModuleType, limit: Limit) -> tuple[list[Row], list[JobResult]]:
    """Run two jobs through Dask: the measuring process of the first is killed, and the worker in the second."""
    jobs = [job_of(kernels, (), n=N // 2), job_of(kernels, (), n=N)]
    with tempfile.TemporaryDirectory() as folder:
        bundle, out, log = Path(folder, "bundle.zip"), Path(folder, "results.zip"), Path(folder, "log")
        write_bundle(jobs, "", bundle)
        command = [sys.executable, "-m", "sitegen", "run", "--bundle", str(bundle), "-o", str(out)]
        with log.open("wb") as output:
            run = subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=output, stderr=subprocess.STDOUT)
        try:
            measure_s = killed(run, limit, lambda family: family.measure, set())
            worker_s = killed(run, limit, lambda family: family.worker, {measure_s[1]})
            run.wait(max(1.0, limit.left))
        except subprocess.TimeoutExpired:
            raise OutOfTime from None
        finally:
            end(run)
        found, mistakes = read_results(out) if out.exists() else (None, [])
        if found is None:
            raise RuntimeError(f"the bundle has no results: {[m.message for m in mistakes]}\n{log.read_text()[-1500:]}")
    left, (first, second) = len(ours_running()), found.results
    words, done = first.error.splitlines()[0] if first.error else "", others_finished(second, ())
    lost = Row(
        "kill -9 measure", "lost" if words else "done", "lost", measure_s[0], done, True, left, words, bool(words)
    )
    again = "done" if done else "lost"
    worker = Row("kill -9 worker", again, "done", worker_s[0], done, not second.error, left, second.error, done)
    return [lost, worker], list(found.results)


def killed(
    run: subprocess.Popen[Any], limit: Limit, victim: Callable[[Family], psutil.Process], done: set[int]
) -> tuple[float, int]:
    """Kill a process of the next job once it is under way.

    Return the seconds until no process of the job is left, and its guard.  `done` are the guards of earlier jobs.
    """
    while limit.left > 0 and run.poll() is None:
        for guard in ours_running():
            if "sitegen.execute.guard" in words_of(guard) and guard.pid not in done and (measure := busy_child(guard)):
                everybody, start = [guard, measure, *measure.children(recursive=True)], time.monotonic()
                os.kill(victim(Family(guard, measure)).pid, signal.SIGKILL)
                psutil.wait_procs(everybody, timeout=max(1.0, limit.left))
                return time.monotonic() - start, guard.pid
        time.sleep(0.05)
    if run.poll() is not None:
        raise RuntimeError("the run was over before it could be disturbed")
    raise OutOfTime


def busy_child(guard: psutil.Process) -> psutil.Process | None:
    """Return the measuring process, once it is under way with processes of a job; None before.

    A process that waits for its job has a fork server without children.
    """
    try:
        old = time.time() - guard.create_time() > UNDER_WAY_S
        return next((p for p in guard.children() if old and len(p.children(recursive=True)) > 1), None)
    except psutil.Error:
        return None


def belongings() -> set[str]:
    """Return the files of the working tree and of the folder for temporary files: their number must not grow."""
    status = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=False)
    lines = {f"git: {line}" for line in status.stdout.splitlines()}
    paths = (path for folder in (ROOT, Path(tempfile.gettempdir())) for path in folder.rglob("*"))
    return lines | {str(path) for path in paths if not CACHES & {*path.parts} and path.name not in DASK}


def gpu_memory_mib(uuid: str) -> int:
    query = ["nvidia-smi", "-i", uuid, "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return int(subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the results as JSON")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="default: all")
    given = parser.parse_args(arguments)
    if "killed" in given.parts:
        expect_dask()
    with tempfile.TemporaryDirectory(prefix="sitegen-faults-") as own:
        tempfile.tempdir = own
        return planted(given.parts, given.out, Path(own))


def planted(parts: Sequence[str], out: Path, own: Path) -> int:
    """Run the parts and return the exit code; `own` is the folder for temporary files."""
    device, kernels = gpus()[0], add_kernel()
    os.environ.update(device.environment, TMPDIR=str(own), **{MARK: str(os.getpid())})  # of whatever is started here
    limit = Limit(sum(PARTS[part] for part in parts))
    rows, results, left = list[Row](), list[JobResult](), list[str]()
    try:
        results.append(measured(job_of(kernels, ()), limit))  # fills the caches of compilers, which are no leftovers
        usual_s, before, used = limit.spent, belongings(), gpu_memory_mib(device.uuid)
        print(f"a job without faults took {usual_s:.1f} s", flush=True)
        faults = the_faults(kernels)
        for fault in faults if "alone" in parts else ():
            rows += _tried((fault,), kernels, limit, results, usual_s)
        if "together" in parts:
            rows += _tried(faults, kernels, limit, results, usual_s)
        if "killed" in parts:
            lost, more = killed_in_a_bundle(kernels, limit)
            rows, results = [*rows, *lost], [*results, *more]
        left = [*sorted(belongings() - before), *held_memory(gpu_memory_mib(device.uuid) - used)]
    except OutOfTime:
        left.append(f"not everything was tried within {limit.seconds:.0f} s")
    finally:
        save(out, f"faults-{'-'.join(parts)}", [without_listings(result) for result in results])
        print(table(HEAD, [row.cells() for row in rows]))
    print(f"{limit.spent:.0f} s; left: {', '.join(left) or 'nothing'}")
    return 0 if all(row.held for row in rows) and not left else 1


def expect_dask() -> None:
    """Raise SystemExit where a process that this script starts could not run a bundle."""
    command = [sys.executable, "-c", "import distributed, sitegen.cli"]
    tried = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        why = tried.stderr.strip().splitlines()[-1]
        raise SystemExit(
            f"the part `killed` needs Dask and click on PYTHONPATH ({why}); others: --parts alone together"
        )


def _tried(
    faults: tuple[Fault, ...], kernels: ModuleType, limit: Limit, results: list[JobResult], usual_s: float
) -> list[Row]:
    """Run these faults in one job, whose result joins the others."""
    start = limit.spent
    results.append(measured(job_of(kernels, faults, every_language=len(faults) > 1), limit))
    return list(rows_of(faults, results[-1], limit.spent - start - usual_s, len(ours_running())))


def held_memory(mib: int) -> list[str]:
    return [f"{mib} MiB of the GPU"] if mib > NOTHING_MIB else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
