"""Work for a GPU machine and what comes back: plain JSON both ways, with every source inside.

`execute/` plans jobs and sends them through Dask or in a bundle; `python -m sitegen.measure JOB.json RESULT.json`
does one.  A job needs no site, no YAML and no Markdown; its result needs no Python class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sitegen.model.kernel import Implementation, Kernel, Scalar, Status, Workload
from sitegen.model.record import Ceiling, Counters, Environment, Evaluation, Output, Rejection, Role

JOB_SCHEMA = 1
UNJUDGED = "cannot be judged without a GPU"
"""Begins the message of an implementation that is `not_run` because Triton's interpreter has a known limit."""


@dataclass(frozen=True, slots=True)
class Key:
    """SHA-256 over named parts; `parts` says which of them changed."""

    digest: str
    parts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Previous:
    """What the site's record says of one implementation, measured as today: a change near the threshold is timed by
    more processes."""

    gpu: str
    """The GPU's id: `nvidia-h200`."""
    ratios: Mapping[str, float]
    """t_baseline / t, by baseline."""
    threshold: float
    """The least relative change that counts."""


@dataclass(frozen=True, slots=True)
class KernelJob:
    """One kernel × workload × dtype × params: check everything, then time all that passed, in rounds."""

    id: str
    """`softmax@8192x8192:float32`."""
    kernel: Kernel
    workload: Workload
    dtype: str
    sources: Mapping[str, str]
    """Every file that the implementations reach, by path from the site's root."""
    keys: Mapping[str, Key]
    """By implementation name."""
    params: Mapping[str, Scalar] = field(default_factory=dict)
    previous: Mapping[str, Previous] = field(default_factory=dict)
    """By implementation name; only of those that a record knows, and that have changed since."""
    kind: str = "kernel"


@dataclass(frozen=True, slots=True)
class RejectJob:
    """A kernel's `wrong/` variants through all gates of correctness, each in one dtype; nothing is timed."""

    id: str
    """`softmax/wrong`."""
    kernel: Kernel
    dtype: str
    sources: Mapping[str, str]
    keys: Mapping[str, Key]
    """By variant name."""
    kind: str = "reject"

    def dtype_of(self, variant: Implementation) -> str:
        """The first dtype that a variant takes: the kernel's first, `dtype`, unless it names its own."""
        return variant.dtypes[0] if variant.dtypes else self.dtype


@dataclass(frozen=True, slots=True)
class CeilingsJob:
    """The measured limits of a GPU."""

    id: str = "ceilings"
    kind: str = "ceilings"


@dataclass(frozen=True, slots=True)
class InspectJob:
    """One kernel under the tools: compute-sanitizer at a small shape, ncu's counters at every workload, dtype and
    params.  Beside the kernel's own jobs in a run, once; nothing is timed."""

    id: str
    """`softmax/tools`."""
    kernel: Kernel
    sources: Mapping[str, str]
    sweep: tuple[Mapping[str, Scalar], ...] = ()
    """The params of each sweep; one empty mapping when there are none."""
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
    """The cells of one post, in order, in one kernel process."""

    id: str
    """`posts/softmax`."""
    post: str
    cells: tuple[NotebookCell, ...]
    sources: Mapping[str, str]
    """The local modules that the cells import, by path from the site's root."""
    needs: Mapping[str, str] = field(default_factory=dict)
    kind: str = "notebook"


Job = KernelJob | RejectJob | CeilingsJob | InspectJob | NotebookJob


@dataclass(frozen=True, slots=True)
class CellResult:
    label: str
    status: str
    """`passed`, `runtime_error`, `timeout`, `not_run`."""
    outputs: tuple[Output, ...]
    key: Key
    duration_s: float = 0.0
    message: str = ""
    """Why it failed, with the lines of the post that led to it: printed, never stored."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The counters of one evaluation's call."""

    role: Role
    name: str
    workload: str
    dtype: str
    params: Mapping[str, Scalar]
    counters: Counters


@dataclass(frozen=True, slots=True)
class Sanitized:
    """What compute-sanitizer found in one implementation or `wrong/` variant."""

    name: str
    findings: Mapping[str, str]
    """By tool; empty text: nothing inside our kernels."""
    status: Status = Status.PASSED
    """What the findings mean: `out_of_bounds`, `race`, `incorrect` (reads what nobody wrote)."""
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class JobResult:
    """What one job brought; the fields of other kinds stay empty.  `run` in an evaluation is filled by `accept`."""

    schema: int
    id: str
    kind: str
    environment: Environment | None = None
    """None when no GPU was there (Triton's interpreter): such a result is never stored."""
    evaluations: tuple[Evaluation, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    ceilings: tuple[Ceiling, ...] = ()
    cells: tuple[CellResult, ...] = ()
    counted: tuple[Counted, ...] = ()
    sanitized: tuple[Sanitized, ...] = ()
    artefacts: Mapping[str, str] = field(default_factory=dict)
    """Base64 of gzip (mtime 0) of the content, by `<sha256 of the content>.<ptx|sass|samples>`."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Where the time went, by stage."""
    warnings: tuple[str, ...] = ()
    """What was not kept, or is odd: printed, never stored."""
    error: str = ""
    """Why the whole job failed (no GPU of that kind, worker lost); empty when it ran."""
