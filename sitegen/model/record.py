"""Measurements as they are stored: `kernels/<kernel>/results/<gpu>.json` is a `Record`.

`sitegen.measure` makes them on a GPU machine, `results/` validates them, `render/` shows them, and no one edits them.
Times are microseconds of device time of one call; rates are per second; sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sitegen.model.kernel import Scalar, Status

SCHEMA = 1
CALIBRATION = 0.02
"""Largest relative error of the counters on a known amount of work; beyond it they are marked invalid."""


class Role(StrEnum):
    """The part that a piece of code plays in an evaluation."""

    IMPLEMENTATION = "implementation"
    """Code of the site."""
    BASELINE = "baseline"
    """A library function that a user would call instead."""
    PROBE = "probe"
    """The fastest copy (`copy`) or read (`read`) of the same bytes, timed in the same rounds."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The machine and the software that made a number."""

    gpu: str
    """The driver's product name: `NVIDIA H200`."""
    arch: str
    """`sm_90`."""
    sm_count: int
    l2_bytes: int
    memory_bytes: int
    driver: str
    cuda: str
    """Version of the toolkit that compiled CUDA C++ (NVRTC)."""
    torch: str
    triton: str
    python: str
    sm_clock_max_mhz: float
    power_limit_w: float
    ecc: bool
    compute_mode: str = ""
    gpu_hash: str = ""
    """Hash of the GPU's UUID (`model.gpu.gpu_hash`), which tells GPUs of one model apart; empty where it is not known,
    and in records of MEASURE_VERSION 3 and before."""


@dataclass(frozen=True, slots=True)
class CycleRate:
    """Operations per SM cycle of the fastest way to compute, which do not depend on the clock.

    They are measured in several bursts, or in several stretches of sustained load.
    """

    way: str
    """Name of the way in `Ceiling.probes`."""
    per_cycle: float
    """Operations of the whole GPU per SM cycle: the mean of `stretches`."""
    low: float
    """Lower end of the 95 % interval of `per_cycle`."""
    high: float
    """Upper end of the same interval."""
    stretches: tuple[float, ...]
    """Operations per SM cycle in each burst or stretch, in order of time."""
    sm_clock_mhz: float
    """Mean SM clock over all of them."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A measured limit of a GPU."""

    name: str
    """A key of `CEILINGS` in model/ceiling_table.py, such as `memory 1:1` or `bf16`."""
    rate: float
    """Best rate of `probes`, in bytes or operations per second, as the table says."""
    probes: Mapping[str, float]
    """Rate of each probe, by its name; `L2` also has the rate at each working set, such as `16 MB`."""
    seconds: float = 0.0
    """Wall time that the probes took."""
    clocks_mhz: Mapping[str, float] = field(default_factory=dict)
    """SM clock while each probe ran, by its name; only for arithmetic."""
    burst: CycleRate | None = None
    """Rate in SM cycles in bursts after a pause; only for arithmetic."""
    sustained: CycleRate | None = None
    """Rate in SM cycles under sustained load; only for arithmetic."""


