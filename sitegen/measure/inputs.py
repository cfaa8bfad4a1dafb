"""Tensors that tell what happened to them: poisoned outputs between canaries, inputs with a pristine copy.

Every buffer under test lies in a larger one whose margins hold a known byte.  A write past its end
changes a margin; a read past an input's end brings a value that spoils the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from sitegen.measure.protocol import Ended
from sitegen.model.formula import Number, evaluate_int
from sitegen.model.kernel import Kernel, Status, Tensor

CANARY_BYTES = 1 << 16
"""On each side; far more than 256, so that even a whole unmasked block lands inside."""
INPUT_MARGIN = 0x7F
"""About 3e38 in float32 and bfloat16: whoever reads it gets a wrong sum."""
POISONS = (0xFF, 0xA5)
"""NaN in every float dtype, and a small number: an element that holds both in turn was not written."""

_INTEGER = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(frozen=True, slots=True)
class Guarded:
    """`tensor` within `raw`, a byte buffer with CANARY_BYTES on each side."""

    raw: Any
    tensor: Any

    def fill(self, byte: int) -> None:
        """Poisons the tensor and sets both margins."""
        self.raw.fill_(byte)

    def margins_hold(self, byte: int) -> bool:
        head, tail = self.raw[:CANARY_BYTES], self.raw[-CANARY_BYTES:]
        return bool((head == byte).all()) and bool((tail == byte).all())

    def untouched(self, byte: int) -> Any:
        """Which elements still hold the poison, as a bool tensor."""
        size = self.tensor.element_size()
        pattern = int.from_bytes(bytes([byte]) * size, "little", signed=size > 1)
        return bits(self.tensor) == pattern


def guarded(shape: Sequence[int], dtype: Any, device: str) -> Guarded:
    size = torch.empty((), dtype=dtype).element_size()
    count = 1
    for length in shape:
        count *= length
    raw = torch.empty(2 * CANARY_BYTES + count * size, dtype=torch.uint8, device=device)
    inner = raw[CANARY_BYTES : CANARY_BYTES + count * size]
    return Guarded(raw, inner.view(dtype).view(tuple(shape)))


def bits(tensor: Any) -> Any:
    """The same memory as integers, for comparisons bit by bit."""
    return tensor.contiguous().view(_INTEGER[tensor.element_size()])


def same_bits(a: Any, b: Any) -> bool:
    return bool(torch.equal(bits(a), bits(b)))


def guarded_copy(tensor: Any) -> Guarded:
    """A copy of an input with margins around it."""
    copy = guarded(tensor.shape, tensor.dtype, str(tensor.device))
    copy.fill(INPUT_MARGIN)
    copy.tensor.copy_(tensor)
    return copy


def dtype_of(tensor: Tensor, dtype: str) -> Any:
    return getattr(torch, dtype if tensor.dtype == "same" else tensor.dtype)


def output_shapes(kernel: Kernel, names: Mapping[str, Number]) -> list[tuple[int, ...]]:
    return [tuple(evaluate_int(length, names) for length in output.shape) for output in kernel.outputs]


def output_dtypes(kernel: Kernel, dtype: str) -> list[Any]:
    return [dtype_of(output, dtype) for output in kernel.outputs]


def generator(device: str, seed: int) -> Any:
    return torch.Generator(device=device).manual_seed(seed)


def in_order(kernel: Kernel, made: Any, function: str = "make_inputs") -> tuple[Any, ...]:
    """Return the tensors that a function of reference.py made, in the order of kernel.yaml.  Raises Ended."""
    file = f"{kernel.folder}/reference.py"
    if not isinstance(made, Mapping):
        what = f"`{function}` returns a {type(made).__name__}, not a dict with a tensor for each input"
        raise Ended(Status.RUNTIME_ERROR, f"{file}: {what}")
    if missing := [f"`{tensor.name}`" for tensor in kernel.inputs if tensor.name not in made]:
        there = ", ".join(f"`{name}`" for name in made) or "nothing"
        what = f"`{function}` returns no {' and no '.join(missing)}, which kernel.yaml lists under `inputs`"
        raise Ended(Status.RUNTIME_ERROR, f"{file}: {what}; it returns {there}")
    return tuple(made[tensor.name].contiguous() for tensor in kernel.inputs)


def as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)
