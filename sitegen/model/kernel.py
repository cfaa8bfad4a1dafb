"""The content of kernel.yaml: an operation, its implementations, its workloads, and the least cost of each.

Sizes, bytes and operations stay expressions over the dims
(`sitegen.model.formula` evaluates them), so one `Kernel` describes every workload and check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sitegen.diagnostics import Span

Scalar = int | float | bool | str


class Status(StrEnum):
    """Outcome of an evaluation; only `passed` has performance."""

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
    DOES_NOT_FIT = "does_not_fit"
    """The workload needs more memory than the GPU has, so nothing of it was started; no failure."""
    UNSUPPORTED = "unsupported"
    """The implementation does not take this dtype or architecture, or a block of its `launch` takes more shared
    memory than the GPU has, which is no failure."""
    NOT_RUN = "not_run"
    """The evaluation was not tried, which is no failure."""

    @property
    def failed(self) -> bool:
        """True for every status that says that something is wrong."""
        return self is not Status.PASSED and self not in UNTRIED

    @property
    def words(self) -> str:
        """The status as a reader sees it: `out of memory`."""
        return self.value.replace("_", " ")


UNTRIED = frozenset({Status.DOES_NOT_FIT, Status.UNSUPPORTED, Status.NOT_RUN})
"""Statuses of evaluations that were not tried, which says nothing about their code."""


class Gate(StrEnum):
    """A test of correctness that a result must pass."""

    SHAPE = "shape"
    """The outputs have the declared number and shapes."""
    DTYPE = "dtype"
    """The outputs have the declared dtypes."""
    MARGINS = "margins"
    """The guard bytes around inputs and outputs keep their values."""
    WRITTEN = "written"
    """Every element of `out` loses the pattern that it was filled with."""
    INPUTS = "inputs"
    """The inputs keep their bits."""
    FINITE = "finite"
    """NaN and infinity stand only where the reference has the same."""
    EXACT = "exact"
    """The outputs for an exact input set equal the reference bit for bit."""
    RELATIVE_ERROR = "relative_error"
    """‖out − ref‖ / ‖ref‖ is at most the tolerance."""
    ROW_ERROR = "row_error"
    """The same error of each row is at most 4 × the tolerance."""
    LARGEST_ERROR = "largest_error"
    """The largest error is at most 4 × the baseline's own plus 2 ulp."""
    REPEATS = "repeats"
    """Five calls of an implementation that is declared deterministic give the same bits."""
    RACECHECK = "racecheck"
    """compute-sanitizer's racecheck finds no hazard."""

    @property
    def status(self) -> Status:
        """Status of an evaluation that this gate ends."""
        return _STATUS_OF_GATE.get(self, Status.INCORRECT)


_STATUS_OF_GATE = {
    Gate.SHAPE: Status.WRONG_SHAPE,
    Gate.DTYPE: Status.WRONG_DTYPE,
    Gate.MARGINS: Status.OUT_OF_BOUNDS,
    Gate.WRITTEN: Status.UNWRITTEN,
    Gate.INPUTS: Status.MODIFIED_INPUT,
    Gate.REPEATS: Status.RACE,
    Gate.RACECHECK: Status.RACE,
}
"""Status that each gate gives; a gate that is not named here gives `incorrect`."""


