"""What was measured, as it is stored: `kernels/<kernel>/results/<gpu>.json` is a `Record`.

Made by `sitegen.measure` on a GPU machine, validated by `results/`, shown by `render/`, edited by
nobody.  Times are microseconds of device time of one call; rates are per second; bytes are bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sitegen.model.kernel import Scalar, Status

SCHEMA = 1
CALIBRATION = 0.02
"""How far the counters may be from what is known before they are marked invalid."""


class Role(StrEnum):
    IMPLEMENTATION = "implementation"
    """Ours."""
    BASELINE = "baseline"
    """What a user would call instead."""
    PROBE = "probe"
    """The best copy (`copy`) or read (`read`) of the same bytes, timed in the same rounds."""


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
    """The toolkit's version that compiled CUDA C++ (NVRTC)."""
    torch: str
    triton: str
    python: str
    sm_clock_max_mhz: float
    power_limit_w: float
    ecc: bool
    compute_mode: str = ""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A measured limit of a GPU."""

    name: str
    """`memory 1:0`, `memory 2:1`, `memory 1:1`, `memory 0:1` (reads : writes), `L2`, `shared`, `fp32`, `tf32`, `bf16`,
    `fp8`."""
    rate: float
    """Bytes per second for memory, operations per second for compute: the best of `probes`."""
    probes: Mapping[str, float]
    """Each probe's own rate, by name; of `L2` also the rate at each working set, as `16 MB`."""
    seconds: float = 0.0
    """Wall time that the probes took."""


@dataclass(frozen=True, slots=True)
class Run:
    """One `sitegen run`: where and when; evaluations refer to it by `id`."""

    id: str
    """`2026-11-21T06:10:05Z`, the start in UTC."""
    date: str
    """`2026-11-21`."""
    commit: str
    """Of the site's repository, abbreviated; `+` at the end when files differed from it."""
    environment: Environment
    ceilings: tuple[Ceiling, ...] = ()


