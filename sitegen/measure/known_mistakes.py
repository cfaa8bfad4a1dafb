"""Inputs and a right computation → the outputs that kernels with known mistakes would give, with words for each.

`diagnosis.py` compares them with the output of a wrong kernel.  All tensors are on the device of the inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class Alternative:
    """The output that a kernel with a certain mistake would give."""

    cause: str
    words: str
    output: Any
    """Float64 tensor of the shape of the output; NaN where the mistake does not determine the element."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A dim over which an output adds."""

    name: str
    size: int
    axes: Mapping[str, int]
    """The axis of each input that has the dim, by the name of the input."""
    noun: str
    """What is added: `number`, `row`, or `place of K`.  Numbers and rows are divided among programs."""


def alternatives_of(
    tensors: Mapping[str, Any], sizes: Mapping[str, int], compute: Any, expected: Any
) -> Iterator[Alternative]:
    """Yield the outputs of known mistakes: inputs read with wrong indices, in place of each other, rounded, negated or
    left out, and the output written with swapped indices.

    `compute` returns the output for inputs by name, in float64.
    """
    for tensor in tensors.values():
        if tensor.dim() == 2 and torch.equal(tensor.t().double(), expected):
            yield from _half_transposed(tensor.double())
    for name, tensor in tensors.items():
        for cause, words, read in _misread(name, tensor, sizes):
            yield Alternative(cause, words, compute({**tensors, name: read}))
        if tensor.dtype is torch.float32:
            rounded = tensor.bfloat16().float()
            words = f"rounding `{name}` to bfloat16 before the calculation"
            yield Alternative("low_precision", words, compute({**tensors, name: rounded}))
        if len(tensors) > 1 and tensor.is_floating_point():
            yield from _unused(name, tensors, compute)
            yield from _other_input(name, tensors, compute)
    yield from _read_apart(tensors, compute)
    if any(tensor.dtype is torch.float32 for tensor in tensors.values()):
        rounded = {name: tensor.bfloat16().float() for name, tensor in tensors.items()}
        yield Alternative("low_precision", "rounding the inputs to bfloat16 first", compute(rounded))
        half = {name: tensor.half().float() for name, tensor in tensors.items()}
        yield Alternative("low_precision", "rounding the inputs to float16 first", compute(half))
        for dtype in (torch.bfloat16, torch.float16) if expected.numel() > 1 else ():  # one number may fit by chance
            words = f"rounding the result to {str(dtype).removeprefix('torch.')}"
            yield Alternative("low_precision", words, expected.to(dtype).double())
    if expected.dim() == 2:
        rows, columns = expected.shape
        swapped = expected.t().reshape(-1).reshape(rows, columns)
        words = "writing the output with row and column swapped (`c * rows + r` instead of `r * columns + c`)"
        yield Alternative("swapped_indices", words, swapped)
        yield from _column_by_column(tensors, compute, expected)


def _unused(name: str, tensors: Mapping[str, Any], compute: Any) -> Iterator[Alternative]:
    """Yield what the output becomes without an input: with zeros where it is added, with ones where it multiplies.

    An output of zeros alone says nothing of its cause, and is left out.
    """
    for number in (0, 1):
        output = compute({**tensors, name: torch.full_like(tensors[name], number)})
        words = f"an input `{name}` of {'ones' if number else 'zeros'}"
        if bool((output != 0).any()):
            yield Alternative("unused_input", words, output)


def _other_input(name: str, tensors: Mapping[str, Any], compute: Any) -> Iterator[Alternative]:
    """Yield what the output becomes when a kernel reads another input of the same shape instead of this one, or
    subtracts this one.
    """
    tensor = tensors[name]
    for other, instead in tensors.items():
        if other != name and (instead.shape, instead.dtype) == (tensor.shape, tensor.dtype):
            words = f"reading `{other}` in place of `{name}`"
            yield Alternative("wrong_input", words, compute({**tensors, name: instead}))
    words = f"`{name}` with the opposite sign"
    yield Alternative("wrong_sign", words, compute({**tensors, name: -tensor}))


def _read_apart(tensors: Mapping[str, Any], compute: Any) -> Iterator[Alternative]:
    """Yield what the output becomes when a kernel reads every second number of vectors that have one length."""
    if {one.dim() for one in tensors.values()} == {1} and len({one.numel() for one in tensors.values()}) == 1:
        first = next(iter(tensors.values()))
        index = 2 * torch.arange(first.numel(), device=first.device)
        read = {name: _at(tensor, index) for name, tensor in tensors.items()}
        words = "reading every second number of the inputs (`2 * i` instead of `i`)"
        yield Alternative("wrong_stride", words, compute(read))


def _column_by_column(tensors: Mapping[str, Any], compute: Any, expected: Any) -> Iterator[Alternative]:
    """Yield what the output becomes when a kernel reads and writes matrices of one shape with swapped indices."""
    rows, columns = expected.shape
    r, c = _indices(rows, columns, expected.device)
    read = {name: _at(one, c * rows + r) for name, one in tensors.items() if one.shape == expected.shape}
    if read:
        output = compute({**tensors, **read}).t().reshape(rows, columns)
        words = "reading and writing with row and column swapped (`c * rows + r` instead of `r * columns + c`)"
        yield Alternative("swapped_indices", words, output)


