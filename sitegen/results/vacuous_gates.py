"""Find gates of kernel.yaml that a run showed to reject nothing: outputs that ignore the inputs pass them.

The mistake is a warning.  The record is right, and the outputs passed every gate that kernel.yaml asks for, so no page
becomes false.  The remedy needs another run on a GPU, without which the site must still be built.  A record says
nothing about kernel.yaml as it is now once its gates or reference.py have changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.model.kernel import Kernel
from sitegen.model.record import Evaluation, Record
from sitegen.read.yaml_nodes import parse_yaml
from sitegen.read.yaml_tree import Node
from sitegen.results.dependencies import SourceTexts
from sitegen.results.keys import gate_parts
from sitegen.results.same_code import SameCode, as_today

EXACT_SETS = ("exact", "one_hot")
"""The same as in measure/judging.py."""
_SENTENCE = re.compile(
    r"(?P<output>\w+): (?P<imposter>zeros|the output for another seed) pass(?:es)? "
    r"at (?P<dims>\w+=\d+(?:, \w+=\d+)*) \("
)
"""A sentence of `Correctness.vacuous`, which measure/imposters.py writes."""

Sizes = tuple[tuple[str, int], ...]
"""Sizes of the dims by name, sorted."""


@dataclass(frozen=True, slots=True)
class VacuousGates:
    """A shape and dtype at which no gate rejects certain outputs."""

    output: str
    dims: Sizes
    dtype: str
    imposters: tuple[str, ...]
    """The outputs that pass: `zeros`, `the output for another seed`."""


def vacuous_gates(
    kernel: Kernel, records: Iterable[Record], files: SourceTexts, same: SameCode
) -> tuple[VacuousGates, ...]:
    """Return what the evaluations show that were checked by the present gates and reference.py; each shape once."""
    passed: dict[tuple[str, Sizes, str], set[str]] = {}
    for one in (one for record in records for one in record.evaluations if one.dtype in kernel.dtypes):
        sentences = one.correctness.vacuous if one.correctness else ()
        if sentences and _judged_as_now(kernel, one, files, same):
            for match in filter(None, map(_SENTENCE.match, sentences)):
                passed.setdefault((match["output"], _sizes(match["dims"]), one.dtype), set()).add(match["imposter"])
    return tuple(VacuousGates(*place, tuple(sorted(names, reverse=True))) for place, names in passed.items())


def _judged_as_now(kernel: Kernel, one: Evaluation, files: SourceTexts, same: SameCode) -> bool:
    now, then = as_today(gate_parts(kernel, one.dtype, files), same), as_today(one.key_parts, same)
    return all(then.get(name) == part for name, part in now.items())


def diagnostics_of_gates(kernel: Kernel, gates: Iterable[VacuousGates], text: str) -> Iterator[Diagnostic]:
    """Yield a warning for each shape, at the line of kernel.yaml that names it; `text` is that of the file."""
    path = kernel.span.path if kernel.span else f"{kernel.folder}/kernel.yaml"
    root, _ = parse_yaml(text, path)
    for one in gates:
        name, span = _place(kernel, root, dict(one.dims), Span(path))
        of_output = f" as `{one.output}`" if len(kernel.outputs) > 1 else ""
        message = f"no gate of {kernel.name} rejects {' or '.join(one.imposters)}{of_output} at {name}:{one.dtype}"
        yield Diagnostic("SG409", message, span, _remedy(kernel, one.dtype), Severity.WARNING)


def _remedy(kernel: Kernel, dtype: str) -> str:
    lower = f"lower `tolerance` of {dtype}"
    if any(name in EXACT_SETS for name in kernel.extra_inputs):
        return f"{lower}, or let `extra_inputs` of reference.py give results that differ more, and measure again"
    return f"add an exact set (`extra_inputs: [exact]`) or {lower}, and measure again"


def _place(kernel: Kernel, root: Node | None, dims: dict[str, int], file: Span) -> tuple[str, Span]:
    """Return the name of a shape, and the place of its workload or check; that of `tolerance` for any other shape."""
    for workload, node in zip(kernel.workloads, _items(root, "workloads"), strict=False):
        if dict(workload.dims) == dims:
            return workload.name, node.at
    name = ", ".join(f"{dim}={size}" for dim, size in dims.items())
    for check, node in zip(kernel.checks, _items(root, "checks"), strict=False):
        if dict(check) == dims:
            return name, node.at
    tolerance = root.get("tolerance") if root else None
    return name, tolerance.at if tolerance else file


def _items(root: Node | None, key: str) -> tuple[Node, ...]:
    node = root.get(key) if root else None
    return node.value if node and isinstance(node.value, tuple) else ()


def _sizes(text: str) -> Sizes:
    """Return the sizes in `M=3, N=127`, sorted by name."""
    pairs = (one.split("=") for one in text.split(", "))
    return tuple(sorted((name, int(size)) for name, size in pairs))
