"""Read kernels/<kernel>/kernel.yaml into a Kernel; `kernel_checks` checks that its parts agree with each other."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.dtypes import DTYPES
from sitegen.model.kernel import (
    Goal,
    Implementation,
    Kernel,
    Language,
    Scalar,
    Status,
    Sweep,
    Tensor,
    Workload,
    Wrong,
)
from sitegen.read.block_checks import check_blocks
from sitegen.read.kernel_checks import can_read_dims, check_kernel
from sitegen.read.shape import (
    Converter,
    Diagnostics,
    entries_of,
    items_of,
    missing_key,
    one_of,
    read_as,
    read_value,
    wrong_type,
)
from sitegen.read.sweep_checks import check_sweeps
from sitegen.read.yaml_nodes import Node, parse_yaml

_GOAL = re.compile(
    r"(?P<subject>\S+) *>= *(?P<least>\d+(?:\.\d+)?) *(?P<unit>of-copy|of-read|of-ceiling|x +\S+)"
    r" *@ *(?P<workload>[^\s:]+):(?P<dtype>[^\s:]+)(?: +on +(?P<gpu>\S+))?"
)
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_FAILURES = tuple(status for status in Status if status.failed)


def parse_kernel(text: str, path: str, files: Mapping[str, str]) -> tuple[Kernel, tuple[Diagnostic, ...]]:
    """Return the kernel and its mistakes.  `files` are the site's texts by path, for the files that the YAML names."""
    node, syntax = parse_yaml(text, path)
    diagnostics = list(syntax)
    folder = path.rpartition("/")[0]
    convert: dict[str, Converter] = {
        "inputs": _tensors,
        "outputs": _tensors,
        "baselines": _baselines,
        "params": _params,
        "dtypes": one_of(DTYPES, "dtype"),
        "workloads": _workloads,
        "goals": _goals,
        "sweeps": lambda child, diagnostics: tuple(_sweep(n, diagnostics) for n in items_of(child, diagnostics)),
        "implementations": lambda child, diagnostics: tuple(
            _implementation(n, folder, diagnostics) for n in items_of(child, diagnostics)
        ),
        "wrong": lambda child, diagnostics: tuple(_wrong(n, folder, diagnostics) for n in items_of(child, diagnostics)),
    }
    given: dict[str, Any] = {"span": ((node and node.get("kernel")) or node or Node(None, Span(path))).span}
    given["baseline_files"] = _baseline_files(node, folder, diagnostics)
    kernel = read_as(
        Kernel, node, diagnostics, given=given, noun="kernel.yaml key", keys={"name": "kernel"}, convert=convert
    )
    kernel = replace(kernel, name=folder.rpartition("/")[2], workloads=_with_names(kernel.workloads, kernel.dims))
    if node is not None:
        diagnostics += _wrong_goals(kernel, node)
        diagnostics += check_kernel(kernel, node, files)
        if can_read_dims(node):
            diagnostics += (*check_sweeps(kernel, node), *check_blocks(kernel, node))
    return kernel, tuple(diagnostics)


def predicted_share(predicts: str) -> float | None:
    """Return the last percentage of a prediction as a share: 0.5 for "three reads and a write: 50 %"."""
    percentages = _PERCENT.findall(predicts)
    return float(percentages[-1]) / 100 if percentages else None


def parse_goal(text: str) -> Goal | None:
    """Return a goal written as `<implementation or best> >= <number> <unit> @ <workload>:<dtype>`, else None.

    The unit is `of-copy`, `of-read`, `of-ceiling` or `x <baseline>`.  ` on <GPU>` at the end is for one GPU.
    """
    match = _GOAL.fullmatch(text.strip())
    if not match:
        return None
    unit = " ".join(match["unit"].split())
    place = (match["workload"], match["dtype"], match["gpu"] or "")
    return Goal(text, match["subject"], float(match["least"]), unit, *place)


def _tensors(node: Node, diagnostics: Diagnostics) -> tuple[Tensor, ...]:
    entries = entries_of(node, diagnostics, Tensor)
    return tuple(read_as(Tensor, child, diagnostics, given={"name": name}) for name, child in entries.items())


def _params(node: Node, diagnostics: Diagnostics) -> Mapping[str, tuple[Scalar, ...]]:
    return {name: _param(child, diagnostics) for name, child in entries_of(node, diagnostics).items()}


def _param(node: Node, diagnostics: Diagnostics) -> tuple[Scalar, ...]:
    nodes = node.value if isinstance(node.value, tuple) else (node,)
    values = tuple(n.value for n in nodes if isinstance(n.value, bool | int | float | str))
    if len(values) < len(nodes) or not values:
        wrong_type(node, "a number, a word, or a list of them", diagnostics)
    return values


