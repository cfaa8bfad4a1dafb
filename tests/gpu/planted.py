"""Slow a kernel down a little, without a change of its result, by an edit of its source.

A comparison of two records must find or ignore such a slow-down of a known kind and a chosen size.  The edit is applied
to the real source, so it follows the kernels as they change; an edit that no longer fits raises an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from statistics import linear_regression

from sitegen.model.kernel import Implementation, Kernel

Edit = Callable[[Implementation, str, int], tuple[Implementation, str]]
"""A function from (implementation, its source, amount) to the slower one; `with_slowed` gives it its name and file."""
SMS = 132
"""SMs of an H200: so many blocks of a matrix product run at once, one on each SM."""
TILES = 16
"""Tiles of one SM in a product of 8192 × 8192 × 8192, each of 128 steps.

One step more in one tile is 1/2048 of the work.
"""


@dataclass(frozen=True)
class Slowed:
    """An implementation that is slowed down on purpose."""

    original: str
    edit: Edit
    amounts: tuple[int, ...]
    """Amounts around those with the wanted costs, which are found by a line through them."""
    searches: int
    """Jobs of each GPU that search for the amounts: enough to know the cost of an amount to about 0.05 %."""


def repeated_blocks(one: Implementation, source: str, extra: int) -> tuple[Implementation, str]:
    """Let `extra` blocks of a CUDA kernel repeat the work of its first blocks, whose data have left L2 by then.

    This moves more bytes from and to memory, with the same values in the same places.
    """
    assert one.launch is not None
    blocks = one.launch.grid[0]
    constants = {**one.launch.constants, "BLOCKS": blocks}
    launch = replace(one.launch, grid=(f"{blocks} + {extra}", *one.launch.grid[1:]), constants=constants)
    return replace(one, launch=launch), _edited(source, "blockIdx.x", "(blockIdx.x % BLOCKS)", one.file)


def longer_sums(one: Implementation, source: str, steps: int) -> tuple[Implementation, str]:
    """Continue the sum of a matrix product in Triton beyond K, where it multiplies zeros.

    The amount is the number of additional steps in each `TILES` tiles of one SM.
    """
    more = f"({steps} + {TILES - 1} - tl.program_id(0) // {SMS} % {TILES}) // {TILES}"
    return one, _edited(source, "range(0, K, DEPTH)", f"range(0, K + DEPTH * ({more}), DEPTH)", one.file)


def with_slowed(
    kernel: Kernel, slowed: Slowed, amounts: Mapping[str, int], files: Mapping[str, str]
) -> tuple[Kernel, dict[str, str]]:
    """Return the kernel with a slower implementation under each of these names, and their files."""
    original = next(one for one in kernel.implementations if one.name == slowed.original)
    several, more = list(kernel.implementations), dict[str, str]()
    for name, amount in amounts.items():
        made, source = slowed.edit(original, files[original.file], amount)
        path = PurePosixPath(original.file)
        several.append(replace(made, name=name, file=str(path.with_stem(f"{path.stem}_{name}"))))
        more[several[-1].file] = source
    return replace(kernel, implementations=tuple(several)), more


def amount_for(wanted: float, sizes: Mapping[int, float]) -> int:
    """Return the amount that costs `wanted`, by a line through the costs of the amounts that were tried."""
    slope, start = linear_regression(list(sizes), list(sizes.values()))
    return max(1, round((wanted - start) / slope))


def _edited(source: str, old: str, new: str, file: str) -> str:
    if old not in source:
        raise SystemExit(f"{file} has no `{old}` any more: the planted slow-down needs another edit")
    return source.replace(old, new)
