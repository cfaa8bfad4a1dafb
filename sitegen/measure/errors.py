"""A result and its float64 reference → their differences, in chunks that fit into memory beside large tensors.

Numbers are nearly always finite.  The sum of squares, which is needed anyway, is finite only when every number is.
Only where it is not finite each number is tested by itself, at several times the cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.linalg import vector_norm

_CHUNK = 1 << 26
"""Elements that are compared at once: 0.5 GB of float64."""
_PROMOTED = (torch.float16, torch.bfloat16, torch.float32)
"""Dtypes whose difference from float64 torch computes in one pass, without a copy in float64."""


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of one output, or the worst of several."""

    relative: float = 0.0
    """‖out − ref‖ / ‖scale‖."""
    row: float = 0.0
    """‖out − ref‖ / ‖scale‖ of the worst row (last dimension)."""
    largest: float = 0.0
    """max |out − ref|."""
    wrong_kind: int = 0
    """Elements that are NaN or infinite where the reference is not the same, or the reverse."""
    inexact: int = 0
    """Elements that differ from the reference in an exact set."""
    allowed: float = math.inf
    """Limit of `largest`."""
    over: float = 0.0
    """Excess of `largest` over `allowed`, the worst of all that were merged."""

    @property
    def excess(self) -> float:
        """Excess of the largest error over its limit; positive: too large."""
        return max(self.over, self.largest - self.allowed)


def worst(*several: Errors) -> Errors:
    """Return the worst of each error."""
    return Errors(
        relative=max(e.relative for e in several),
        row=max(e.row for e in several),
        largest=max(e.largest for e in several),
        wrong_kind=max(e.wrong_kind for e in several),
        inexact=max(e.inexact for e in several),
        over=max(e.excess for e in several),
    )


def errors_of(result: Any, expected: Any, scale: Any) -> Errors:
    """Return the errors of `result` against `expected`, in float64 and of the same shape.

    The norm of `scale`, which is `expected` or Σ|x|, divides the errors.
    """
    out, ref, over = _rows(result), _rows(expected), _rows(scale)
    rows = out.shape[0]
    wrong, squares, sizes = (torch.zeros(rows, dtype=torch.float64, device=out.device) for _ in range(3))
    largest = torch.zeros((), dtype=torch.float64, device=out.device)
    for part in _chunks(*out.shape):
        square, most, kind = _difference(out[part], ref[part])
        wrong[part[0]] += kind
        squares[part[0]] += square
        sizes[part[0]] += _squares(over[part])
        largest = torch.maximum(largest, most)
    return Errors(
        relative=_share(squares.sum(), sizes.sum()),
        row=float(torch.nan_to_num(squares.sqrt() / sizes.sqrt(), nan=0.0, posinf=math.inf).max()),
        largest=float(largest),
        wrong_kind=int(wrong.sum()),
    )


def largest_error(result: Any, expected: Any) -> float:
    """Return max |out − ref| alone, in two passes over memory instead of the four of `errors_of`."""
    out, ref = _rows(result), _rows(expected)
    parts = (_largest_difference(out[part], ref[part]) for part in _chunks(*out.shape))
    return max(parts, default=0.0)


def ulp(dtype: Any, scale: Any) -> float:
    """Return the spacing of `dtype` at the largest magnitude of `scale`; 0 for integers, which must be exact."""
    if not dtype.is_floating_point:
        return 0.0
    size = largest_finite(scale)
    if size == 0.0:
        return float(torch.finfo(dtype).tiny)
    return float(torch.finfo(dtype).eps) * 2.0 ** math.floor(math.log2(size))


def all_finite(values: Any) -> bool:
    """Return whether all numbers are finite, in one pass: the extremes are NaN when any number is."""
    if not values.is_floating_point() or values.numel() == 0:
        return True
    return all(math.isfinite(extreme) for extreme in _extremes(values))


def _difference(out: Any, ref: Any) -> tuple[Any, Any, Any]:
    """Return the sum of squares of out − ref by row, the largest |out − ref|, and wrong elements by row."""
    difference = _plain_difference(out, ref)
    squares = _squares_by_row(difference)
    if math.isfinite(float(squares.sum())):
        return squares, vector_norm(difference, math.inf), 0
    return _judged_difference(out, ref)


def _largest_difference(out: Any, ref: Any) -> float:
    largest = float(vector_norm(_plain_difference(out, ref), math.inf))
    return largest if math.isfinite(largest) else float(_judged_difference(out, ref)[1])


def _plain_difference(out: Any, ref: Any) -> Any:
    mixed = ref.dtype is torch.float64 and out.dtype in _PROMOTED
    return (out if mixed else out.double()) - ref


def _judged_difference(out: Any, ref: Any) -> tuple[Any, Any, Any]:
    """Return the same as `_difference`, where each number is tested by itself.

    Differences are taken where both are finite.  An element is wrong when only one of both is finite, or when they are
    different infinities.
    """
    value = out.double()
    both = torch.isfinite(value) & torch.isfinite(ref)
    alike = both | (torch.isnan(value) & torch.isnan(ref)) | (value == ref)
    difference = torch.where(both, value - ref, 0.0)
    return _squares_by_row(difference), vector_norm(difference, math.inf), (~alike).sum(1)


def _squares(values: Any) -> Any:
    """Return the sum of squares of the finite elements by row."""
    if not values.is_floating_point():
        return _squares_by_row(values.double())
    squares = _squares_by_row(values)
    return squares if math.isfinite(float(squares.sum())) else _squares_by_row(_finite(values))


def _squares_by_row(values: Any) -> Any:
    """Return the sum of squares by row; a norm reads the numbers once, and squares would be written and read again."""
    return vector_norm(values, dim=1).square()


def largest_finite(values: Any) -> float:
    """Return the largest magnitude of the finite elements; 0 without one."""
    if not values.numel():
        return 0.0
    low, high = _extremes(values)
    return max(-low, high) if math.isfinite(low) and math.isfinite(high) else float(_finite(values).abs().max())


def _extremes(values: Any) -> tuple[float, float]:
    low, high = torch.aminmax(values)
    return float(low), float(high)


def _finite(values: Any) -> Any:
    return torch.where(torch.isfinite(values), values, 0.0)


def _rows(tensor: Any) -> Any:
    """Return the tensor with two dimensions, the last one kept; a scalar is one row of one element."""
    return tensor.reshape(-1, tensor.shape[-1]) if tensor.dim() else tensor.reshape(1, 1)


def _chunks(rows: int, columns: int) -> Iterator[tuple[slice, slice]]:
    width = min(columns, _CHUNK)
    height = max(1, _CHUNK // max(1, width))
    for top in range(0, rows, height):
        for left in range(0, columns, width):
            yield slice(top, top + height), slice(left, left + width)


def _share(squares: Any, sizes: Any) -> float:
    if float(squares) == 0.0:
        return 0.0
    return math.sqrt(float(squares) / float(sizes)) if float(sizes) > 0.0 else math.inf
