"""Jobs for a GPU machine and their results, which are exchanged as plain JSON with every source inside.

`execute/` plans jobs and sends them through Dask or in a bundle; `python -m sitegen.measure JOB.json RESULT.json`
does one job.  A job needs no site, no YAML and no Markdown; its result needs no Python class.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sitegen.model.kernel import Implementation, Kernel, Scalar, Status, Sweep, Workload
from sitegen.model.record import (
    Ceiling,
    Counters,
    Environment,
    Evaluation,
    MeasuredSweep,
    Output,
    Rejection,
    Role,
)

JOB_SCHEMA = 1
ROUNDS_FILE = "rounds"
"""The file beside a job with the number of rounds that the job has begun."""
UNJUDGED = "cannot be judged without a GPU"
"""Start of the message of an implementation that is `not_run` because Triton's interpreter has a known limit."""
NOT_AGAIN = "not tried"
"""Start of the message of an implementation that is `not_run` because it hung in an earlier job of the run."""
_OF_REFERENCE = re.compile(r"kernels/[^/\s]+/reference\.py: ")


NO_DTYPE = "does not offer"
"""Start of the message of an implementation that is `unsupported` because it does not take the dtype."""
RETURNED = "the launcher returned"
"""Start of the message of a launcher that returns no tensor, whose status is `wrong_shape`."""


def status_words(status: Status, message: str) -> str:
    """Return a status in words: `no tensor returned` for a launcher that returns none."""
    is_none = status is Status.WRONG_SHAPE and message.startswith(RETURNED)
    return "no tensor returned" if is_none else status.words


def is_of_reference(message: str) -> bool:
    """Return whether the message of a failure blames the reference of the kernel, and no implementation."""
    return _OF_REFERENCE.match(message) is not None


@dataclass(frozen=True, slots=True)
class Key:
    """SHA-256 over named parts; `parts` has the hash of each, so that a changed part can be named."""

    digest: str
    parts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PreviousRatios:
    """The recorded ratios of one implementation.

    A new ratio that differs from the recorded one by about the threshold is timed by more processes.
    """

    gpu: str
    """The GPU's id: `nvidia-h200`."""
    ratios: Mapping[str, float]
    """t_baseline / t, by baseline."""
    threshold: float
    """Least relative change that counts."""


@dataclass(frozen=True, slots=True)
class KernelJob:
    """Order to check all implementations at one workload, dtype and params, and to time those that pass."""

    id: str
    """`softmax@8192x8192:float32`."""
    kernel: Kernel
    workload: Workload
    dtype: str
    sources: Mapping[str, str]
    """Every file that the implementations reach, by path from the site's root."""
    keys: Mapping[str, Key]
    """Key of each implementation, by its name."""
    params: Mapping[str, Scalar] = field(default_factory=dict)
    previous: Mapping[str, PreviousRatios] = field(default_factory=dict)
    """Recorded ratios by implementation name; only for implementations that have a record and changed since."""
    hung: Mapping[str, str] = field(default_factory=dict)
    """The workload and dtype at which an implementation hung in an earlier job of the run, by its name.  It is not
    tried again: under the interpreter each endless loop costs minutes."""
    kind: str = "kernel"


@dataclass(frozen=True, slots=True)
class RejectJob:
    """Order to check the `wrong/` variants of a kernel by all gates of correctness, each in one dtype, untimed."""

    id: str
    """`softmax/wrong`."""
    kernel: Kernel
    dtype: str
    sources: Mapping[str, str]
    keys: Mapping[str, Key]
    """Key of each variant, by its name."""
    kind: str = "reject"

    def dtype_of(self, variant: Implementation) -> str:
        """Return the first dtype of a variant; a variant that names none has the kernel's first, `dtype`."""
        return variant.dtypes[0] if variant.dtypes else self.dtype


@dataclass(frozen=True, slots=True)
class SweepJob:
    """Order to check and time one implementation at every point of a sweep."""

    id: str
    """`softmax/sweep/threads`."""
    kernel: Kernel
    sweep: Sweep
    sources: Mapping[str, str]
    key: Key
    params: Mapping[str, Scalar] = field(default_factory=dict)
    """The first value of each param."""
    kind: str = "sweep"

    @property
    def workload(self) -> Workload:
        """The workload that the points share, except for swept dims."""
        return next(one for one in self.kernel.workloads if one.name == self.sweep.workload)

    @property
    def dtype(self) -> str:
        return self.sweep.dtype


@dataclass(frozen=True, slots=True)
class CeilingsJob:
    """Order to measure the limits of a GPU."""

    id: str = "ceilings"
    kind: str = "ceilings"


@dataclass(frozen=True, slots=True)
class InspectJob:
    """Order to run one kernel under compute-sanitizer, at a small shape, and under ncu, at every workload, dtype and
    params.

    A run has one for each kernel, beside the jobs that time it.
    """

    id: str
    """`softmax/tools`."""
    kernel: Kernel
    sources: Mapping[str, str]
    sweep: tuple[Mapping[str, Scalar], ...] = ()
    """Every combination of params; one empty mapping when the kernel has no params."""
    kind: str = "inspect"