@dataclass(frozen=True, slots=True)
class Correctness:
    """The worst over all seeds, shapes and input sets, against a float64 reference."""

    relative_error: float
    """‖out − ref‖ / ‖ref‖ (reductions to few values: error over Σ|x|)."""
    row_error: float
    """The same norm of the worst output row."""
    max_abs_error: float
    baseline_max_abs_error: float
    tolerance: float
    shapes: int
    seeds: int
    input_sets: tuple[str, ...] = ()
    deterministic: bool = False
    """Five runs were equal bit for bit."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """t_baseline / t, from per-round medians; the 95 % interval by bootstrap."""

    baseline: str
    value: float
    low: float
    high: float
    by_process: tuple[float, ...] = ()
    """As each generation of processes alone saw it, in order of time; empty in records that had only one."""


@dataclass(frozen=True, slots=True)
class Sustained:
    """A matrix kernel after 300 ms of itself, at the clock that the power cap leaves it."""

    median_us: float
    low_us: float
    high_us: float
    samples: int
    rounds_us: tuple[float, ...]
    ratios: tuple[Ratio, ...] = ()
    sm_clock_mhz: float | None = None
    power_w: float | None = None


@dataclass(frozen=True, slots=True)
class Performance:
    """Device time of one call, cold cache."""

    median_us: float
    """The median of the round medians of each generation of processes, and the mean of the two."""
    p20_us: float
    p80_us: float
    min_us: float
    low_us: float
    """95 % interval of the median."""
    high_us: float
    samples: int
    rounds_us: tuple[float, ...]
    """The median of each round, in order of time."""
    ratios: tuple[Ratio, ...] = ()
    """To each baseline and probe of the same rounds."""
    graph: bool = False
    """Timed inside a CUDA graph."""
    launch_bound: bool = False
    """Graph and event times differ by more than 10 %."""
    allocates: bool = False
    """The call makes its own output."""
    converged: bool = True
    sm_clock_mhz: float | None = None
    power_w: float | None = None
    cycles: float | None = None
    """median_us in SM cycles."""
    by_process_us: tuple[float, ...] = ()
    """The median of each generation of processes, in order of time."""
    cycle_ratios: tuple[Ratio, ...] = ()
    """As `ratios`, in SM cycles instead of time; of matrix kernels, whose clock the power cap moves."""
    throttle: tuple[str, ...] = ()
    """Why the clock was held down during its turns, as NVML says: `power cap`, `thermal`, …"""
    sustained: Sustained | None = None
    """Of a matrix kernel; every figure above is then that of bursts after idleness."""


@dataclass(frozen=True, slots=True)
class Compilation:
    """What the compiler made of it, per architecture."""

    arch: str
    registers: int
    spill_bytes: int
    shared_bytes: int
    """Of a block: static, and dynamic as launched."""
    sass_hash: str
    instructions: Mapping[str, int] = field(default_factory=dict)
    """By class: `LDG.128`, `LDG.32`, `STG.128`, `HGMMA`, `FFMA`, `BAR`, `LDL`, `STL`, …"""
    flags: str = ""
    ptx: str = ""
    """SHA-256 of the artefact, empty when not kept."""
    sass: str = ""


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...]
    shared_bytes: int
    """Dynamic, of a block."""
    launches: int = 1
    occupancy: float | None = None
    """Warps of it that fit on an SM, as a share of those that the SM could hold."""


@dataclass(frozen=True, slots=True)
class Counters:
    """What the GPU's counters say of one call, all its kernels together; read by ncu, clocks left alone."""

    dram_read_bytes: float
    dram_written_bytes: float
    duration_us: float
    """Under the profiler: beside our own time, never instead of it."""
    sm_cycles: float
    tensor_flops: float | None = None
    fp32_flops: float | None = None
    """fma counts two."""
    calibration: Mapping[str, float] = field(default_factory=dict)
    """Counted over known, in the same call of ncu: `copy bytes`, `matrix flops`."""

    @property
    def dram_bytes(self) -> float:
        return self.dram_read_bytes + self.dram_written_bytes

    @property
    def valid(self) -> bool:
        """Whether what is known was counted right, within 2 %."""
        return bool(self.calibration) and all(abs(share - 1) <= CALIBRATION for share in self.calibration.values())


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Implementation (or baseline, or probe) × workload × dtype on one GPU."""

    role: Role
    name: str
    workload: str
    dtype: str
    run: str
    """`Run.id`."""
    status: Status
    key: str = ""
    """Of an implementation: SHA-256 over what can change the result (results/keys.py)."""
    key_parts: Mapping[str, str] = field(default_factory=dict)
    """The hash of each part of the key, by name (a path, `launch`, `dims`, …): says *why* it is stale."""
    params: Mapping[str, Scalar] = field(default_factory=dict)
    message: str = ""
    """Why it failed, in one or a few lines."""
    correctness: Correctness | None = None
    performance: Performance | None = None
    compilation: Compilation | None = None
    launch: LaunchRecord | None = None
    predicts: str = ""
    predicted_of_ceiling: float | None = None
    samples: str = ""
    """SHA-256 of the artefact with the raw samples."""
    counters: Counters | None = None
    """None where the machine's counters could not be read."""
    sanitizer: Mapping[str, str] = field(default_factory=dict)
    """By tool of compute-sanitizer (memcheck, racecheck, initcheck, synccheck): empty, or its first finding inside our
    kernels; no entry where it was not run."""

    def __post_init__(self) -> None:
        if self.performance is not None and self.status is not Status.PASSED:
            raise ValueError(f"{self.name}: performance is recorded only with status passed, not {self.status}")


@dataclass(frozen=True, slots=True)
class Rejection:
    """A `wrong/` variant and what the checker said of it."""

    name: str
    expected: Status
    status: Status
    run: str
    key: str = ""
    message: str = ""
    key_parts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """All that is known of one kernel on one GPU."""

    schema: int
    kernel: str
    gpu: str
    """The GPU's id: `nvidia-h200`."""
    runs: tuple[Run, ...]
    evaluations: tuple[Evaluation, ...]
    rejections: tuple[Rejection, ...] = ()


@dataclass(frozen=True, slots=True)
class Output:
    """One output of a cell: `stream`, `text`, `error`, `image` (base64 png) or `data` (our JSON type)."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class CellRecord:
    """`content/posts/<slug>/results/<gpu>/<cell>.json`."""

    schema: int
    label: str
    gpu: str
    key: str
    run: Run
    status: Status
    outputs: tuple[Output, ...]
    key_parts: Mapping[str, str] = field(default_factory=dict)
    duration_s: float = 0.0
