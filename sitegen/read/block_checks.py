"""Check a kernel.yaml for blocks of more threads than CUDA allows, at each workload, check and point of a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod

from sitegen.diagnostics import Diagnostic
from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import FormulaError, Number, evaluate, evaluate_int, names_in
from sitegen.model.kernel import Implementation, Kernel, Launch, Sweep
from sitegen.model.sweep_points import (
    MAX_POINTS,
    count_points,
    implementation_at,
    values_of_points,
    words_of_values,
    workload_at,
)
from sitegen.read.yaml_nodes import Node

MOST_THREADS = 1024
"""The most threads of one block on every GPU that CUDA supports."""
_HINT = "choose fewer threads"

NameValues = Mapping[str, Number]


@dataclass(frozen=True, slots=True)
class _Block:
    """The sizes of a block at one workload, and the values of the names that they depend on."""

    sizes: tuple[int, ...]
    values: NameValues

    @property
    def is_too_large(self) -> bool:
        return prod(self.sizes) > MOST_THREADS

    def message(self) -> str:
        factors = [f"{size:,}" for size in self.sizes if size > 1]
        product = " = ".join([" × ".join(factors), f"{prod(self.sizes):,}"]) if len(factors) > 1 else factors[0]
        return f"a block of {product} threads is more than the {MOST_THREADS:,} that CUDA allows"

    def hint(self) -> str:
        at = ", ".join(f"{name} = {self.values[name]}" for name in sorted(self.values))
        return f"with {at}: {_HINT}" if at else _HINT


def check_blocks(kernel: Kernel, node: Node) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each launch and each sweep with a block that is too large.

    `node` is the tree that `kernel` was read from.  A variant under `wrong` may have such a block, which is its
    mistake.  A formula that cannot be computed, or is less than 1, has a diagnostic already.
    """
    children = zip(_items(node.get("implementations")), kernel.implementations, strict=False)
    of_launches = [found for child, made in children for found in _check_launch(child, made, kernel)]
    yield from of_launches
    if not of_launches:
        for child, sweep in zip(_items(node.get("sweeps")), kernel.sweeps, strict=False):
            yield from _check_sweep(child, sweep, kernel)


def _check_launch(node: Node, made: Implementation, kernel: Kernel) -> Iterator[Diagnostic]:
    block = (node.get("launch") or node).get("block")
    if made.launch and block:
        too_large = (one for one in _blocks(made.launch, _sizes(made, kernel)) if one.is_too_large)
        if first := next(too_large, None):
            yield Diagnostic("SG034", first.message(), block.span, first.hint())


def _check_sweep(node: Node, sweep: Sweep, kernel: Kernel) -> Iterator[Diagnostic]:
    subject = next((one for one in kernel.implementations if one.name == sweep.implementation), None)
    workload = next((one for one in kernel.workloads if one.name == sweep.workload), None)
    place = node.get("constants") or node.get("dims")
    if not (subject and workload and place and sweep.dtype in DTYPES) or count_points(sweep) > MAX_POINTS:
        return
    for values in values_of_points(sweep):
        launch = implementation_at(subject, sweep, values).launch
        names = _names(workload_at(workload, kernel.dims, values).dims, sweep.dtype, kernel)
        for block in _blocks(launch, [names]) if launch else ():
            if block.is_too_large:
                message = f"{block.message()}, at {words_of_values(values)}"
                yield Diagnostic("SG038", message, place.at, "leave out this value")
                return


def _sizes(made: Implementation, kernel: Kernel) -> Iterator[NameValues]:
    """Yield the values of the names of a launch, for each workload, check and dtype of the implementation."""
    for dims in (*(workload.dims for workload in kernel.workloads), *kernel.checks):
        for dtype in made.dtypes or kernel.dtypes:
            if set(dims) == set(kernel.dims) and dtype in DTYPES:
                yield _names(dims, dtype, kernel)


def _names(dims: Mapping[str, int], dtype: str, kernel: Kernel) -> NameValues:
    numbers = {name: values[0] for name, values in kernel.params.items() if values and not isinstance(values[0], str)}
    return {**numbers, "itemsize": DTYPES[dtype].itemsize, **dims}


def _blocks(launch: Launch, sizes: Iterable[NameValues]) -> Iterator[_Block]:
    """Yield the block of a launch at each of the sizes at which it can be computed."""
    used = _names_used(launch)
    for names in sizes:
        values = dict(names)
        try:
            for name, expression in launch.constants.items():
                values[name] = evaluate(expression, values)
            block = tuple(evaluate_int(size, values) for size in launch.block)
        except FormulaError:
            continue
        if min(block, default=0) > 0:
            yield _Block(block, {name: values[name] for name in used})


def _names_used(launch: Launch) -> frozenset[str]:
    """Return the names that the block depends on, also through constants."""
    used = frozenset[str]().union(*map(names_in, launch.block))
    for name, expression in reversed(tuple(launch.constants.items())):
        used |= names_in(expression) if name in used else frozenset()
    return used


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.value if node and isinstance(node.value, tuple) else ()
