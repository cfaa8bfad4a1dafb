"""Exercises: the text of an author, the order to check a reader's kernel, and what the check found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitegen.diagnostics import Span
from sitegen.model.kernel import Kernel
from sitegen.model.markdown import Markdown

READER = "yours"
"""Name of the implementation that the reader writes."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """An exercise: content/exercises/<id>/index.md, with its starter.py beside it."""

    id: str
    title: str
    body: Markdown
    span: Span
    kernel: str = ""
    """The kernel whose reference and checks judge the reader's code; empty when nothing is to be written."""
    solution: str = ""
    """The author's solution: the name of a Triton implementation of the kernel."""


@dataclass(frozen=True, slots=True)
class ExerciseJob:
    """Order to check the reader's file; `kernel` has the reader's implementation and the author's, in this order."""

    id: str
    kernel: Kernel
    sources: Mapping[str, str]
    """The reference and the author's solution, by path; the reader's file is read at each check."""

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
class ExerciseResult:
    """The result of a check of the reader's kernel."""

    message: str = ""
    """The sentence of the gate that failed; empty when all gates passed."""
    diagnosis: Diagnosis | None = None
    shapes: int = 0
    """Shapes at which the result was right."""
    device: str = "cpu"
    traffic: Traffic | None = None
    """The reader's; None on a GPU."""
    author_traffic: Traffic | None = None
    traffic_at: str = ""
    """The shape at which both were counted."""
