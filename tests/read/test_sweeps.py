"""The sweeps of kernels/<kernel>/kernel.yaml become Sweeps, and their mistakes are shown at their places."""

import pytest

from sitegen.diagnostics import Diagnostic
from sitegen.model.kernel import Kernel, Sweep
from sitegen.model.sweep_points import MAX_POINTS
from sitegen.read.kernel import parse_kernel

FILES = {
    "kernels/scale/reference.py": "",
    "kernels/scale/tile.py": "def scale(x, *, out=None): ...\n",
    "kernels/scale/plain.cu": 'extern "C" __global__ void scale_plain(const DTYPE* x) {}\n',
}
KERNEL = """kernel: scale
summary: Twice the input.
dims: [M, N]
inputs: {x: {shape: [M, N]}}
outputs: {y: {shape: [M, N]}}
dtypes: [float32, bfloat16]
flops: M * N
reads: M * N * itemsize
writes: M * N * itemsize
tolerance: {float32: 1e-6, bfloat16: 8e-3}
checks: [{M: 1, N: 1}]
workloads: [{M: 4096, N: 1024}]
baselines: [torch]
implementations:
  - {name: tile, file: tile.py, dtypes: [float32]}
  - {name: plain, file: plain.cu, launch: {entry: scale_plain, grid: [M], block: [THREADS], args: [x, y],
     constants: {THREADS: 256, UNROLL: 2}}}
sweeps:
"""


def read(*sweeps: str) -> tuple[Kernel, tuple[Diagnostic, ...]]:
    text = KERNEL + "".join(f"  - {{{sweep}}}\n" for sweep in sweeps)
    return parse_kernel(text, "kernels/scale/kernel.yaml", FILES)


def sweep(
    values: str, name: str = "s", implementation: str = "plain", workload: str = "4096x1024", dtype: str = "float32"
) -> str:
    subject = f"implementation: {implementation}, workload: {workload}, dtype: {dtype}"
    return f"name: {name}, title: A title, {subject}, {values}"


def test_a_sweep_is_read_with_its_values() -> None:
    kernel, found = read(sweep("constants: {THREADS: [128, 256], UNROLL: [1, 2]}, dims: {N: [512]}"))
    assert found == ()
    [made] = kernel.sweeps
    assert made == Sweep(
        *("s", "A title", "plain", "4096x1024", "float32"),
        constants={"THREADS": (128, 256), "UNROLL": (1, 2)},
        dims={"N": (512,)},
        span=made.span,
    )


def test_dims_that_are_equal_at_every_point_are_written_together() -> None:
    kernel, found = read(sweep("dims: {M=N: [512, 1024]}"))
    assert found == () and kernel.sweeps[0].dims == {"M=N": (512, 1024)}


@pytest.mark.parametrize(
    ("written", "message", "hint"),
    [
        (sweep("dims: {N: [1]}", implementation="plian"), "unknown implementation `plian`", "did you mean `plain`?"),
        (sweep("dims: {N: [1]}", workload="4096x1042"), "unknown workload `4096x1042`", "did you mean `4096x1024`?"),
        (sweep("dims: {N: [1]}", dtype="float16"), "unknown dtype `float16`", "did you mean `bfloat16`?"),
        (
            sweep("constants: {THREE: [1], UNROLL: [1, 2]}"),
            "unknown constant `THREE`",
            "write one of the launch: `THREADS`",
        ),
        (
            sweep("constants: {BLOCK_SIZE: [128]}"),
            "unknown constant `BLOCK_SIZE`",
            "write one of the launch: `THREADS`, `UNROLL`",
        ),
        (sweep("constants: {THREAD: [1]}"), "unknown constant `THREAD`", "did you mean `THREADS`?"),
        (sweep("dims: {K: [1]}"), "unknown dim `K`", "known: M, N"),
        (sweep("dims: {M=K: [1]}"), "unknown dim `K`", "known: M, N"),
        (sweep("dims: {M=N: [1], N: [2]}"), "the dim `N` is swept twice", "name each dim once"),
        (sweep("dims: {N: [8, 16, 8]}"), "the value 8 occurs twice", "remove one of the two"),
        (sweep("dims: {N: [0]}"), "the value 0 is less than 1", ""),
        (sweep("dims: {N: []}"), "no values", "write `[1, 2, 4]`"),
        (sweep("dims: {}"), "the sweep `s` has no values", "write `constants` or `dims`"),
        (
            sweep("constants: {THREADS: [1]}", implementation="tile"),
            "`tile` has no constants in its launch",
            "only constants of a launch can be swept",
        ),
        (sweep("dims: {N: [1]}", implementation="tile", dtype="bfloat16"), "`tile` does not take bfloat16", ""),
    ],
)
def test_a_mistake_is_shown_on_its_line_with_a_hint(written: str, message: str, hint: str) -> None:
    _, found = read(sweep("dims: {N: [2]}", name="first"), written)
    assert [(d.code, d.message, d.hint) for d in found] == [("SG038", message, hint)]
    assert found[0].span.line == KERNEL.count("\n") + 2


def test_a_name_of_a_sweep_is_taken_once() -> None:
    _, found = read(sweep("dims: {N: [2]}"), sweep("dims: {N: [4]}"))
    assert [(d.code, d.message) for d in found] == [("SG023", "`s` is named twice")]


@pytest.mark.parametrize("points", [MAX_POINTS, MAX_POINTS + 1])
def test_the_number_of_points_is_bounded(points: int) -> None:
    _, found = read(sweep(f"dims: {{N: {list(range(1, points + 1))}}}"))
    assert [d.code for d in found] == (["SG038"] if points > MAX_POINTS else [])


def test_the_combinations_of_two_lists_are_counted() -> None:
    values = list(range(1, 10))
    _, found = read(sweep(f"dims: {{M: {values}, N: {values}}}"))
    assert [d.message for d in found] == [f"the sweep has {len(values) ** 2} points"]