def _workloads(node: Node, diagnostics: Diagnostics) -> tuple[Workload, ...]:
    """Return the workloads; one without a name gets it from `_with_names`, which knows the order of the dims."""
    return tuple(_workload(child, diagnostics) for child in items_of(node, diagnostics))


def _workload(node: Node, diagnostics: Diagnostics) -> Workload:
    entries = entries_of(node, diagnostics)
    name = entries.get("name")
    dims: Any = read_value(
        Mapping[str, int], Node({k: v for k, v in entries.items() if k != "name"}, node.span), diagnostics
    )
    return Workload(name.text if name else "", dims)


def _with_names(workloads: tuple[Workload, ...], dims: tuple[str, ...]) -> tuple[Workload, ...]:
    return tuple(w if w.name else replace(w, name="x".join(str(w.dims.get(d, "?")) for d in dims)) for w in workloads)


def _goals(node: Node, diagnostics: Diagnostics) -> tuple[Goal, ...]:
    """Return the goals that can be read; `_wrong_goals` reports the others, with names of the whole kernel."""
    goals = (parse_goal(child.text) for child in items_of(node, diagnostics))
    return tuple(goal for goal in goals if goal)


def _wrong_goals(kernel: Kernel, node: Node) -> Iterator[Diagnostic]:
    goals = node.get("goals")
    for child in goals.value if goals and isinstance(goals.value, tuple) else ():
        if parse_goal(child.text) is None:
            yield Diagnostic("SG033", "this is not a goal", child.span, _example_of_goal(kernel))


def _example_of_goal(kernel: Kernel) -> str:
    workload = next((one.name for one in kernel.workloads if one.name), "8192x8192")
    place = f"{workload}:{kernel.dtypes[0] if kernel.dtypes else 'float32'}"
    examples = ["best >= 0.98 of-copy", *(f"best >= 1.5x {name}" for name in kernel.baselines[:1])]
    return f"write {' or '.join(f'`{one} @ {place}`' for one in examples)}"


def _sweep(node: Node, diagnostics: Diagnostics) -> Sweep:
    return read_as(Sweep, node, diagnostics, given={"span": (node.get("name") or node).span}, noun="key of a sweep")


def _implementation(node: Node, folder: str, diagnostics: Diagnostics, *also: str) -> Implementation:
    given = {"language": _language(node), "span": (node.get("name") or node).span, "source": "", "line": 0}
    predicts = node.get("predicts")
    given["predicted_of_ceiling"] = predicted_share(predicts.text if predicts else "")
    made = read_as(Implementation, node, diagnostics, given=given, also=also)
    return replace(made, file=posixpath.normpath(f"{folder}/{made.file}") if made.file else "")


def _baselines(node: Node, diagnostics: Diagnostics) -> tuple[str, ...]:
    """Return the names of the baselines; one with a file is written like an implementation."""
    named = [_baseline_name(child) for child in items_of(node, diagnostics)]
    names: tuple[str, ...] = read_value(tuple[str, ...], Node(tuple(named), node.span), diagnostics)
    return names


def _baseline_name(node: Node) -> Node:
    """Return the node of a baseline's name; empty where it is missing, which `_baseline_files` reports."""
    return node.get("name") or Node("", node.span) if isinstance(node.value, Mapping) else node


def _baseline_files(node: Node | None, folder: str, diagnostics: Diagnostics) -> tuple[Implementation, ...]:
    entries = node.get("baselines") if node else None
    children = entries.value if entries and isinstance(entries.value, tuple) else ()
    return tuple(_implementation(one, folder, diagnostics) for one in children if isinstance(one.value, Mapping))


def _wrong(node: Node, folder: str, diagnostics: Diagnostics) -> Wrong:
    """Return a variant; its own keys are those of `Wrong` beside those of an implementation."""
    made = _implementation(node, folder, diagnostics, "fails", "mistake", "gate", "at")
    entries = node.value if isinstance(node.value, Mapping) else {}
    own = Node({key: child for key, child in entries.items() if key in ("mistake", "gate", "at")}, node.span)
    given = {"implementation": made, "fails": _failing_status(node, diagnostics)}
    return read_as(Wrong, own, diagnostics, given=given)


def _failing_status(node: Node, diagnostics: Diagnostics) -> Status:
    fails = node.get("fails")
    if fails is None or fails.value is None:
        diagnostics.append(missing_key("fails", "key", fails or node))
        return Status.INCORRECT
    statuses = one_of(_FAILURES, "failing status")(Node((fails,), fails.span), diagnostics)
    return Status(statuses[0]) if statuses else Status.INCORRECT


def _language(node: Node) -> Language:
    file = node.get("file")
    if file is None or not file.text.endswith(".cu"):
        return Language.TRITON
    return Language.CUDA_HOST if node.get("host") else Language.CUDA
