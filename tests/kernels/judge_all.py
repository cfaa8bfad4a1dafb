"""Child of test_kernels.py: every Triton implementation and wrong variant through the gates, under the interpreter.

Prints one JSON object, a verdict for each dtype: {"softmax/fused": ["passed", "passed"], …}.  One process for all,
"""

import json
import sys
from pathlib import Path
from typing import Any

from sitegen.measure.call import BaselineSubject, implementation_subject, reference_of
from sitegen.measure.correctness import Bench, check
from sitegen.measure.protocol import Ended
from sitegen.model.kernel import Implementation, Kernel, Language
from sitegen.read import load_site

ROOT = Path(__file__).parents[2]
LARGEST = 30_000
"""Elements: the interpreter runs one program at a time."""


def main() -> None:
    site, _ = load_site(ROOT)
    found: dict[str, list[str]] = {}
    for kernel in site.kernels:
        for implementation in filter(in_triton, kernel.implementations):
            verdicts = [judged(kernel, implementation, dtype) for dtype in kernel.dtypes]
            found[f"{kernel.name}/{implementation.name}"] = verdicts
        for wrong in kernel.wrong:
            if in_triton(wrong.implementation):
                name = f"{kernel.name}/wrong/{wrong.implementation.name}"
                found[name] = [judged(kernel, wrong.implementation, kernel.dtypes[0])]
    json.dump(found, sys.stdout)


def in_triton(implementation: Implementation) -> bool:
    return implementation.language is Language.TRITON


def judged(kernel: Kernel, implementation: Implementation, dtype: str) -> str:
    bench = bench_of(kernel, dtype)
    shapes = [dims for dims in kernel.checks if elements(dims) <= LARGEST]
    subject = implementation_subject(ROOT, kernel, implementation, dtype, {})
    try:
        check(bench, subject, shapes, implementation.deterministic)
    except Ended as why:
        return f"{why.status}: {dtype}, {why.message}"
    return "passed"


def bench_of(kernel: Kernel, dtype: str) -> Bench:
    reference: Any = reference_of(ROOT, kernel)
    baseline = BaselineSubject(reference.BASELINES["torch"], {}, [tensor.name for tensor in kernel.inputs])
    return Bench(kernel, dtype, {}, reference, baseline, "cpu")


def elements(dims: Any) -> int:
    count = 1
    for length in dims.values():
        count *= length
    return count


if __name__ == "__main__":
    main()
