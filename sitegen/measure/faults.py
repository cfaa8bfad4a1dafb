"""An exception of the code under test → the status of its evaluation, a sentence, and a log with the author's lines."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from sitegen.measure.author_lines import undeclared_length
from sitegen.measure.kernel_exceptions import NO_CONSTANT, advice_on
from sitegen.measure.protocol import EvaluationEnded
from sitegen.model.failure_log import LONGEST_SENTENCE, log_of, without_machine_paths
from sitegen.model.frames import MOST_FRAMES, TracebackFrame, with_frames
from sitegen.model.kernel import Implementation, Status

_PACKAGE_ROOT = Path(__file__).parents[2]
_ADVICE = (
    "Search for `cuda",
    "CUDA kernel errors might",
    "For debugging consider",
    "Compile with `TORCH_USE_CUDA_DSA`",
)
"""Beginnings of the lines that torch adds to every CUDA error."""
_COMPILER_ERRORS = ("CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct", "PTXASError")
"""Triton's exceptions, by name because Triton may not be installed."""
_ERROR_LINE = re.compile(r"(?i)\b(?:fatal|error)\s*:")
"""A line of NVRTC, nvcc or ptxas with an error: `naive.cu(4): error: …`, `ptxas fatal   : …`."""
_EXCEPTION = re.compile(r"^\w+: ")
_TRITON_PLACE = re.compile(r"^\w+: at \d+:\d+:$")
_SAYS_WHAT_TO_WRITE = ": write `"
"""Words of a message of the interpreter that corrects the innermost line."""
_MORE_ABOUT_MEMORY = re.compile(r"(?<=B\.) GPU \d+ has a total capacity .*")
"""What torch says about its allocator after the bytes that were wanted."""


def failure_of(error: BaseException, folder: Path, implementation: Implementation | None = None) -> EvaluationEnded:
    """Return how an exception of the code under test ends its evaluation: status, sentence and log.

    `folder` holds the sources.  `implementation` is the one under test, whose text may stand in a cell of a post.
    """
    if isinstance(error, EvaluationEnded) and error.line and error.line.filename.startswith(f"{folder}{os.sep}"):
        return _ended(error.status, error.message, [_frame(error.line, folder, implementation)])
    if isinstance(error, EvaluationEnded):
        return EvaluationEnded(error.status, error.message.replace(f"{folder}/", ""), error.log)
    frames, limit = frames_of(error, folder, implementation), _interpreter_limit(error)
    if limit:
        return _ended(Status.NOT_RUN, limit, frames[-1:])
    raised, error = error, _innermost(error)
    status, text = _status_of(error), without_machine_paths(_text_of(error), (folder, _PACKAGE_ROOT))
    if status is not Status.COMPILE_ERROR or isinstance(error, SyntaxError | ImportError):
        whole = without_machine_paths(_traceback_of(error), (folder, _PACKAGE_ROOT))
        return _ended(status, text, frames, whole, _undeclared(text, raised, folder, implementation))
    return _ended(status, text, (), text)


def _ended(
    status: Status,
    text: str,
    frames: Sequence[TracebackFrame],
    whole: str = "",
    undeclared: tuple[TracebackFrame, str] | None = None,
) -> EvaluationEnded:
    """Return the end of an evaluation.

    The explanation has the line to change where it is known, else the author's lines, the innermost first.  The
    sentence has the innermost.
    """
    place = f", at {frames[-1].path}:{frames[-1].line}" if frames else ""
    advice, shown = advice_on(text), [*frames[-MOST_FRAMES:]][::-1]
    if undeclared:
        advice, shown = f"Write `{undeclared[1]}: tl.constexpr` in the signature of the kernel", [undeclared[0]]
    elif _SAYS_WHAT_TO_WRITE in text:
        shown = shown[:1]
    explanation = with_frames(_first_lines(text) + (f"\n{advice}" if advice else ""), shown)
    return EvaluationEnded(status, sentence_of(text, LONGEST_SENTENCE - len(place)) + place, log_of(explanation, whole))


def _undeclared(
    text: str, error: BaseException, folder: Path, implementation: Implementation | None
) -> tuple[TracebackFrame, str] | None:
    """Return the line of the signature and the name of a length that is no constant of the kernel."""
    if NO_CONSTANT not in text:
        return None
    own = [one for one in _raw_frames(error) if one.filename.startswith(f"{folder}{os.sep}")]
    found = undeclared_length(own[-1], Path(own[-1].filename).read_text(encoding="utf-8")) if own else None
    return (_frame(found[0], folder, implementation), found[1]) if found else None


def sentence_of(text: str, longest: int = LONGEST_SENTENCE) -> str:
    """Return the line of a message or of a compiler's output that says most, at most so many characters.

    That is the first line of an exception, and the first error of NVRTC or nvcc, which may print warnings before it.
    An exception of Triton begins with the place, quotes the source, and ends with the cause.
    """
    lines = _lines_of(text) or [""]
    line = lines[0]
    if _TRITON_PLACE.match(line):
        line = f"{line} {lines[-1]}"
    elif not _EXCEPTION.match(line):
        line = next(filter(_ERROR_LINE.search, lines), line)
    line = _MORE_ABOUT_MEMORY.sub("", line.strip())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _status_of(error: BaseException) -> Status:
    name = type(error).__name__
    if name in ("OutOfMemoryError", "MemoryError") or "out of memory" in f"{name}: {error}".lower():
        return Status.OUT_OF_MEMORY
    if name in ("CompileError", *_COMPILER_ERRORS) or isinstance(error, SyntaxError | ImportError):
        return Status.COMPILE_ERROR
    return Status.RUNTIME_ERROR


def _text_of(error: BaseException) -> str:
    """Return the exception as its last line of a traceback; the message of NVRTC or nvcc as it is."""
    name = type(error).__name__
    return str(error) if name == "CompileError" else f"{name}: {error}"


def _traceback_of(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def frames_of(error: BaseException, folder: Path, implementation: Implementation | None = None) -> list[TracebackFrame]:
    """Return the frames in the author's own files, the innermost last, also those inside an interpreted kernel."""
    own = (one for one in _raw_frames(error) if one.filename.startswith(f"{folder}{os.sep}"))
    return [_frame(one, folder, implementation) for one in own]


def _raw_frames(error: BaseException) -> Iterator[traceback.FrameSummary]:
    """Yield the frames of an exception, and those of the exception that the interpreter wrapped."""
    yield from traceback.extract_tb(error.__traceback__)
    if _is_wrapper(error):
        assert error.__cause__ is not None
        yield from _raw_frames(error.__cause__)


def _frame(frame: traceback.FrameSummary, folder: Path, implementation: Implementation | None) -> TracebackFrame:
    """Return the frame with the author's file; a line of a cell's file becomes the line of the cell's post."""
    path, line = Path(frame.filename).relative_to(folder).as_posix(), frame.lineno or 0
    if implementation is not None and implementation.source and Path(path).name.startswith("_cell_"):
        return TracebackFrame(implementation.file.partition("#")[0], implementation.line + line - 1, frame.line or "")
    return TracebackFrame(path, line, frame.line or "")


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


def _first_lines(text: str, lines: int = 12, width: int = 400) -> str:
    """Return the first lines of a message."""
    return "\n".join(line[:width] for line in _lines_of(text)[:lines])


def _lines_of(text: str) -> list[str]:
    """Return the lines of a message that are not empty, without the advice that torch adds to each CUDA error."""
    return [line for line in text.strip().splitlines() if line.strip() and not line.startswith(_ADVICE)]