def incomplete_sums(tensors: Mapping[str, Any], of: Sum, compute: Any) -> Iterator[Alternative]:
    """Yield what an output becomes when only some blocks of a sum count in it, or some count twice."""

    def only(places: Any) -> Any:
        parts = {name: tensors[name].index_select(axis, places) for name, axis in of.axes.items()}
        return compute({**tensors, **parts})

    every = torch.arange(of.size, device=tensors[next(iter(of.axes))].device)
    parts_of = _parts_of_a_loop if of.noun.startswith("place") else _parts_of_programs
    for cause, words, places in parts_of(of, every):
        yield Alternative(cause, words, only(places))


def _parts_of_programs(of: Sum, places: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield the places that count when blocks of a sum belong to programs, and some of the programs count."""
    size = of.size
    for block in (1 << power for power in range(4 if of.noun == "number" else 0, 15)):
        if block >= size:
            return
        whole, last = size // block * block, (size - 1) // block * block
        yield "first_block_only", f"using only the first {_many(block, of.noun)}", places[:block]
        if whole < size:
            left_out = f"leaving out the last {_many(size - whole, of.noun)}, which fill no whole block,"
            yield "too_few_programs", left_out, places[:whole]
        of_last = f"the {of.noun}s from {last} on, those" if last < size - 1 else f"{of.noun} {last}, that"
        yield "programs_overwrite", f"using only {of_last} of the last program,", places[last:]


def _parts_of_a_loop(of: Sum, places: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield the places that count when a loop adds block by block, and keeps the last, skips some, or repeats some."""
    size = of.size
    for block in (1 << power for power in range(3, 9)):
        if block >= size:
            return
        whole, last = size // block * block, (size - 1) // block * block
        if block < whole < size - 1:  # a single place is also left out by a step that is too long
            words = f"leaving out the places of {of.name} from {whole} on, which fill no whole block,"
            yield "skipped_tail", words, places[:whole]
        yield "overwritten_sum", f"using only the places of {of.name} from {last} on, the last block,", places[last:]
        for step in (block << power for power in range(1, 4)):
            if step < size:
                words = f"using only the first {block} of every {step} places of {of.name}"
                yield "skipped_part", words, places[places % step < block]
                turns = [places[start : start + step] for start in range(0, size, block)]
                words = f"adding {step} places of {of.name} at each step of {block}"
                yield "counted_twice", words, torch.cat(turns)


def _many(count: int, noun: str) -> str:
    """Return a count in words: `128 numbers`, `1 row`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _half_transposed(matrix: Any) -> Iterator[Alternative]:
    """Yield what a transpose becomes when all numbers keep their order, or when those of each tile do."""
    rows, columns = matrix.shape
    words = "copying the numbers in their order, without transposing them (place `r * N + c` instead of `c * M + r`)"
    yield Alternative("swapped_indices", words, matrix.reshape(columns, rows))
    c, r = _indices(columns, rows, matrix.device)
    for side in (1 << power for power in range(3, 8)):
        row, column = r // side * side + c % side, c // side * side + r % side
        values = matrix[row.clamp(max=rows - 1), column.clamp(max=columns - 1)]
        words = f"moving each tile of {side} × {side} numbers to its place without transposing the numbers in it"
        yield Alternative("unturned_tile", words, torch.where((row < rows) & (column < columns), values, torch.nan))


def _misread(name: str, tensor: Any, sizes: Mapping[str, int]) -> Iterator[tuple[str, str, Any]]:
    """Yield a matrix as a kernel reads it with wrong index arithmetic; NaN where it would read outside."""
    if tensor.dim() != 2:
        return
    rows, columns = tensor.shape
    r, c = _indices(rows, columns, tensor.device)
    if (block := 1 << (columns - 1).bit_length()) != columns:
        words = f"reading `{name}` with a row stride of {block}, the length of a block, instead of {columns}"
        yield "wrong_stride", words, _at(tensor, r * block + c)
    for size, stride in {value: key for key, value in sizes.items()}.items():
        if size != columns:
            words = f"reading `{name}` with a row stride of {stride} = {size} instead of {columns}"
            yield "wrong_stride", words, _at(tensor, r * size + c)
        words = f"reading `{name}` with row and column swapped (column · {stride} + row)"
        yield "swapped_indices", words, _at(tensor, c * size + r)


def _indices(rows: int, columns: int, device: Any) -> tuple[Any, Any]:
    """Return the numbers of rows as a column, and those of columns as a row."""
    return torch.arange(rows, device=device)[:, None], torch.arange(columns, device=device)[None, :]


def _at(tensor: Any, index: Any) -> Any:
    """Return the numbers of a tensor at places of its memory, in float64; NaN where a place is outside."""
    flat = tensor.reshape(-1).double()
    return torch.where(index < flat.numel(), flat[index.clamp(max=flat.numel() - 1)], torch.nan)
