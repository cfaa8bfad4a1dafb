"""The line and the text that a message about a kernel, a launcher or a reference shows."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from traceback import FrameSummary
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from sitegen.measure.author_lines import (
    assignment,
    definition,
    has_mask,
    in_brackets,
    last_return,
    text_at,
    undeclared_length,
)
from sitegen.measure.protocol import EvaluationEnded

LAUNCHER = """
def other(x):
    out = x


def axpy(x, out=None):

    out = x.clone()
    if out:
        return 1
    return (
        out)


def nothing(x): pass
"""
KERNEL = """
def kernel(
    x,
    BLOCK,
):
    at = tl.arange(0, BLOCK)
"""


@pytest.fixture
def launcher(tmp_path: Path) -> Any:
    file = tmp_path / "launcher.py"
    file.write_text(LAUNCHER)
    spec = importlib.util.spec_from_file_location("launcher", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lineno(frame: FrameSummary | None) -> int | None:
    return frame.lineno if frame else None


def test_the_lines_of_a_launcher_are_those_of_the_function_and_not_of_another(launcher: Any) -> None:
    assert [lineno(find(launcher.axpy)) for find in (definition, last_return)] == [6, 11]
    assert lineno(assignment(launcher.axpy, "out")) == 8
    assert lineno(assignment(launcher.axpy, "result")) == 6 and lineno(last_return(launcher.nothing)) == 15
    assert definition(len) is None and last_return(eval("lambda x: x")) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a < N & b >= 0", "(a < N) & (b >= 0)"),
        ("a < N | b", ""),
        ("a < N | b > M & c < 3", "(a < N) | (b > M) & (c < 3)"),
        ("0 <= i < N", "(0 <= i) & (i < N)"),
        ("a < N", ""),
        ("a <", ""),
    ],
)
def test_comparisons_in_a_row_are_put_in_brackets(text: str, words: str) -> None:
    assert in_brackets(text) == words


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("tl.load(y + at)", False),
        ("tl.load(y + at, inside)", True),
        ("tl.load(y + mask)", False),
        ("tl.store(z + at, tl.load(y, mask=m))", False),
        ("tl.store(z + at, v, mask=m)", True),
        ("y", False),
    ],
)
def test_the_mask_of_the_call_itself_counts(text: str, masked: bool) -> None:
    assert has_mask(text) is masked


def here(*_: object) -> str:
    caller = sys._getframe(1)
    assert isinstance(caller, FrameType)
    return text_at(caller)


def test_a_call_over_several_lines_is_one_text_and_letters_beyond_ascii_move_nothing() -> None:
    assert ("µs · é", here("é"))[1] == 'here("é")'
    # fmt: off
    several = here(
        1,
        2)
    # fmt: on
    assert several == "here( 1, 2)"


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("", "", (4, "BLOCK")),
        ("BLOCK,", "BLOCK: tl.constexpr,", None),
        ("x,", "x: tl.constexpr,", None),
        ("arange(0, BLOCK)", "arange(0, n)", None),
    ],
)
def test_a_length_without_constexpr_is_found_in_the_signature(old: str, new: str, found: Any) -> None:
    text = KERNEL.replace(old, new)
    line = text.splitlines()[5]
    declared = undeclared_length(FrameSummary("k.py", 6, "kernel", line=line), text)
    assert (declared and (declared[0].lineno, declared[1])) == found


def test_a_reference_that_does_not_take_the_inputs_is_blamed_with_what_it_gets() -> None:
    from sitegen.measure.reference_calls import call_reference

    def reference(x: int) -> int:
        return x

    module, kernel = SimpleNamespace(reference=reference), SimpleNamespace(folder="kernels/axpy")
    with pytest.raises(EvaluationEnded) as ended:
        call_reference(kernel, module, "reference", x=1, y=2)  # type: ignore[arg-type]
    assert ended.value.message.startswith("kernels/axpy/reference.py: `reference` raised TypeError: ")
    assert ended.value.message.endswith("; it gets `x`, `y`") and ended.value.line is not None
