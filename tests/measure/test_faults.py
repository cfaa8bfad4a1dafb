"""Exceptions of the code under test → the status, the sentence and the log of a failure."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from traceback import FrameSummary

import pytest

from sitegen.measure.compile import CompileError
from sitegen.measure.faults import failure_of
from sitegen.measure.protocol import EvaluationEnded
from sitegen.model.failure_log import LONGEST_SENTENCE
from sitegen.model.kernel import Status

NVRTC = """naive.cu(3): warning #177-D: variable "unused" was declared but never referenced
      int unused;
          ^

naive.cu(4): error: identifier "i" is undefined
   x[i] = 1;
     ^

1 error detected in the compilation of "naive.cu".
"""
ILLEGAL = """CUDA error: an illegal memory access was encountered
Search for `cudaErrorIllegalAddress' in https://docs.nvidia.com/cuda/x.html for more information.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
"""
TRITON = """at 2:8:
def k(x):
    y = tl.foo(x)
        ^
AttributeError("module 'triton.language' has no attribute 'foo'")"""


class CompilationError(Exception):
    """Has the name of Triton's exception."""


class OutOfMemoryError(RuntimeError):
    """Has the name of torch's exception."""


def raised(error: Exception, folder: Path = Path("/tmp/job/site")) -> EvaluationEnded:
    """The end of an evaluation whose code raises the exception."""
    try:
        raise error
    except Exception as caught:
        return failure_of(caught, folder)


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (CompileError(NVRTC), Status.COMPILE_ERROR, 'naive.cu(4): error: identifier "i" is undefined'),
        (
            CompilationError(TRITON),
            Status.COMPILE_ERROR,
            "CompilationError: at 2:8: AttributeError(\"module 'triton.language' has no attribute 'foo'\")",
        ),
        (
            RuntimeError(ILLEGAL),
            Status.RUNTIME_ERROR,
            "RuntimeError: CUDA error: an illegal memory access was encountered",
        ),
        (
            OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 139 GiB."),
            Status.OUT_OF_MEMORY,
            "OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.",
        ),
        (ValueError("no\nerror: such thing"), Status.RUNTIME_ERROR, "ValueError: no"),
    ],
)
def test_a_dump_is_one_sentence_in_the_record_and_whole_in_the_log(error, status, sentence):
    found = raised(error)
    assert (found.status, found.message) == (status, sentence)
    assert all(line.strip() in found.log for line in str(error).splitlines())


def test_what_one_sentence_says_leaves_no_log():
    assert raised(CompileError("a file with host code needs nvcc")).log == ""
    assert raised(EvaluationEnded(Status.INCORRECT, "wrong")).log == ""


def test_an_exception_of_the_authors_code_names_its_last_line_and_the_log_has_the_traceback(tmp_path):
    file = tmp_path / "kernels" / "add.py"
    file.parent.mkdir()
    file.write_text("import json\n\ndef add(text):\n    return json.loads(text)\n")
    found = raised_by(lambda: loaded(file).add("{"), tmp_path)
    assert found.message.startswith("JSONDecodeError: Expecting property name")
    assert found.message.endswith(", at kernels/add.py:4")
    assert found.explanation.splitlines()[1:] == ["  kernels/add.py:4", "    4 | return json.loads(text)"]
    assert 'File "json/decoder.py"' in found.log and str(tmp_path) not in found.log


def test_the_explanation_says_what_to_write_in_place_of_what_raised():
    explanation = raised(ValueError("arange's arguments must be of type tl.constexpr")).explanation
    assert explanation.splitlines()[0] == "ValueError: arange's arguments must be of type tl.constexpr"
    assert "declare it as `BLOCK: tl.constexpr`" in explanation


def test_the_end_of_an_evaluation_has_the_line_that_the_gate_knows():
    line = FrameSummary("/tmp/job/site/kernels/axpy/tile.py", 14, "axpy_tile")
    found = raised(EvaluationEnded(Status.OUT_OF_BOUNDS, "it read outside of a tensor at N=1", line=line))
    assert found.message == "it read outside of a tensor at N=1, at kernels/axpy/tile.py:14"
    assert found.explanation.splitlines() == ["it read outside of a tensor at N=1", "  kernels/axpy/tile.py:14"]


def test_a_line_of_another_folder_is_left_out():
    line = FrameSummary("/usr/lib/python3/other.py", 14, "call")
    assert raised(EvaluationEnded(Status.OUT_OF_BOUNDS, "it read", line=line)).message == "it read"


def test_a_long_sentence_is_cut_before_the_place():
    assert len(raised(ValueError("x" * 1000)).message) == LONGEST_SENTENCE


def loaded(file: Path):
    spec = importlib.util.spec_from_file_location("added", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def raised_by(call: Callable[[], object], folder: Path) -> EvaluationEnded:
    try:
        call()
    except Exception as caught:
        return failure_of(caught, folder)
    raise AssertionError("nothing was raised")


KERNEL = """def kernel(arange, BLOCK):
    at = arange(0, BLOCK)
    raise ValueError("`a < b & c` is several comparisons in a row: write `(a < b) & c`")


def launch(arange):
    kernel(arange, 4)
"""


def refused(begin: int, end: int) -> None:
    raise ValueError("arange's arguments must be of type tl.constexpr")


@pytest.mark.parametrize(("arange", "line"), [(refused, 1), (range, 3)])
def test_a_failure_whose_line_to_change_is_known_shows_no_other(tmp_path, arange, line):
    file = tmp_path / "tile.py"
    file.write_text(KERNEL)
    found = raised_by(lambda: loaded(file).launch(arange), tmp_path)
    assert found.explanation.count("tile.py:") == 1 and f"tile.py:{line}\n" in found.explanation
