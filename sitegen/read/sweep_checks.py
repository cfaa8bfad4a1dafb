"""Check the sweeps of a kernel.yaml: the names that they use, their values and the number of their points."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.kernel import Implementation, Kernel, Sweep
from sitegen.model.sweep_points import MAX_POINTS, count_points, dims_in
from sitegen.read.shape import unknown_word
from sitegen.read.yaml_nodes import Node

_CODE = "SG038"
_ALIKE = 0.8
"""The likeness from which a constant is suggested: `THREAD` means `THREADS`; `BLOCK_SIZE` need not mean `BLOCKS`."""


def check_sweeps(kernel: Kernel, node: Node) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each mistake in `sweeps`; `node` is the tree that `kernel` was read from."""
    child = node.get("sweeps")
    items = child.value if child and isinstance(child.value, tuple) else ()
    for item, sweep in zip(items, kernel.sweeps, strict=False):
        if isinstance(item.value, Mapping):
            yield from _check_subject(item, sweep, kernel)
            yield from _check_swept(item, sweep, kernel)


def _check_subject(node: Node, sweep: Sweep, kernel: Kernel) -> Iterator[Diagnostic]:
    known = {
        "implementation": tuple(one.name for one in kernel.implementations),
        "workload": tuple(workload.name for workload in kernel.workloads),
        "dtype": kernel.dtypes,
    }
    for key, names in known.items():
        if (child := node.get(key)) and child.text and child.text not in names:
            yield unknown_word(key, child.text, child.span, names, _CODE)
    subject, dtype = _implementation(sweep, kernel), node.get("dtype")
    if subject and dtype and subject.dtypes and sweep.dtype in kernel.dtypes and sweep.dtype not in subject.dtypes:
        yield Diagnostic(_CODE, f"`{subject.name}` does not take {sweep.dtype}", dtype.span)


def _check_swept(node: Node, sweep: Sweep, kernel: Kernel) -> Iterator[Diagnostic]:
    constants, dims = node.get("constants"), node.get("dims")
    subject = _implementation(sweep, kernel)
    if subject and constants:
        known = tuple(subject.launch.constants) if subject.launch else ()
        yield from _check_constants(constants, known, subject.name)
    if dims:
        yield from _check_dims(dims, kernel)
    for values in (*_entries(constants).values(), *_entries(dims).values()):
        yield from _check_values(values)
    yield from _check_points(node, sweep)


def _check_constants(node: Node, known: tuple[str, ...], subject: str) -> Iterator[Diagnostic]:
    if not known:
        without = f"`{subject}` has no constants in its launch"
        yield Diagnostic(_CODE, without, node.at, "only constants of a launch can be swept")
        return
    swept = _entries(node)
    for name, child in swept.items():
        if name not in known:
            yield Diagnostic(_CODE, f"unknown constant `{name}`", child.at, _other_constant(name, known, swept))


def _other_constant(name: str, known: tuple[str, ...], swept: Iterable[str]) -> str:
    """Return the hint for a constant that the launch does not have: a name much like it, or those not swept yet."""
    free = [one for one in known if one not in swept] or list(known)
    if near := difflib.get_close_matches(name, free, n=1, cutoff=_ALIKE):
        return f"did you mean `{near[0]}`?"
    return f"write one of the launch: {', '.join(f'`{one}`' for one in free)}"


def _check_dims(node: Node, kernel: Kernel) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each unknown dim, and for each dim that gets two values; `M=N=K` names three dims."""
    first: set[str] = set()
    for name, child in _entries(node).items():
        for dim in dims_in(name):
            if dim not in kernel.dims:
                yield unknown_word("dim", dim, child.at, kernel.dims, _CODE)
            elif dim in first:
                yield Diagnostic(_CODE, f"the dim `{dim}` is swept twice", child.at, "name each dim once")
            first.add(dim)


def _check_values(node: Node) -> Iterator[Diagnostic]:
    if node.value == ():
        yield Diagnostic(_CODE, "no values", node.at, "write `[1, 2, 4]`")
    first: dict[int, Span] = {}
    for child in node.value if isinstance(node.value, tuple) else ():
        if not isinstance(child.value, int) or isinstance(child.value, bool):
            continue
        if child.value < 1:
            yield Diagnostic(_CODE, f"the value {child.value} is less than 1", child.span)
        if first.setdefault(child.value, child.span) is not child.span:
            yield Diagnostic(_CODE, f"the value {child.value} occurs twice", child.span, "remove one of the two")


def _check_points(node: Node, sweep: Sweep) -> Iterator[Diagnostic]:
    span = sweep.span or node.span
    if not (sweep.constants or sweep.dims):
        yield Diagnostic(_CODE, f"the sweep `{sweep.name}` has no values", span, "write `constants` or `dims`")
    elif (points := count_points(sweep)) > MAX_POINTS:
        yield Diagnostic(_CODE, f"the sweep has {points} points", span, f"at most {MAX_POINTS} are measured")


def _entries(node: Node | None) -> Mapping[str, Node]:
    return node.value if node and isinstance(node.value, Mapping) else {}


def _implementation(sweep: Sweep, kernel: Kernel) -> Implementation | None:
    return next((one for one in kernel.implementations if one.name == sweep.implementation), None)
