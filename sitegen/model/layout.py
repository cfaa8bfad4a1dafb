"""Parse CuTe layouts such as `Swizzle<3,3,3> o ((2,4),8):((1,16),2)`: functions from a coordinate to an index.

A layout is a shape and a stride of the same nesting; without a stride it is compact, the leftmost mode fastest.
A coordinate of a nested mode is one number, the leftmost submode fastest.  A swizzle is applied to the index.
Source: CUTLASS, media/docs/cpp/cute/01_layout.md and include/cute/swizzle.hpp.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

SizeTree = int | tuple["SizeTree", ...]
_TOKEN = re.compile(r"\s*(?:_?(\d+)|(Swizzle|Sw)\b|([():,<>])|(o\b|∘))")
_LARGEST = 2**31
_DEEPEST = 8
MOST_SHOWN = 2048
"""Most elements that a figure of a layout shows; a larger figure cannot be read."""


class LayoutError(ValueError):
    """A mistake in the text of a layout; `col` is its column, counted from 1."""

    def __init__(self, message: str, col: int, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.col, self.hint = message, col, hint


@dataclass(frozen=True, slots=True)
class Swizzle:
    """A function that replaces `bits` bits of an index, from bit `base` on, by their exclusive or with the bits that
    are `shift` places above them.
    """

    bits: int
    base: int
    shift: int

    def __call__(self, index: int) -> int:
        above = ((1 << self.bits) - 1) << (self.base + self.shift)
        return index ^ ((index & above) >> self.shift)


@dataclass(frozen=True, slots=True)
class Layout:
    """A function from coordinates to indices."""

    shape: SizeTree
    stride: SizeTree
    swizzle: Swizzle | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Size of each mode."""
        return tuple(map(size_of, self.shape)) if isinstance(self.shape, tuple) else (self.shape,)

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return size_of(self.shape)

    def __call__(self, *coordinate: int) -> int:
        """Return the index at a coordinate: one number for each mode, or one number that counts through all of them,
        the leftmost mode fastest.
        """
        strides = self.stride if isinstance(self.stride, tuple) else (self.stride,)
        if len(coordinate) == 1:
            index = _at(coordinate[0], self.shape, self.stride)
        else:
            modes = self.shape if isinstance(self.shape, tuple) else (self.shape,)
            index = sum(_at(c, shape, stride) for c, shape, stride in zip(coordinate, modes, strides, strict=True))
        return self.swizzle(index) if self.swizzle else index


def size_of(shape: SizeTree) -> int:
    """Return the number of coordinates of a shape."""
    return math.prod(map(size_of, shape)) if isinstance(shape, tuple) else shape


def _at(coordinate: int, shape: SizeTree, stride: SizeTree) -> int:
    if not isinstance(shape, tuple) or not isinstance(stride, tuple):
        assert isinstance(stride, int)
        return coordinate * stride
    index = 0
    for mode, step in zip(shape, stride, strict=True):
        coordinate, here = divmod(coordinate, size_of(mode))
        index += _at(here, mode, step)
    return index


def compact(shape: SizeTree, step: int = 1) -> SizeTree:
    """Return the stride of a shape whose elements lie side by side, the leftmost mode fastest."""
    if not isinstance(shape, tuple):
        return step
    strides = []
    for mode in shape:
        strides.append(compact(mode, step))
        step *= size_of(mode)
    return tuple(strides)


def parse_layout(text: str) -> Layout:
    """Return the layout that a text describes.  Raises LayoutError with the column of the mistake."""
    reader = _LayoutParser(text)
    swizzle = reader.swizzle()
    shape = reader.tree(1)
    if size_of(_plain(shape)) > _LARGEST:
        raise LayoutError("this layout is larger than any memory", shape.col)
    if not reader.take(":"):
        reader.expect_end("`:` and a stride")
        return Layout(_plain(shape), compact(_plain(shape)), swizzle)
    stride = reader.tree(0)
    reader.expect_end("the end")
    _check_nesting(shape, stride, f"{text[: shape.col - 1]}{_example(_plain(shape))}")
    return Layout(_plain(shape), _plain(stride), swizzle)


@dataclass(frozen=True, slots=True)
class _PlacedTree:
    """A tree of sizes with the column of each node."""

    value: int | tuple[_PlacedTree, ...]
    col: int


