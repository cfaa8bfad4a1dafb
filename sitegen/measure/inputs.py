"""Shapes, dtypes and values → tensors between guard bytes, which show writes and reads out of bounds.

Every buffer under test lies in a larger one whose margins hold a known byte.  A write past its end changes a margin.  A
read past the end of an input brings a value that makes the result wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from sitegen.measure import outside
from sitegen.measure.author_lines import last_return
from sitegen.measure.protocol import EvaluationEnded
from sitegen.model.formula import Number, evaluate_int
from sitegen.model.kernel import Kernel, Status, Tensor

CANARY_BYTES = 1 << 16
"""Guard bytes on each side: so many that even a whole block without a mask stays inside."""
INPUT_MARGIN = 0x7F
"""Byte around inputs: about 3e38 in float32 and bfloat16, so a sum over it is wrong."""
POISONS = (0xFF, 0xA5)
"""Bytes that fill outputs: NaN in every float dtype, and a small number.  An element that keeps both was not
written."""

_INTEGER = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(frozen=True, slots=True)
class GuardedTensor:
    """A tensor inside `raw`, a byte buffer with CANARY_BYTES on each side of it."""

    raw: Any
    tensor: Any

    def fill(self, byte: int) -> None:
        """Fill the tensor and both margins with a byte."""
        self.raw.fill_(byte)

    def margins_hold(self, byte: int) -> bool:
        """Return whether every guard byte still has that value."""
        head, tail = self.raw[:CANARY_BYTES], self.raw[-CANARY_BYTES:]
        return bool((head == byte).all()) and bool((tail == byte).all())

    def untouched(self, byte: int) -> Any:
        """Return a bool tensor: whether each element still holds that byte."""
        size = self.tensor.element_size()
        pattern = int.from_bytes(bytes([byte]) * size, "little", signed=size > 1)
        return bits(self.tensor) == pattern


def guarded_tensor(shape: Sequence[int], dtype: Any, device: str) -> GuardedTensor:
    """Return an uninitialised tensor between guard bytes."""
    size = torch.empty((), dtype=dtype).element_size()
    count = 1
    for length in shape:
        count *= length
    raw = torch.empty(2 * CANARY_BYTES + count * size, dtype=torch.uint8, device=device)
    if device == "cpu":
        outside.guard(raw, CANARY_BYTES)
    inner = raw[CANARY_BYTES : CANARY_BYTES + count * size]
    return GuardedTensor(raw, inner.view(dtype).view(tuple(shape)))


def bits(tensor: Any) -> Any:
    """Return the same memory as integers, for comparisons bit by bit."""
    return tensor.contiguous().view(_INTEGER[tensor.element_size()])


def fill_bytes(tensor: Any, byte: int) -> None:
    """Fill a contiguous tensor with a byte."""
    size = tensor.element_size()
    bits(tensor).fill_(int.from_bytes(bytes([byte]) * size, "little", signed=size > 1))


def same_bits(a: Any, b: Any) -> bool:
    """Return whether two tensors are equal bit by bit."""
    return bool(torch.equal(bits(a), bits(b)))


def guarded_copy(tensor: Any) -> GuardedTensor:
    """Return a copy of an input between guard bytes."""
    copy = guarded_tensor(tensor.shape, tensor.dtype, str(tensor.device))
    copy.fill(INPUT_MARGIN)
    copy.tensor.copy_(tensor)
    return copy


def dtype_of(tensor: Tensor, dtype: str) -> Any:
    """Return the torch dtype of a tensor of kernel.yaml, in a job of that dtype."""
    return getattr(torch, dtype if tensor.dtype == "same" else tensor.dtype)


def output_shapes(kernel: Kernel, names: Mapping[str, Number]) -> list[tuple[int, ...]]:
    """Return the shapes of the outputs; `names` hold dims, params and itemsize."""
    return [tuple(evaluate_int(length, names) for length in output.shape) for output in kernel.outputs]


def output_dtypes(kernel: Kernel, dtype: str) -> list[Any]:
    """Return the torch dtypes of the outputs, in a job of that dtype."""
    return [dtype_of(output, dtype) for output in kernel.outputs]


def generator(device: str, seed: int) -> Any:
    """Return a torch.Generator with that seed."""
    return torch.Generator(device=device).manual_seed(seed)


def in_order(kernel: Kernel, tensors: Any, reference: Any, function: str = "make_inputs") -> tuple[Any, ...]:
    """Return the tensors that a function of reference.py returned, in the order of kernel.yaml.

    Raises EvaluationEnded with the line of the function's `return` when one is missing.
    """
    file = f"{kernel.folder}/reference.py"
    if not isinstance(tensors, Mapping):
        what = f"`{function}` returns a {type(tensors).__name__}, not a dict with a tensor for each input"
        line = last_return(getattr(reference, function))
        raise EvaluationEnded(Status.RUNTIME_ERROR, f"{file}: {what}", line=line)
    if missing := [f"`{tensor.name}`" for tensor in kernel.inputs if tensor.name not in tensors]:
        line = last_return(getattr(reference, function))
        there = ", ".join(f"`{name}`" for name in tensors) or "nothing"
        what = f"`{function}` returns no {' and no '.join(missing)}, which kernel.yaml lists under `inputs`"
        raise EvaluationEnded(Status.RUNTIME_ERROR, f"{file}: {what}; it returns {there}", line=line)
    return tuple(tensors[tensor.name].contiguous() for tensor in kernel.inputs)


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Return the outputs of a call, which returns a tensor or several, as a tuple."""
    return tuple(value) if isinstance(value, tuple | list) else (value,)