class Language(StrEnum):
    TRITON = "triton"
    """A Python file with a function named like the kernel."""
    CUDA = "cuda"
    """Device code for NVRTC, launched as the YAML says."""
    CUDA_HOST = "cuda-host"
    """Device and host code for nvcc -shared, called through ctypes."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """An input or an output of a kernel."""

    name: str
    shape: tuple[str, ...]
    """Size of each axis, outermost first, as an expression over the dims."""
    dtype: str = "same"
    """`same` for the dtype of the evaluation, else the name of a torch dtype."""


@dataclass(frozen=True, slots=True)
class Launch:
    """Launch configuration of an `extern "C"` entry of a .cu file; all numbers are expressions."""

    entry: str
    grid: tuple[str, ...]
    block: tuple[str, ...]
    cluster: tuple[str, ...] = ()
    shared: str = "0"
    """Bytes of dynamic shared memory."""
    args: tuple[str, ...] = ()
    """Arguments in order: names of inputs, outputs, dims, params or constants."""
    constants: Mapping[str, str] = field(default_factory=dict)
    """Values that the compiler gets as -DNAME=value, by name; each is an expression."""


@dataclass(frozen=True, slots=True)
class Implementation:
    """One way to compute a kernel: a file under kernels/, or a cell of a post."""

    name: str
    file: str
    """Path from the site's root; for a cell `<post's file>#<label>`."""
    language: Language
    launch: Launch | None = None
    host: str = ""
    """The `extern "C"` host function of a cuda-host file."""
    arch: str = ""
    """The least architecture on which it is tried, as `>=sm_90`; empty: any."""
    dtypes: tuple[str, ...] = ()
    """Dtypes that it takes; empty: all dtypes of the kernel."""
    predicts: str = ""
    """The author's prediction, in words, written before the measurement."""
    predicted_of_ceiling: float | None = None
    """Share in `predicts` (0.5 for "50 % …"), which a chart shows as a hollow ring beside the bar."""
    explains: str = ""
    """The author's explanation of the difference between prediction and measurement, written after it."""
    deterministic: bool = False
    """True when the author declares it deterministic: five runs that differ are then a `race`."""
    source: str = ""
    """Code of an implementation in a cell; empty for a file."""
    line: int = 0
    """Line of the post on which the `source` of a cell begins; 0 for a file."""
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Wrong:
    """A kernel that the checker must reject, with the status that it must get."""

    implementation: Implementation
    fails: Status
    mistake: str = ""
    """What is wrong with it, in one plain sentence."""
    gate: Gate | None = None
    """The gate that must reject it when all other gates are off; None where the code does not even run."""
    at: Mapping[str, int] = field(default_factory=dict)
    """The shape of `checks` at which that gate must reject it."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Sizes of a kernel's dims at which it is timed."""

    name: str
    """The author's name for it, or the sizes joined by `x`."""
    dims: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Goal:
    """A performance goal, written as `best >= 0.98 of-copy @ 8192x8192:float32`, with ` on nvidia-h200` for one GPU."""

    text: str
    subject: str
    """An implementation's name, or `best`."""
    at_least: float
    unit: str
    """`of-copy`, `of-read`, `of-ceiling`, or `x <baseline>`."""
    workload: str
    dtype: str
    gpu: str = ""
    """The id of the only model of GPU for which it is set; empty for every GPU."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """One implementation at several values of its constants or of the dims, at one workload and dtype.

    Its points are all combinations of the values (`sitegen.model.sweep_points`).
    """

    name: str
    title: str
    implementation: str
    workload: str
    dtype: str
    constants: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Values of each swept constant of the launch, by its name."""
    dims: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Sizes of each swept dim; the other dims are those of the workload.  Dims that are equal at every point are
    written together: `M=N=K`."""
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel.yaml."""

    name: str
    summary: str
    dims: tuple[str, ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    dtypes: tuple[str, ...]
    flops: str
    reads: str
    """Expression for the least bytes read: each input once."""
    writes: str
    """Expression for the least bytes written: each output once."""
    tolerance: Mapping[str, float]
    """Largest relative error in the Frobenius norm, by dtype."""
    checks: tuple[Mapping[str, int], ...]
    """Odd and ragged sizes of the dims, at which correctness is checked and nothing is timed."""
    workloads: tuple[Workload, ...]
    baselines: tuple[str, ...]
    implementations: tuple[Implementation, ...]
    params: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """Values of each param, by its name; several values are swept."""
    extra_inputs: tuple[str, ...] = ()
    sanitizer: tuple[Mapping[str, int], ...] = ()
    """Sizes of the dims at which compute-sanitizer watches a call; empty: two of `checks`."""
    baseline_files: tuple[Implementation, ...] = ()
    """Baselines of a file of their own, such as a library of C++; all others are functions of reference.py."""
    wrong: tuple[Wrong, ...] = ()
    goals: tuple[Goal, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    span: Span | None = None

    @property
    def is_read(self) -> bool:
        """Whether its file is YAML; else nothing is known of the names in it, and no name of a text is a mistake."""
        return bool(self.dims or self.outputs or self.workloads)

    @property
    def folder(self) -> str:
        """Folder of the kernel, from the site's root."""
        return f"kernels/{self.name}"
