"""kernels/<kernel>/kernel.yaml → Kernel.  What its names and numbers must agree on is checked in `kernel_checks`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.dtypes import DTYPES
from sitegen.model.kernel import Goal, Implementation, Kernel, Language, Scalar, Status, Tensor, Workload, Wrong
from sitegen.read.kernel_checks import check_kernel
from sitegen.read.shape import Convert, Found, entries_of, items_of, missing, one_of, read_as, read_value, wrong
from sitegen.read.yaml_nodes import Node, parse_yaml

_GOAL = re.compile(
    r"(?P<subject>\S+) *>= *(?P<least>\d+(?:\.\d+)?) *(?P<unit>of-copy|of-read|of-ceiling|x +\S+)"
    r" *@ *(?P<workload>[^\s:]+):(?P<dtype>[^\s:]+)"
)
_GOAL_FORM = "write `best >= 0.98 of-copy @ 8192x8192:float32` or `best >= 1.5x torch @ 8192x8192:float32`"
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_FAILURES = tuple(status for status in Status if status.failed)


def parse_kernel(text: str, path: str, files: Mapping[str, str]) -> tuple[Kernel, tuple[Diagnostic, ...]]:
    """`files`: the site's texts by path, for the files that the YAML names."""
    node, syntax = parse_yaml(text, path)
    found = list(syntax)
    folder = path.rpartition("/")[0]
    convert: dict[str, Convert] = {
        "inputs": _tensors,
        "outputs": _tensors,
        "params": _params,
        "dtypes": one_of(DTYPES, "dtype"),
        "workloads": _workloads,
        "goals": _goals,
        "implementations": lambda child, found: tuple(
            _implementation(n, folder, found) for n in items_of(child, found)
        ),
        "wrong": lambda child, found: tuple(_wrong(n, folder, found) for n in items_of(child, found)),
    }
    given = {"span": ((node and node.get("kernel")) or node or Node(None, Span(path))).span}
    kernel = read_as(Kernel, node, found, given=given, noun="kernel.yaml key", keys={"name": "kernel"}, convert=convert)
    kernel = replace(kernel, name=folder.rpartition("/")[2], workloads=_named(kernel.workloads, kernel.dims))
    if node is not None:
        found += check_kernel(kernel, node, files)
    return kernel, tuple(found)


def predicted_share(predicts: str) -> float | None:
    """The last percentage of a prediction, as a share: "three reads and a write: 50 %" is 0.5."""
    percentages = _PERCENT.findall(predicts)
    return float(percentages[-1]) / 100 if percentages else None


def parse_goal(text: str) -> Goal | None:
    """`<implementation or best> >= <number> <of-copy|of-read|of-ceiling|x baseline> @ <workload>:<dtype>`"""
    match = _GOAL.fullmatch(text.strip())
    if not match:
        return None
    unit = " ".join(match["unit"].split())
    return Goal(text, match["subject"], float(match["least"]), unit, match["workload"], match["dtype"])


def _tensors(node: Node, found: Found) -> tuple[Tensor, ...]:
    entries = entries_of(node, found)
    return tuple(read_as(Tensor, child, found, given={"name": name}) for name, child in entries.items())


def _params(node: Node, found: Found) -> Mapping[str, tuple[Scalar, ...]]:
    return {name: _param(child, found) for name, child in entries_of(node, found).items()}


def _param(node: Node, found: Found) -> tuple[Scalar, ...]:
    nodes = node.value if isinstance(node.value, tuple) else (node,)
    values = tuple(n.value for n in nodes if isinstance(n.value, bool | int | float | str))
    if len(values) < len(nodes) or not values:
        wrong(node, "a number, a word, or a list of them", found)
    return values


def _workloads(node: Node, found: Found) -> tuple[Workload, ...]:
    """Without the author's name for it a workload is named by its dims, whose order `_named` knows."""
    return tuple(_workload(child, found) for child in items_of(node, found))


def _workload(node: Node, found: Found) -> Workload:
    entries = entries_of(node, found)
    name = entries.get("name")
    dims: Any = read_value(Mapping[str, int], Node({k: v for k, v in entries.items() if k != "name"}, node.span), found)
    return Workload(name.text if name else "", dims)


def _named(workloads: tuple[Workload, ...], dims: tuple[str, ...]) -> tuple[Workload, ...]:
    return tuple(w if w.name else replace(w, name="x".join(str(w.dims.get(d, "?")) for d in dims)) for w in workloads)


def _goals(node: Node, found: Found) -> tuple[Goal, ...]:
    children = items_of(node, found)
    goals = [(child, parse_goal(child.text)) for child in children]
    found += [Diagnostic("SG033", "this is no goal", child.span, _GOAL_FORM) for child, goal in goals if goal is None]
    return tuple(goal for _, goal in goals if goal)


def _implementation(node: Node, folder: str, found: Found, *also: str) -> Implementation:
    given = {"language": _language(node), "span": (node.get("name") or node).span, "source": ""}
    predicts = node.get("predicts")
    given["predicted_of_ceiling"] = predicted_share(predicts.text if predicts else "")
    made = read_as(Implementation, node, found, given=given, also=also)
    return replace(made, file=posixpath.normpath(f"{folder}/{made.file}") if made.file else "")


def _wrong(node: Node, folder: str, found: Found) -> Wrong:
    implementation = _implementation(node, folder, found, "fails")
    fails = node.get("fails")
    if fails is None or fails.value is None:
        found.append(missing("fails", "key", fails or node))
        return Wrong(implementation, Status.INCORRECT)
    statuses = one_of(_FAILURES, "failing status")(Node((fails,), fails.span), found)
    return Wrong(implementation, Status(statuses[0]) if statuses else Status.INCORRECT)


def _language(node: Node) -> Language:
    file = node.get("file")
    if file is None or not file.text.endswith(".cu"):
        return Language.TRITON
    return Language.CUDA_HOST if node.get("host") else Language.CUDA
