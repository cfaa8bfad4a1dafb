"""Check every Triton implementation and wrong variant under the interpreter, as a child process of test_kernels.py.

Prints one JSON object, a verdict for each dtype and each value of the params: {"softmax/fused": ["passed", …], …}.
One process for all.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sitegen.measure.correctness import KernelSetup, check
from sitegen.measure.interpreter import teach
from sitegen.measure.protocol import EvaluationEnded
from sitegen.measure.runnable import BaselineRunnable, implementation_runnable, reference_of
from sitegen.model.formula import evaluate
from sitegen.model.kernel import Implementation, Kernel, Language, Scalar
from sitegen.read.load import load_site
from sitegen.results.records import param_combinations

ROOT = Path(__file__).parents[2]
LARGEST = 75_000
"""Most elements that a case reads and writes, because the interpreter runs one program at a time."""


def main() -> None:
    teach()
    site, _ = load_site(ROOT)
    found: dict[str, list[str]] = {}
    for kernel in site.kernels:
        for implementation in filter(in_triton, kernel.implementations):
            verdicts = [
                judged(kernel, implementation, dtype, params)
                for dtype in implementation.dtypes or kernel.dtypes
                for params in param_combinations(kernel)
            ]
            found[f"{kernel.name}/{implementation.name}"] = verdicts
        for wrong in kernel.wrong:
            if in_triton(wrong.implementation):
                name = f"{kernel.name}/wrong/{wrong.implementation.name}"
                dtype = (wrong.implementation.dtypes or kernel.dtypes)[0]
                found[name] = [judged(kernel, wrong.implementation, dtype, param_combinations(kernel)[0])]
    json.dump(found, sys.stdout)


def in_triton(implementation: Implementation) -> bool:
    return implementation.language is Language.TRITON


def judged(kernel: Kernel, implementation: Implementation, dtype: str, params: Mapping[str, Scalar]) -> str:
    setup = setup_of(kernel, dtype, params)
    shapes = [dims for dims in kernel.checks if elements(kernel, dims) <= LARGEST]
    runnable = implementation_runnable(ROOT, kernel, implementation, dtype, params)
    try:
        check(setup, runnable, shapes, implementation.deterministic)
    except EvaluationEnded as why:
        return f"{why.status}: {dtype}{dict(params) or ''}, {why.message}"
    return "passed"


def setup_of(kernel: Kernel, dtype: str, params: Mapping[str, Scalar]) -> KernelSetup:
    reference: Any = reference_of(ROOT, kernel)
    ours = reference.BASELINES[kernel.baselines[0]]
    baseline = BaselineRunnable(ours, params, [tensor.name for tensor in kernel.inputs])
    return KernelSetup(kernel, dtype, params, reference, baseline, "cpu")


def elements(kernel: Kernel, dims: Mapping[str, int]) -> float:
    names = {**dims, "itemsize": 1}
    return evaluate(kernel.reads, names) + evaluate(kernel.writes, names)


if __name__ == "__main__":
    main()