@dataclass(frozen=True, slots=True)
class NotebookCell:
    label: str
    source: str
    """Python: a triton cell as it is, a cuda cell wrapped in `cuda(…)`."""
    key: Key
    timeout_s: float = 60.0
    raises: bool = False
    path: str = ""
    """The post's file, from the site's root."""
    line: int = 1
    """The line of that file on which `source` begins."""


@dataclass(frozen=True, slots=True)
class NotebookJob:
    """Order to run the cells of one post, in order, in one process."""

    id: str
    """`posts/softmax`."""
    post: str
    cells: tuple[NotebookCell, ...]
    sources: Mapping[str, str]
    """The local modules that the cells import, by path from the site's root."""
    needs: Mapping[str, str] = field(default_factory=dict)
    kind: str = "notebook"


Job = KernelJob | RejectJob | SweepJob | CeilingsJob | InspectJob | NotebookJob


@dataclass(frozen=True, slots=True)
class CellResult:
    label: str
    status: str
    """`passed`, `runtime_error`, `timeout`, `not_run`."""
    outputs: tuple[Output, ...]
    key: Key
    duration_s: float = 0.0
    message: str = ""
    """Reason of a failure, with the lines of the post that led to it; printed, never stored."""


@dataclass(frozen=True, slots=True)
class CallCounters:
    """Hardware counters of one call of an implementation."""

    role: Role
    name: str
    workload: str
    dtype: str
    params: Mapping[str, Scalar]
    counters: Counters


@dataclass(frozen=True, slots=True)
class CallProfile:
    """Counters that explain the time of one call, read by ncu for `sitegen try`; None where the GPU has no such one."""

    name: str
    stalls: Mapping[str, float]
    """Cycles that a warp waits for each instruction that it issues, by the reason that ncu names."""
    tensor_share: float | None
    """Share of the SM cycles in which the tensor pipe is busy."""
    load_sectors: float | None
    """Sectors of 32 bytes for each global load of a warp: 4 for neighbouring 4-byte values, 16 for 16-byte ones."""
    store_sectors: float | None
    bank_conflicts: float | None
    """Conflicts of all loads and stores of shared memory."""


@dataclass(frozen=True, slots=True)
class SanitizerResult:
    """Findings of compute-sanitizer in one implementation, in one dtype, or in one `wrong/` variant."""

    name: str
    findings: Mapping[str, str]
    """First finding of each tool, by the tool's name; empty when it found nothing inside our kernels."""
    status: Status = Status.PASSED
    """Meaning of the findings: `out_of_bounds`, `race`, `incorrect` (reads memory that was never written)."""
    wrong: bool = False
    """True for a `wrong/` variant."""
    dtype: str = ""
    """Dtype of the call; empty in a result of an older version, which watched the first dtype for all."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """Result of one job; the fields of other kinds of jobs are empty.

    `accept` fills in `run` and `gpu_hash` of the evaluations.
    """

    schema: int
    id: str
    kind: str
    environment: Environment | None = None
    """None when there was no GPU and Triton's interpreter ran the kernels: such a result is never stored."""
    evaluations: tuple[Evaluation, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    sweeps: tuple[MeasuredSweep, ...] = ()
    """The one sweep of a `SweepJob`."""
    ceilings: tuple[Ceiling, ...] = ()
    cells: tuple[CellResult, ...] = ()
    counted: tuple[CallCounters, ...] = ()
    profiled: tuple[CallProfile, ...] = ()
    """Only of a `TryJob`."""
    sanitized: tuple[SanitizerResult, ...] = ()
    artefacts: Mapping[str, str] = field(default_factory=dict)
    """Base64 of gzip (mtime 0) of the content, by `<sha256 of the content>.<ptx|sass|samples>`."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Wall time of each stage, by its name."""
    warnings: tuple[str, ...] = ()
    """Remarks about odd values and about artefacts that were not kept; printed, never stored."""
    error: str = ""
    """Reason why the whole job failed (no GPU of that kind, worker lost); empty when it ran."""

    @property
    def undone(self) -> bool:
        """Whether the job failed as a whole; ceilings, which a machine without a GPU does not have, are left out."""
        return bool(self.error) and self.kind != "ceilings"

    @property
    def incorrect(self) -> bool:
        """Whether something is not correct, or a wrong variant was not rejected as expected."""
        return (
            any(evaluation.status.failed for evaluation in self.evaluations)
            or any(point.status.failed for sweep in self.sweeps for point in sweep.points)
            or any(rejection.status not in (rejection.expected, Status.NOT_RUN) for rejection in self.rejections)
            or any(cell.status not in (Status.PASSED, Status.NOT_RUN) for cell in self.cells)
        )