def _plain(node: _PlacedTree) -> SizeTree:
    return tuple(map(_plain, node.value)) if isinstance(node.value, tuple) else node.value


def _check_nesting(shape: _PlacedTree, stride: _PlacedTree, example: str) -> None:
    if _modes(shape) != _modes(stride):
        message = f"the shape {_described(shape)} and its stride {_described(stride)}"
        hint = f"write a stride for each number of the shape, with the same parentheses, such as `{example}`"
        raise LayoutError(message, stride.col, hint)
    if isinstance(shape.value, tuple) and isinstance(stride.value, tuple):
        for inner, step in zip(shape.value, stride.value, strict=True):
            _check_nesting(inner, step, example)


def _modes(node: _PlacedTree) -> int:
    """Return the number of modes; 0 of a number without parentheses."""
    return len(node.value) if isinstance(node.value, tuple) else 0


def _described(node: _PlacedTree) -> str:
    modes = _modes(node)
    has = f"has {modes} mode{'s' if modes > 1 else ''}" if modes else "is one number"
    return f"`{_written(_plain(node))}` {has}"


def _written(tree: SizeTree) -> str:
    return f"({','.join(map(_written, tree))})" if isinstance(tree, tuple) else str(tree)


def _example(shape: SizeTree) -> str:
    """Return a layout of a shape, whose elements lie side by side, the rightmost mode fastest."""
    return f"{_written(shape)}:{_written(_mirrored(compact(_mirrored(shape))))}"


def _mirrored(tree: SizeTree) -> SizeTree:
    return tuple(map(_mirrored, reversed(tree))) if isinstance(tree, tuple) else tree


class _LayoutParser:
    """Recursive-descent parser with one token of look-ahead; `start` is the offset of that token."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.next()

    def next(self) -> None:
        rest = self.text[self.at :]
        self.start = self.at + len(rest) - len(rest.lstrip())
        token = _TOKEN.match(self.text, self.at)
        if not token and self.start < len(self.text):
            raise LayoutError(f"unexpected `{self.text[self.start]}`", self.start + 1)
        groups: tuple[str | None, ...] = token.groups() if token else (None, None, None, None)
        self.number, self.word, self.sign, self.ring = groups
        self.at = token.end() if token else len(self.text)

    def fail(self, expected: str) -> LayoutError:
        shown = self.number or self.word or self.sign or self.ring
        return LayoutError(f"expected {expected}" + (f", found `{shown}`" if shown else ""), self.start + 1)

    def take(self, sign: str) -> bool:
        if self.sign != sign:
            return False
        self.next()
        return True

    def expect(self, sign: str) -> None:
        if not self.take(sign):
            raise self.fail(f"`{sign}`")

    def expect_end(self, expected: str) -> None:
        if self.start < len(self.text):
            raise self.fail(expected)

    def swizzle(self) -> Swizzle | None:
        if not self.word:
            return None
        start = self.start
        self.next()
        self.expect("<")
        bits = self.whole(0)
        self.expect(",")
        base = self.whole(0)
        self.expect(",")
        shift = self.whole(0)
        self.expect(">")
        if shift < bits or bits + base + shift > 32:
            raise LayoutError(
                f"`Swizzle<{bits},{base},{shift}>`: a shift is at least the number of bits", start + 1, "Swizzle<B,M,S>"
            )
        if not self.ring:
            raise self.fail("`o` and a layout")
        self.next()
        return Swizzle(bits, base, shift)

    def whole(self, least: int) -> int:
        if self.number is None:
            raise self.fail("a number")
        value = int(self.number[:12])
        if not least <= value <= _LARGEST:
            problem = "is no extent" if value < least else "is too large"
            raise LayoutError(f"`{self.number}` {problem}", self.start + 1)
        self.next()
        return value

    def tree(self, least: int) -> _PlacedTree:
        col = self.start + 1
        if not self.take("("):
            return _PlacedTree(self.whole(least), col)
        if self.depth == _DEEPEST:
            raise LayoutError("nested too deeply", col)
        self.depth += 1
        modes = [self.tree(least)]
        while self.take(","):
            modes.append(self.tree(least))
        if self.sign != ")":
            raise self.fail("`,` or `)`")
        self.next()
        self.depth -= 1
        return _PlacedTree(tuple(modes), col)
