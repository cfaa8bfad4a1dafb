"""A kernel's source → the same kernel, a little slower, with the same result: slow-downs of a known kind and a chosen
size, which a comparison of two records has to find or to leave alone.

Each is an edit of the real source, so it follows the kernels as they change; one that no longer fits says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from statistics import linear_regression

from sitegen.model.kernel import Implementation, Kernel

Edit = Callable[[Implementation, str, int], tuple[Implementation, str]]
"""(implementation, its source, amount) → the slower one; its name and file are given by `with_slowed`."""
SMS = 132
"""Of an H200: so many blocks of a matrix product run at once, one on each."""
TILES = 16
"""Of one SM in a product of 8192 x 8192 x 8192, each of 128 steps: one step more in one tile is 1/2048 of the work."""


@dataclass(frozen=True)
class Slowed:
    """An implementation that is slowed down on purpose."""

    original: str
    edit: Edit
    amounts: tuple[int, ...]
    """Between or near which the amounts of the wanted sizes are, found by a line."""
    searches: int
    """Jobs of each GPU that look for them: as many as make the cost of an amount known to about 0.05 %."""


def repeated_blocks(one: Implementation, source: str, extra: int) -> tuple[Implementation, str]:
    """`extra` blocks of a CUDA kernel do the work of the first blocks again, long after their data have left L2: more
    bytes from memory and into it, of the same values to the same place.
    """
    assert one.launch is not None
    blocks = one.launch.grid[0]
    constants = {**one.launch.constants, "BLOCKS": blocks}
    launch = replace(one.launch, grid=(f"{blocks} + {extra}", *one.launch.grid[1:]), constants=constants)
    return replace(one, launch=launch), _edited(source, "blockIdx.x", "(blockIdx.x % BLOCKS)", one.file)


def longer_sums(one: Implementation, source: str, steps: int) -> tuple[Implementation, str]:
    """A matrix product in Triton goes on past the end of K, where it multiplies zeros: so many more steps in every
    `TILES` tiles that one SM computes.
    """
    more = f"({steps} + {TILES - 1} - tl.program_id(0) // {SMS} % {TILES}) // {TILES}"
    return one, _edited(source, "range(0, K, DEPTH)", f"range(0, K + DEPTH * ({more}), DEPTH)", one.file)


def with_slowed(
    kernel: Kernel, slowed: Slowed, amounts: Mapping[str, int], files: Mapping[str, str]
) -> tuple[Kernel, dict[str, str]]:
    """The kernel with a slower implementation under each of these names, and the files that they are in."""
    original = next(one for one in kernel.implementations if one.name == slowed.original)
    several, more = list(kernel.implementations), dict[str, str]()
    for name, amount in amounts.items():
        made, source = slowed.edit(original, files[original.file], amount)
        path = PurePosixPath(original.file)
        several.append(replace(made, name=name, file=str(path.with_stem(f"{path.stem}_{name}"))))
        more[several[-1].file] = source
    return replace(kernel, implementations=tuple(several)), more


def amount_for(wanted: float, sizes: Mapping[int, float]) -> int:
    """The amount that costs `wanted`, by a line through the sizes of the amounts that were tried."""
    slope, start = linear_regression(list(sizes), list(sizes.values()))
    return max(1, round((wanted - start) / slope))


def _edited(source: str, old: str, new: str, file: str) -> str:
    if old not in source:
        raise SystemExit(f"{file} has no `{old}` any more: the planted slow-down needs another edit")
    return source.replace(old, new)
