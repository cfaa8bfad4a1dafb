"""Outputs of a call and what they should be → their errors, and the gates of error that fail.

Nothing here calls the code under test, raises, or knows which gates are on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from sitegen.measure.errors import Errors, errors_of, largest_finite, ulp, worst
from sitegen.measure.inputs import same_bits
from sitegen.model.kernel import Gate

EXACT_SETS = ("exact", "one_hot")
"""Names of input sets whose results must equal the reference bit for bit."""
BASELINE_SHARE, ULPS, ROW_SHARE = 4.0, 2.0, 4.0
"""The largest error may be 4 × the baseline's own plus 2 ulp; the error of a row may be 4 × the tolerance."""


@dataclass(frozen=True, slots=True)
class Case:
    """One set of inputs and its expected outputs."""

    name: str
    inputs: tuple[Any, ...]
    expected: tuple[Any, ...]
    """Outputs in float64."""
    scale: tuple[Any, ...]
    """Tensors whose norm divides the error: `expected` itself, or Σ|x|."""
    baseline_error: tuple[float, ...]
    """Largest error of the baseline, by output."""


def case_that_expects(case: Case, results: Sequence[Any]) -> Case:
    """Return the case with these results as the right ones.

    Rounding grows with a result, so limits for one that is larger than the reference are those of its own size.
    """
    expected = tuple(map(in_float64, results))
    scale = tuple(max(pair, key=largest_finite) for pair in zip(case.scale, expected, strict=True))
    return replace(case, expected=expected, scale=scale)


def in_float64(value: Any) -> Any:
    """Return a tensor of floats in float64, and one of integers as it is."""
    return value.double() if value.is_floating_point() else value


@dataclass(slots=True)
class RepeatedCalls:
    """Several calls with the inputs of one case.  Outputs with the same bits have the same errors.

    So they are computed once, which saves a third of a check of softmax.  Outputs are compared with copies, because
    code under test may remember the addresses of its earlier outputs and write into them again.
    """

    case: Case
    errors: Errors = field(default_factory=Errors)
    """The worst errors of all calls."""
    _judged: list[Any] = field(default_factory=list)
    """Copies of the outputs that were judged last."""

    def add(self, results: Sequence[Any]) -> None:
        """Take the outputs of a call into account."""
        copies = [result.clone() for result in results]  # what is judged is what later calls are compared with
        if self._judged and all(_alike(a, b) for a, b in zip(copies, self._judged, strict=True)):
            return
        self.errors = worst(self.errors, judge(self.case, copies))
        self._judged = copies


def _alike(a: Any, b: Any) -> bool:
    """Return whether both have the same bits; a subclass of Tensor, which may define what is equal, never has."""
    plain = type(a) is type(b) is torch.Tensor
    return plain and a.dtype == b.dtype and a.shape == b.shape and same_bits(a, b)


def judge(case: Case, results: Sequence[Any]) -> Errors:
    """Return the worst errors of the outputs."""
    return worst(*(judge_output(case, index, result) for index, result in enumerate(results)))


def judge_output(case: Case, index: int, result: Any) -> Errors:
    """Return the errors of the output of that index."""
    expected, scale = case.expected[index], case.scale[index]
    allowed = BASELINE_SHARE * case.baseline_error[index] + ULPS * ulp(result.dtype, scale)
    inexact = _differing(result, expected) if case.name in EXACT_SETS else 0
    return replace(errors_of(result, expected, scale), allowed=allowed, inexact=inexact)


def _differing(result: Any, expected: Any) -> int:
    """Count the elements that are not the reference rounded to the output's dtype."""
    return int((result != expected.to(result.dtype)).sum())


def failed_limits(errors: Errors, tolerance: float, where: str) -> Iterator[tuple[Gate, str]]:
    """Yield each gate of error that fails, with a message that ends with `where`.

    NaN and infinity pass only where the reference has the same.
    """
    row_limit = ROW_SHARE * tolerance
    if errors.wrong_kind:
        elements = elements_that(errors.wrong_kind, "is", "are")
        yield Gate.FINITE, f"{elements} NaN or infinite where the reference is not, or the reverse, {where}"
    if errors.inexact:
        yield Gate.EXACT, f"{elements_that(errors.inexact, 'is', 'are')} not exact {where}"
    if not errors.relative <= tolerance:
        yield Gate.RELATIVE_ERROR, f"relative error {errors.relative:.3g} > {tolerance:.3g} {where}"
    if not errors.row <= row_limit:
        yield Gate.ROW_ERROR, f"a row's error {errors.row:.3g} > {row_limit:.3g} {where}"
    if errors.excess > 0:
        yield Gate.LARGEST_ERROR, f"largest error {errors.largest:.3g} is {errors.excess:.3g} too much {where}"


def elements_that(count: int, one: str, several: str) -> str:
    """Return `1 element is` or `2 elements are`."""
    return f"1 element {one}" if count == 1 else f"{count} elements {several}"
