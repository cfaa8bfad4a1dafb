"""A block of more threads than CUDA allows is found in kernel.yaml, and no other block is."""

from __future__ import annotations

import pytest

from sitegen.diagnostics import Diagnostic
from sitegen.read.kernel import parse_kernel

PATH = "kernels/scale/kernel.yaml"
FILES = {
    "kernels/scale/reference.py": "BASELINES = {}\n",
    "kernels/scale/plain.cu": 'extern "C" __global__ void scale_plain(const DTYPE* x) {}\n',
}


def found(block: str, constants: str = "", more: str = "", sweep: str = "", **changes: str) -> tuple[Diagnostic, ...]:
    """Return the mistakes in a kernel whose only launch has this block and these constants."""
    keys = {
        "workloads": "[{N: 512}, {name: large, N: 4096}]",
        "checks": "[{N: 1}]",
        "list": "implementations",
    } | changes
    text = f"""\
kernel: scale
summary: The input times two.
dims: [N]
inputs: {{x: {{shape: [N]}}}}
outputs: {{y: {{shape: [N]}}}}
dtypes: [float32, bfloat16]
flops: N
reads: N * itemsize
writes: N * itemsize
tolerance: {{float32: 1e-6, bfloat16: 8e-3}}
checks: {keys["checks"]}
workloads: {keys["workloads"]}
baselines: []
sweeps: [{sweep}]
{keys["list"]}:
  - name: plain
    file: plain.cu
    {more}
    launch:
      {{entry: scale_plain, grid: [1], args: [x, y, N], constants: {{{constants}}},
       block: {block}}}
"""
    return parse_kernel(text + ("" if "list" not in changes else "implementations: []\n"), PATH, FILES)[1]


@pytest.mark.parametrize(
    ("block", "constants", "more"),
    [
        ("[1024]", "", ""),
        ("[32, 32]", "", ""),
        ('["min(N, 1024)"]', "", ""),
        ("[THREADS, 2]", 'THREADS: "min(N, 512)"', ""),
        ("[THREADS]", 'THREADS: "4096 // itemsize"', "dtypes: [float32]"),
    ],
    ids=["the most", "the most in two axes", "never more", "no more at any size", "no more in its only dtype"],
)
def test_a_block_that_cuda_allows_is_right(block: str, constants: str, more: str) -> None:
    assert found(block, constants, more) == ()


def test_a_wrong_variant_may_have_a_block_that_is_too_large() -> None:
    said = found("[2048]", more="fails: runtime_error", list="wrong")
    assert [one for one in said if "threads" in one.message] == []


@pytest.mark.parametrize(
    ("block", "changes"),
    [("[N]", {"workloads": "[{M: 4096}]"}), ("[THREADS]", {}), ("[-2048, -1]", {}), ("N", {})],
    ids=["no size of the dim", "unknown constant", "less than 1", "no list"],
)
def test_what_is_another_mistake_is_not_named_twice(block: str, changes: dict[str, str]) -> None:
    said = found(block, **changes)
    assert said and [one for one in said if "threads" in one.message] == []


@pytest.mark.parametrize(
    ("block", "constants", "message", "hint"),
    [
        ("[1025]", "", "1,025", "choose fewer threads"),
        ("[32, 1, 64]", "", "32 × 64 = 2,048", "choose fewer threads"),
        ("[THREADS]", "THREADS: 2048", "2,048", "with THREADS = 2048: choose fewer threads"),
        ("[32 * W]", "W: 'cdiv(N, 64)', B: N", "2,048", "with N = 4096, W = 64: choose fewer threads"),
        ("[4096 // itemsize]", "", "2,048", "with itemsize = 2: choose fewer threads"),
    ],
)
def test_a_block_that_is_too_large_is_named_with_its_product(
    block: str, constants: str, message: str, hint: str
) -> None:
    [mistake] = found(block, constants)
    assert (mistake.code, mistake.span.line, mistake.span.col) == ("SG034", 21, 15)
    assert mistake.message == f"a block of {message} threads is more than the 1,024 that CUDA allows"
    assert mistake.hint == hint


SWEEP = "{name: size, title: Threads, implementation: plain, workload: large, dtype: float32, constants: {THREADS: %s}}"


def test_a_sweep_up_to_the_most_threads_is_right() -> None:
    assert found("[THREADS]", "THREADS: 256", sweep=SWEEP % "[256, 512, 1024]") == ()


def test_a_sweep_beyond_the_most_threads_is_marked_once() -> None:
    [mistake] = found("[THREADS]", "THREADS: 256", sweep=SWEEP % "[512, 2048, 4096]")
    assert (mistake.code, mistake.span.line) == ("SG038", 14)
    assert mistake.message.endswith("2,048 threads is more than the 1,024 that CUDA allows, at THREADS=2048")
    assert mistake.hint == "leave out this value"
