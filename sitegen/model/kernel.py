"""A kernel: an operation, its implementations, its workloads, and what each costs at least.

This is kernel.yaml as data.  Sizes, bytes and operations stay expressions over the dims
(`sitegen.model.formula` evaluates them), so one `Kernel` describes every workload and check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sitegen.diagnostics import Span

Scalar = int | float | bool | str


class Status(StrEnum):
    """How an evaluation ended; only `passed` has performance."""

    PASSED = "passed"
    INCORRECT = "incorrect"
    WRONG_SHAPE = "wrong_shape"
    WRONG_DTYPE = "wrong_dtype"
    UNWRITTEN = "unwritten"
    OUT_OF_BOUNDS = "out_of_bounds"
    MODIFIED_INPUT = "modified_input"
    RACE = "race"
    COMPILE_ERROR = "compile_error"
    RUNTIME_ERROR = "runtime_error"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    UNSUPPORTED = "unsupported"
    """The dtype or the architecture is not offered: no failure."""
    NOT_RUN = "not_run"
    """Nobody tried yet: no failure."""

    @property
    def failed(self) -> bool:
        return self not in (Status.PASSED, Status.UNSUPPORTED, Status.NOT_RUN)


class Language(StrEnum):
    TRITON = "triton"
    """A Python file with a function named like the kernel."""
    CUDA = "cuda"
    """Device code for NVRTC, launched as the YAML says."""
    CUDA_HOST = "cuda-host"
    """Device and host code for nvcc -shared, called through ctypes."""


@dataclass(frozen=True, slots=True)
class Tensor:
    name: str
    shape: tuple[str, ...]
    """Expressions over the dims, outermost first."""
    dtype: str = "same"
    """`same`: the evaluation's dtype; else a torch dtype's name."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How an `extern "C"` entry of a .cu file is launched; all numbers are expressions."""

    entry: str
    grid: tuple[str, ...]
    block: tuple[str, ...]
    cluster: tuple[str, ...] = ()
    shared: str = "0"
    """Dynamic shared memory, bytes."""
    args: tuple[str, ...] = ()
    """In order: names of inputs, outputs, dims, params or constants."""
    constants: Mapping[str, str] = field(default_factory=dict)
    """-DNAME=value for the compiler, by name; the value is an expression (numbers are written as text)."""


@dataclass(frozen=True, slots=True)
class Implementation:
    """One way to compute a kernel: a file under kernels/, or a cell of a post."""

    name: str
    file: str
    """Path from the site's root.  Of a cell: `<post's file>#<label>`; its text is `source`."""
    language: Language
    launch: Launch | None = None
    host: str = ""
    """The `extern "C"` host function of a cuda-host file."""
    arch: str = ""
    """`>=sm_90`: only where the GPU is at least that; empty: anywhere."""
    dtypes: tuple[str, ...] = ()
    """Empty: all of the kernel's."""
    predicts: str = ""
    """The author's prediction, in words, written before the measurement."""
    predicted_of_ceiling: float | None = None
    """The share in `predicts` ("50 % …" is 0.5), for the hollow ring beside the bar."""
    deterministic: bool = False
    """Declared so: five runs that differ are then `race`."""
    source: str = ""
    """The text of an implementation in a cell; empty for a file."""
    line: int = 0
    """Of a cell: the line of the post on which `source` begins."""
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Wrong:
    """A kernel that the checker must reject, with the status that it must get."""

    implementation: Implementation
    fails: Status


@dataclass(frozen=True, slots=True)
class Workload:
    name: str
    """The dims joined by `x`, or the author's name for it."""
    dims: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Goal:
    """`best >= 0.98 of-copy @ 8192x8192:float32`."""

    text: str
    subject: str
    """An implementation's name, or `best`."""
    at_least: float
    unit: str
    """`of-copy`, `of-read`, `of-ceiling`, or `x <baseline>`."""
    workload: str
    dtype: str


@dataclass(frozen=True, slots=True)
class Kernel:
    name: str
    summary: str
    dims: tuple[str, ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    dtypes: tuple[str, ...]
    flops: str
    reads: str
    """Least bytes read, an expression: each input once."""
    writes: str
    """Least bytes written: each output once."""
    tolerance: Mapping[str, float]
    """Largest relative error in the Frobenius norm, by dtype."""
    checks: tuple[Mapping[str, int], ...]
    """Odd and ragged dims, checked for correctness only."""
    workloads: tuple[Workload, ...]
    baselines: tuple[str, ...]
    implementations: tuple[Implementation, ...]
    params: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """By name, the values that are swept; one value is no sweep."""
    extra_inputs: tuple[str, ...] = ()
    wrong: tuple[Wrong, ...] = ()
    goals: tuple[Goal, ...] = ()
    span: Span | None = None

    @property
    def folder(self) -> str:
        return f"kernels/{self.name}"
