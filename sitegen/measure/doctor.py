"""This machine → what of it works for measuring, and how to get what is missing.

Each look is independent: one that fails says so, and the others go on.  No look changes the machine.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sitegen.measure.environment import gpu_memory_bytes

DISTRIBUTION = "kernel-sitegen"
PARAMETERS = Path("/proc/driver/nvidia/params")
"""File in which the driver says whether only root may read counters."""
_COPY = """
import torch
x = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
y = torch.empty_like(x)
times = []
for _ in range(20):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    y.copy_(x)
    end.record()
    end.synchronize()
    times.append(start.elapsed_time(end))
print(2 * x.numel() / min(times) * 1e3, torch.cuda.get_device_name())
"""
Rate = Callable[[str], float | None]
"""The memory's bytes per second by the datasheet, of a GPU by its product name; None when it is not known."""
OWN = "packages"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that measuring needs."""

    name: str
    works: bool
    text: str
    """The version or the value; for a missing thing how to get it."""
    needed: bool = False
    """Whether no Triton kernel runs without it."""


def findings(datasheet: Rate) -> Iterator[Finding]:
    """Yield every finding about this machine, what sitegen itself needs first."""
    yield _own_packages()
    yield from findings_for_triton()
    yield _package("cuda-core", "pip install 'cuda-core[cu13]'; it compiles and launches .cu files")
    yield _tool("nvcc", "install the CUDA toolkit; implementations with `host:` need it")
    yield _tool("ncu", "install Nsight Compute; `try --ncu` needs it")
    yield _tool("compute-sanitizer", "install the CUDA toolkit; it finds races and accesses out of bounds")
    if gpu_memory_bytes() > 0:
        yield _counters()
        yield _clocks()
        yield _copy(datasheet)


def findings_for_triton() -> Iterator[Finding]:
    """Yield what a Triton kernel needs, and the GPU, without which Triton's interpreter runs it."""
    gpu = gpu_memory_bytes() > 0
    yield _gpu(gpu)
    if gpu:
        yield _c_compiler()
    yield _package("torch", "pip install torch", needed=True)
    yield _package("triton", "pip install triton; it comes with torch on Linux", needed=True)
    yield _package("numpy", "pip install numpy; Triton's interpreter needs it", needed=True)


def works_all_the_same(found: list[Finding]) -> tuple[str, ...]:
    """Return what can be done on this machine, in sentences."""
    there = {one.name for one in found if one.works}
    can = list[str]()
    if OWN in there:
        can.append("`build`, `check`, `serve` and `status` work: they need no GPU and no torch.")
    if {"torch", "triton", "numpy"} <= there:
        can.append("`exercise check` and `try` check Triton kernels" + _how("GPU" in there))
    if {"GPU", "torch", "triton"} <= there:
        can.append("`run` measures Triton kernels.")
    if {"GPU", "torch", "cuda-core"} <= there:
        can.append("`run` measures CUDA kernels.")
    return tuple(can)


def _how(gpu: bool) -> str:
    return " on the GPU, with times." if gpu else " under Triton's interpreter, without times."


def _gpu(gpu: bool) -> Finding:
    if not gpu:
        return Finding(
            "GPU",
            False,
            "the driver finds none; Triton's interpreter runs kernels, and a machine with a GPU is needed for times",
        )
    return Finding("GPU", True, _asked("name,driver_version") or "found")


def _c_compiler() -> Finding:
    """Return whether Triton can build the C code by which it launches kernels on a GPU."""
    path = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    headers = Path(sysconfig.get_config_var("INCLUDEPY"), "Python.h")
    how = "Triton needs a C compiler and Python's headers; on Debian and Ubuntu: apt install gcc python3-dev"
    works = path is not None and headers.exists()
    return Finding("C compiler", works, str(path) if works else how)


def _own_packages() -> Finding:
    """Return whether the packages are there that sitegen needs for more than measuring."""
    try:
        needed = [one for one in importlib.metadata.requires(DISTRIBUTION) or () if "extra ==" not in one]
    except importlib.metadata.PackageNotFoundError:
        return Finding(
            OWN, False, "sitegen is not installed: pip install it; only `run --bundle` and `try --bundle` work"
        )
    missing = [one for one in needed if not _package(re.split(r"[^\w-]", one)[0], "").works]
    return Finding(OWN, not missing, f"pip install {' '.join(missing)}" if missing else "all that sitegen needs")


def _package(name: str, how: str, *, needed: bool = False) -> Finding:
    try:
        return Finding(name, True, importlib.metadata.version(name), needed)
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, False, how, needed)


def _tool(name: str, how: str) -> Finding:
    path = shutil.which(name)
    return Finding(name, path is not None, path or how)


def _counters() -> Finding:
    """Return whether a user may read the GPU's counters, as the driver's parameters say."""
    try:
        restricted = "RmProfilingAdminOnly: 1" in PARAMETERS.read_text(encoding="utf-8")
    except OSError:
        return Finding(
            "counters", False, f"{PARAMETERS} cannot be read, so it is unknown whether ncu may read counters"
        )
    advice = "only root may read them: set NVreg_RestrictProfilingToAdminUsers=0 for the module nvidia, or run as root"
    return Finding("counters", not restricted, advice if restricted else "every user may read them")


def _clocks() -> Finding:
    text = _asked("clocks.sm,clocks.max.sm")
    return Finding("clocks", bool(text), f"SM clock now, and at most: {text}" if text else "nvidia-smi gives no clocks")


def _copy(datasheet: Rate) -> Finding:
    """Return the bandwidth of a copy of 256 MiB, read in a process of its own, beside that of the datasheet."""
    done = subprocess.run([sys.executable, "-c", _COPY], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return Finding("copy", False, f"failed: {last}")
    return Finding("copy", True, bandwidth_text(done.stdout, datasheet))


def bandwidth_text(answer: str, datasheet: Rate) -> str:
    """Return what a copy reached, from an answer such as `2.9e12 NVIDIA H200`: bytes per second, and the GPU's name."""
    bytes_per_s, name = answer.strip().split(" ", 1)
    reached, best = float(bytes_per_s), datasheet(name)
    share = f", {reached / best:.0%} of the {best / 1e12:.2f} TB/s of its datasheet" if best else ""
    return f"{reached / 1e12:.2f} TB/s{share}"


def _asked(fields: str) -> str:
    """Return the answer of nvidia-smi about the first GPU; empty without an answer."""
    words = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader", "--id=0"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if done.returncode else done.stdout.strip()
