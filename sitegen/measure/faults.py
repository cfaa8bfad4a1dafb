"""An exception of the code under test → the status of its evaluation, and a message with the author's lines."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

from sitegen.measure.protocol import EvaluationEnded
from sitegen.model.frames import Frame, with_frames
from sitegen.model.kernel import Implementation, Status

_ADVICE = (
    "Search for `cuda",
    "CUDA kernel errors might",
    "For debugging consider",
    "Compile with `TORCH_USE_CUDA_DSA`",
)
"""Beginnings of the lines that torch adds to every CUDA error."""
_COMPILER_ERRORS = ("CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct", "PTXASError")
"""Triton's exceptions, by name because Triton may not be installed."""


def classify(error: BaseException, folder: Path, implementation: Implementation | None = None) -> tuple[Status, str]:
    """Return the status that an exception of the code under test means, and its message.

    `folder` holds the sources.  `implementation` is the one under test, whose text may stand in a cell of a post.
    """
    if isinstance(error, EvaluationEnded):
        return error.status, error.message
    frames = frames_of(error, folder, implementation)
    if limit := _interpreter_limit(error):
        return Status.NOT_RUN, with_frames(limit, frames[-1:])
    error = _innermost(error)
    name, text = type(error).__name__, f"{type(error).__name__}: {error}"
    if name in ("OutOfMemoryError", "MemoryError") or "out of memory" in text.lower():
        return Status.OUT_OF_MEMORY, _short(text)
    if name == "CompileError":
        return Status.COMPILE_ERROR, _short(str(error))
    if name in _COMPILER_ERRORS:
        return Status.COMPILE_ERROR, _short(text)
    if isinstance(error, SyntaxError | ImportError):
        return Status.COMPILE_ERROR, with_frames(_short(text), frames)
    return Status.RUNTIME_ERROR, with_frames(_short(text), frames)


def frames_of(error: BaseException, folder: Path, implementation: Implementation | None = None) -> list[Frame]:
    """Return the frames in the author's own files, the innermost last, also those inside an interpreted kernel."""
    frames: list[Frame] = []
    while True:
        frames += [
            _frame(frame, folder, implementation)
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename.startswith(f"{folder}{os.sep}")
        ]
        if not _is_wrapper(error):
            return frames
        assert error.__cause__ is not None
        error = error.__cause__


def without_folder(message: str, folder: Path) -> str:
    """Return the message with paths below `folder` relative to it."""
    return message.replace(f"{folder}/", "")


def _frame(frame: traceback.FrameSummary, folder: Path, implementation: Implementation | None) -> Frame:
    """Return the frame with the author's file; a line of a cell's file becomes the line of the cell's post."""
    path, line = Path(frame.filename).relative_to(folder).as_posix(), frame.lineno or 0
    if implementation is not None and implementation.source and Path(path).name.startswith("_cell_"):
        return Frame(implementation.file.partition("#")[0], implementation.line + line - 1, frame.line or "")
    return Frame(path, line, frame.line or "")


def _innermost(error: BaseException) -> BaseException:
    """Return the exception that a kernel raised inside Triton's interpreter, which wraps it once for each call."""
    while _is_wrapper(error) and error.__cause__ is not None:
        error = error.__cause__
    return error


def _is_wrapper(error: BaseException) -> bool:
    return type(error).__name__ == "InterpreterError" and error.__cause__ is not None


def _interpreter_limit(error: BaseException) -> str:
    """Return the interpreter's limit that caused the exception; empty when the code under test is at fault."""
    if "sitegen.measure.interpreter" not in sys.modules:
        return ""
    from sitegen.measure.interpreter import limit_in

    return str(limit_in(error) or "")


def _short(text: str, lines: int = 12, width: int = 400) -> str:
    """Return the first lines of a message, without the advice that torch adds to each CUDA error."""
    kept = [line[:width] for line in text.strip().splitlines() if line.strip() and not line.startswith(_ADVICE)]
    return "\n".join(kept[:lines])
