"""The order to check the kernel that a reader wrote for an exercise, and what the check found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitegen.model.kernel import Kernel

READER = "yours"
"""Name of the implementation that the reader writes."""
MOST_PROGRAMS = 64
"""Programs, as a multiple of the author's, above which each does too little."""
FEWEST_PROGRAMS = 8
"""The author's programs, as a multiple of the reader's, from which most SMs of a GPU would have nothing to do."""


def dtype_of(kernel: Kernel) -> str:
    """Return the dtype of an exercise on a kernel: float32 where the kernel takes it, else its first."""
    return "float32" if "float32" in kernel.dtypes else kernel.dtypes[0]


@dataclass(frozen=True, slots=True)
class ExerciseJob:
    """Order to check the reader's file; `kernel` has the reader's implementation and the author's, in this order."""

    id: str
    kernel: Kernel
    sources: Mapping[str, str]
    """The reference and the author's solution, by path; the reader's file is read at each check."""
    counted_at: Mapping[str, int]
    """The shape at which the loaded bytes of both kernels are counted."""
    most_loads: float
    """Loaded bytes, and on a GPU time, as a multiple of the author's, above which the kernel is slow."""
    machine: bool = False
    """Whether the check first lists what the machine has."""

    @property
    def reader_file(self) -> str:
        """Name of the reader's file in the folder of the exercise: `softmax.py`."""
        return f"{self.kernel.name}.py"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why a kernel is wrong."""

    cause: str
    """Id of the cause, such as `unmasked_store`."""
    sentence: str
    """What is wrong and where, for a beginner."""
    evidence: tuple[str, ...] = ()
    """The experiments from which the cause follows."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """The loads and programs of one call of a kernel under Triton's interpreter."""

    programs: int
    loaded_bytes: int


@dataclass(frozen=True, slots=True)
class Speed:
    """The time of a call on a GPU, in rounds with torch and with a copy of as many bytes."""

    time_us: float
    of_copy: float
    """Time of the copy divided by `time_us`: the share of what the memory of this GPU gives."""
    baseline: str = ""
    """Name of torch's function; empty when it could not be timed."""
    of_baseline: float = 0.0
    """Time of torch's function divided by `time_us`."""
    spill_bytes: int = 0
    """Bytes of a thread's numbers for which the compiler had no register."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The times of the reader's kernel and of the author's at one shape; None for one that failed there."""

    at: str
    """The shape as text: `N=268435456`."""
    reader: Speed | None
    author: Speed | None
    message: str = ""
    """Why the reader's kernel failed at that shape; empty when it passed."""


@dataclass(frozen=True, slots=True)
class ExerciseResult:
    """The result of a check of the reader's kernel."""

    message: str = ""
    """The sentence of the gate that failed; empty when all gates passed."""
    diagnosis: Diagnosis | None = None
    shapes: int = 0
    """Shapes at which the result was right."""
    device: str = "cpu"
    traffic: Traffic | None = None
    """The reader's, counted under the interpreter."""
    author_traffic: Traffic | None = None
    traffic_at: str = ""
    """The shape at which both were counted."""
    timing: Timing | None = None
    """None without a GPU."""
