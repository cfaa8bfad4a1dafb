"""Check every Triton implementation and wrong variant by the gates, under the interpreter; test_kernels.py runs it.

Prints one JSON object: the verdicts of an implementation, one for each dtype and each value of the params, as in
{"softmax/fused": ["passed", …], …}.  A wrong variant has two verdicts: of all gates at all shapes, and of its own gate
alone at its own shape.

The argument says at which shapes the implementations are judged: `two` or `all`.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sitegen.measure.correctness import KernelSetup, check
from sitegen.measure.interpreter import teach
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.runnable import BaselineRunnable, Runnable, implementation_runnable, reference_of
from sitegen.model.formula import evaluate
from sitegen.model.kernel import Implementation, Kernel, Language, Scalar
from sitegen.read.load import load_site
from sitegen.results.records import param_combinations

ROOT = Path(__file__).parents[2]
LARGEST = 110_000
"""Most elements that a case reads and writes, because the interpreter runs one program at a time."""
VECTOR = 8
"""A row whose length is no multiple of this many elements ends within a vector, and within every larger block."""


def main(shapes_of: Callable[[Kernel], list[Mapping[str, int]]]) -> None:
    teach()
    site, _ = load_site(ROOT)
    found: dict[str, list[str]] = {}
    for kernel in site.kernels:
        for implementation in filter(in_triton, kernel.implementations):
            verdicts = [
                judged(kernel, implementation, dtype, params, shapes_of(kernel))
                for dtype in implementation.dtypes or kernel.dtypes
                for params in param_combinations(kernel)
            ]
            found[f"{kernel.name}/{implementation.name}"] = verdicts
        for wrong in kernel.wrong:
            if in_triton(wrong.implementation):
                name = f"{kernel.name}/wrong/{wrong.implementation.name}"
                dtype = (wrong.implementation.dtypes or kernel.dtypes)[0]
                setup = setup_of(kernel, dtype, param_combinations(kernel)[0])
                alone = replace(setup, gates=frozenset({wrong.gate} if wrong.gate else ()))
                runnable = implementation_runnable(ROOT, kernel, wrong.implementation, dtype, setup.params)
                declared = wrong.implementation.deterministic
                small = verdict(setup, runnable, small_shapes(kernel), declared)
                found[name] = [small, verdict(alone, runnable, [wrong.at], declared)]
    json.dump(found, sys.stdout)


def in_triton(implementation: Implementation) -> bool:
    return implementation.language is Language.TRITON


def judged(
    kernel: Kernel,
    implementation: Implementation,
    dtype: str,
    params: Mapping[str, Scalar],
    shapes: Sequence[Mapping[str, int]],
) -> str:
    setup = setup_of(kernel, dtype, params)
    runnable = implementation_runnable(ROOT, kernel, implementation, dtype, params)
    return verdict(setup, runnable, shapes, implementation.deterministic)


def small_shapes(kernel: Kernel) -> list[Mapping[str, int]]:
    """Return the shapes of the checks that the interpreter can run, the smallest first."""
    small = [dims for dims in kernel.checks if elements(kernel, dims) <= LARGEST]
    return sorted(small, key=lambda dims: elements(kernel, dims))


def two_shapes(kernel: Kernel) -> list[Mapping[str, int]]:
    """Return the smallest of the small shapes, and the largest of those with ragged rows."""
    small = small_shapes(kernel)
    ragged = [dims for dims in small[1:] if dims[kernel.dims[-1]] % VECTOR]
    return [*small[:1], *ragged[-1:]]


def verdict(setup: KernelSetup, runnable: Runnable, shapes: Sequence[Mapping[str, int]], declared: bool) -> str:
    """Return `passed`, or the status and message of the gate that fails first."""
    try:
        check(setup, runnable, shapes, declared)
    except EvaluationEnded as why:
        return f"{why.status}: {setup.dtype}{dict(setup.params) or ''}, {why.message}"
    return "passed"


def setup_of(kernel: Kernel, dtype: str, params: Mapping[str, Scalar], device: str = "cpu") -> KernelSetup:
    reference: Any = reference_of(ROOT, kernel)
    ours = reference.BASELINES[kernel.baselines[0]]
    baseline = BaselineRunnable(ours, params, [tensor.name for tensor in kernel.inputs])
    return KernelSetup(kernel, dtype, params, reference, baseline, device)


def elements(kernel: Kernel, dims: Mapping[str, int]) -> float:
    names = {**dims, "itemsize": 1}
    return evaluate(kernel.reads, names) + evaluate(kernel.writes, names)


if __name__ == "__main__":
    main({"two": two_shapes, "all": small_shapes}[sys.argv[1]])
