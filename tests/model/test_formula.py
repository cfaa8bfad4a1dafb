"""The arithmetic of kernel.yaml."""

import contextlib
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.model.formula import FormulaError, cdiv, evaluate, evaluate_int

NAMES = {"M": 8192, "N": 781, "itemsize": 4}


@pytest.mark.parametrize(
    "text", ["(" * 5000 + "1", "-" * 5000 + "1", "9" * 5000, "1e400", "1e400 - 1e400", "2 ** 2 ** 99"]
)
def test_an_expression_that_no_size_needs_is_refused_and_does_not_end_the_program(text: str) -> None:
    with pytest.raises(FormulaError):
        evaluate(text, NAMES)


@pytest.mark.parametrize(
    ("text", "col", "message"),
    [
        ("2 * K", 5, "unknown name `K`"),
        ("2 * (M + ", 10, "expected a number or a name"),
        ("M / (N - 781)", 3, "division by zero"),
        ("cdiv(M)", 1, "cdiv takes two values, the second not zero"),
        ("M & N", 3, "unexpected `&`"),
        ("M N", 3, "unexpected `N`"),
    ],
)
def test_a_mistake_has_its_column(text: str, col: int, message: str) -> None:
    with pytest.raises(FormulaError) as error:
        evaluate(text, NAMES)
    assert (error.value.col, error.value.message) == (col, message)


@pytest.mark.parametrize("text", ["-2 ** 2", "2 ** 3 ** 2", "7 // 2 * 2", "-7 // 2", "7 % -4", "2 ** -1", "1 - 2 - 3"])
def test_precedence_and_rounding_are_those_of_python(text: str) -> None:
    assert evaluate(text, {}) == eval(text)


def test_a_size_must_be_whole() -> None:
    assert evaluate_int("M * 0.5", NAMES) == 4096
    with pytest.raises(FormulaError, match="not a whole number"):
        evaluate_int("N / 2", NAMES)


def test_the_error_passes_through_a_with_block_and_between_processes() -> None:
    error = pickle.loads(pickle.dumps(FormulaError("unknown name `K`", 5)))
    with pytest.raises(FormulaError, match="unknown name"), contextlib.ExitStack():
        raise error
    assert (str(error), error.col) == ("unknown name `K`", 5)


@given(st.integers(1, 10**9), st.integers(1, 10**6))
def test_cdiv_is_the_number_of_blocks_that_cover_everything(size: int, block: int) -> None:
    blocks = cdiv(size, block)
    assert (blocks - 1) * block < size <= blocks * block


@given(st.text(alphabet="MN01.e+-*/%() ,cdivmax", max_size=60) | st.text(max_size=30))
def test_no_text_ends_in_another_exception(text: str) -> None:
    try:
        evaluate(text, NAMES)
    except FormulaError as error:
        assert 1 <= error.col <= len(text) + 1