@dataclass(frozen=True, slots=True)
class MeasuredGpu:
    """One GPU of a run, with its own ceilings."""

    environment: Environment
    ceilings: tuple[Ceiling, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """Time, commit and machine of one `sitegen run`; evaluations refer to it by `id`."""

    id: str
    """Start in UTC: `2026-11-21T06:10:05Z`."""
    date: str
    """`2026-11-21`."""
    commit: str
    """Abbreviated commit of the site's repository; `+` at the end when files differed from it."""
    environment: Environment
    """The machine; of a run on several GPUs, that of the first."""
    ceilings: tuple[Ceiling, ...] = ()
    """Ceilings of the GPU of `environment`."""
    other_gpus: tuple[MeasuredGpu, ...] = ()
    """The other GPUs of the run, all of one model; an evaluation names its GPU by `gpu_hash`."""
    measured_by: str = ""
    """The run on GitHub that signed the results, `OWNER/NAME/actions/runs/4711`; empty for results without a signature
    that `accept` verified."""

    @property
    def gpus(self) -> tuple[MeasuredGpu, ...]:
        """All GPUs of the run, each with its ceilings."""
        return (MeasuredGpu(self.environment, self.ceilings), *self.other_gpus)


@dataclass(frozen=True, slots=True)
class Correctness:
    """Largest errors over all seeds, shapes and input sets, against a float64 reference."""

    relative_error: float
    """‖out − ref‖ / ‖ref‖; for reductions to few values the error over Σ|x|."""
    row_error: float
    """The same error of the worst output row."""
    max_abs_error: float
    baseline_max_abs_error: float
    tolerance: float
    shapes: int
    seeds: int
    input_sets: tuple[str, ...] = ()
    deterministic: bool = False
    """True when five runs were equal bit for bit."""
    vacuous: tuple[str, ...] = ()
    """Outputs that ignore the inputs and that no input set of a shape rejects: `total: zeros pass at N=3 (normal
    inputs)`."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """t_baseline / t from per-round medians, with a 95 % interval by bootstrap."""

    baseline: str
    value: float
    low: float
    high: float
    by_process: tuple[float, ...] = ()
    """Ratio that each generation of processes measured, in order of time; empty in records of only one."""


@dataclass(frozen=True, slots=True)
class Sustained:
    """Times of a matrix kernel after 300 ms of its own load, at the clock that the power cap then allows."""

    median_us: float
    low_us: float
    high_us: float
    samples: int
    rounds_us: tuple[float, ...]
    ratios: tuple[Ratio, ...] = ()
    sm_clock_mhz: float | None = None
    power_w: float | None = None
    cycles: float | None = None
    """`median_us` in SM cycles."""
    throttle: tuple[str, ...] = ()
    """NVML's reasons for a clock that was held down during these calls: `power cap`, `thermal`, …"""
    late_rounds: int = 0
    """Rounds whose times may contain host time, because calls were queued too late."""


@dataclass(frozen=True, slots=True)
class Performance:
    """Device time of one call with a cold cache."""

    median_us: float
    """Mean over the generations of processes of their medians; that of a generation is the median of its round
    medians.
    """
    p20_us: float
    p80_us: float
    min_us: float
    low_us: float
    """Lower end of the 95 % interval of `median_us`."""
    high_us: float
    """Upper end of the same interval."""
    samples: int
    rounds_us: tuple[float, ...]
    """Median of each round, in order of time."""
    ratios: tuple[Ratio, ...] = ()
    """Ratios to each baseline and probe of the same rounds."""
    graph: bool = False
    """True when timed inside a CUDA graph."""
    launch_bound: bool = False
    """True when graph and event times differ by more than 10 %."""
    allocates: bool = False
    """True when the call allocates its own output."""
    converged: bool = True
    sm_clock_mhz: float | None = None
    power_w: float | None = None
    """None when a turn is shorter than the 0.2 s that NVML needs, as bursts are."""
    cycles: float | None = None
    """`median_us` in SM cycles."""
    by_process_us: tuple[float, ...] = ()
    """Median of each generation of processes, in order of time."""
    cycle_ratios: tuple[Ratio, ...] = ()
    """Ratios in SM cycles instead of time; only for matrix kernels, whose clock the power cap changes."""
    throttle: tuple[str, ...] = ()
    """NVML's reasons for a clock that was held down during its turns: `power cap`, `thermal`, …  Records of
    version 3 of the measuring method have the reasons of sustained turns here too."""
    late_rounds: int = 0
    """Rounds whose times may contain host time, because calls were queued too late."""
    empty_kernel_us: float | None = None
    """Time of a kernel that does nothing, in the same job and timed in the same way: in a graph, or by events."""
    sustained: Sustained | None = None
    """Times under sustained load, only for a matrix kernel; the fields above are then those of bursts after a pause."""


@dataclass(frozen=True, slots=True)
class Compilation:
    """Output of the compiler for one architecture."""

    arch: str
    registers: int
    """Registers of a thread of the kernel that `LaunchRecord.kernel` names; where no kernel is named, of several
    kernels the most."""
    spill_bytes: int
    """Local memory of a thread of that kernel; where no kernel is named, of all kernels together."""
    shared_bytes: int
    """Shared memory of a block of that kernel: static, and dynamic as launched."""
    sass_hash: str
    instructions: Mapping[str, int] = field(default_factory=dict)
    """Number of SASS instructions by class: `LDG.128`, `LDG.32`, `STG.128`, `HGMMA`, `FFMA`, `BAR`, `LDL`, `STL`, …"""
    flags: str = ""
    ptx: str = ""
    """SHA-256 of the artefact with the PTX; empty when it is not kept."""
    sass: str = ""
    """SHA-256 of the artefact with the SASS; empty when it is not kept."""


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    """Launch configuration that was measured: of several kernels in a call, that of the longest."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...]
    shared_bytes: int
    """Dynamic shared memory of a block."""
    launches: int = 1
    """All launches of the call, also copies and fills by the driver."""
    occupancy: float | None = None
    """Warps of the kernel that fit on an SM over the warps that an SM can hold."""
    kernel: str = ""
    """Name of the kernel in which the call spends most of its device time: the fields above, and
    the resources of `Compilation`, are its own.  Empty in records of before the name was kept: of several kernels, the
    fields are then those of the first, and the resources those of some."""
    kernel_share: float | None = None
    """That kernel's part of the device time of all kernels of the call; None when there is one kernel, or no time is
    known."""


@dataclass(frozen=True, slots=True)
class Counters:
    """Hardware counters of one call, all its kernels together; read by ncu, which leaves the clocks alone."""

    dram_read_bytes: float
    dram_written_bytes: float
    duration_us: float
    """Duration under the profiler; it is shown beside our own time, never instead of it."""
    sm_cycles: float
    tensor_flops: float | None = None
    fp32_flops: float | None = None
    """Operations in fp32; an fma counts as two."""
    calibration: Mapping[str, float] = field(default_factory=dict)
    """Counted over known amounts, in the same call of ncu: `copy bytes`, `matrix flops`."""
    run: str = ""
    """`Run.id` of the run that counted; empty when it is the run of the evaluation."""

    @property
    def dram_bytes(self) -> float:
        """Bytes read from and written to DRAM."""
        return self.dram_read_bytes + self.dram_written_bytes

    @property
    def valid(self) -> bool:
        """Tell whether the known amounts were counted right, within 2 %."""
        return bool(self.calibration) and all(abs(share - 1) <= CALIBRATION for share in self.calibration.values())


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Result of an implementation, a baseline or a probe at one workload, dtype and params on one GPU."""

    role: Role
    name: str
    workload: str
    dtype: str
    run: str
    """`Run.id`."""
    status: Status
    key: str = ""
    """SHA-256 over everything that can change the result of an implementation (results/keys.py)."""
    key_parts: Mapping[str, str] = field(default_factory=dict)
    """Hash of each part of the key, by name (a path, `launch`, `dims`, …), so that a changed part can be named."""
    params: Mapping[str, Scalar] = field(default_factory=dict)
    message: str = ""
    """Reason of a failure, in one sentence; in records of before the field `log` in a few lines."""
    correctness: Correctness | None = None
    performance: Performance | None = None
    compilation: Compilation | None = None
    launch: LaunchRecord | None = None
    predicts: str = ""
    """The prediction as it stood when the implementation first passed."""
    predicted_of_ceiling: float | None = None
    first_passed: str = ""
    """`Run.id` of the run in which it first passed; empty when that is `run`, and before it has passed."""
    samples: str = ""
    """SHA-256 of the artefact with the raw samples."""
    counters: Counters | None = None
    """None when the machine's counters could not be read."""
    sanitizer: Mapping[str, str] = field(default_factory=dict)
    """First finding inside our kernels, or empty, by tool of compute-sanitizer (memcheck, racecheck, initcheck,
    synccheck); a tool that was not run has no entry.
    """
    gpu_hash: str = ""
    """`Environment.gpu_hash` of the GPU that made it; empty: the only GPU of its run."""
    log: str = ""
    """SHA-256 of the artefact with all that a compiler or a failed process printed; empty when `message` says all."""
    sanitizer_run: str = ""
    """`Run.id` of the run that made `sanitizer`; empty when it is `run`."""

    def __post_init__(self) -> None:
        if self.performance is not None and self.status is not Status.PASSED:
            raise ValueError(f"{self.name}: performance is recorded only with status passed, not {self.status}")


@dataclass(frozen=True, slots=True)
class Rejection:
    """A `wrong/` variant and the verdict of the checker."""

    name: str
    expected: Status
    status: Status
    run: str
    key: str = ""
    message: str = ""
    key_parts: Mapping[str, str] = field(default_factory=dict)
    log: str = ""
    """SHA-256 of an artefact, as `Evaluation.log`."""


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """Result of the swept implementation at one combination of values."""

    values: Mapping[str, int]
    """The swept constants and dims; dims that are equal have one name, such as `M=N=K`."""
    status: Status
    message: str = ""
    """Reason of a failure, in one sentence."""
    correctness: Correctness | None = None
    performance: Performance | None = None
    """Times of one process; the ratios are those to the first baseline and to `copy`, a copy of the same bytes."""
    compilation: Compilation | None = None
    launch: LaunchRecord | None = None

    def __post_init__(self) -> None:
        if self.performance is not None and self.status is not Status.PASSED:
            raise ValueError(f"a point has performance only with status passed, not {self.status}")


@dataclass(frozen=True, slots=True)
class MeasuredSweep:
    """Result of a sweep of kernel.yaml (`model.kernel.Sweep`), whose points one process measured after each other."""

    name: str
    implementation: str
    workload: str
    """The workload whose dims a point has, except those that are swept."""
    dtype: str
    run: str
    """`Run.id`."""
    points: tuple[SweepPoint, ...]
    """All points, in the order of `sweep_points.values_of_points`."""
    key: str = ""
    """SHA-256 over everything that can change a point (results/keys.py)."""
    key_parts: Mapping[str, str] = field(default_factory=dict)
    """Hash of each part of the key, as in `Evaluation`."""
    params: Mapping[str, Scalar] = field(default_factory=dict)
    gpu_hash: str = ""
    """`Environment.gpu_hash` of the GPU that made it; empty: the only GPU of its run."""


@dataclass(frozen=True, slots=True)
class Record:
    """All measurements of one kernel on one GPU."""

    schema: int
    kernel: str
    gpu: str
    """The GPU's id: `nvidia-h200`."""
    runs: tuple[Run, ...]
    evaluations: tuple[Evaluation, ...]
    rejections: tuple[Rejection, ...] = ()
    sweeps: tuple[MeasuredSweep, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Wall time of the newest run of each job, by the job's id: `softmax@8192x8192:float32`, `softmax/tools`."""


@dataclass(frozen=True, slots=True)
class Output:
    """One output of a cell; `kind` is `stream`, `text`, `error`, `image` (PNG in base64) or `data` (our JSON type)."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class CellRecord:
    """The outputs of one cell, stored as `content/posts/<slug>/results/<gpu>/<cell>.json`."""

    schema: int
    label: str
    gpu: str
    key: str
    run: Run
    status: Status
    outputs: tuple[Output, ...]
    key_parts: Mapping[str, str] = field(default_factory=dict)
    duration_s: float = 0.0
