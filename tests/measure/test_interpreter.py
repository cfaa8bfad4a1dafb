"""Triton's interpreter after `teach`: bfloat16 is computed as on a GPU, and unsupported code gets a message."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch
ROOT = Path(__file__).parents[2]
BEFORE = """
from sitegen.measure.interpreter import limit_in, misjudges_bfloat16, teach
teach()
import torch, triton, triton.language as tl
import triton.language.extra.cuda as device
from triton.language.extra.cuda import libdevice

x, w = (torch.tensor(v).bfloat16() for v in ([1.5, -2.25, -0.5, 3.0], [-1.0, -3.0, 2.0, 0.25]))

@triton.jit
def both(a, b):
    return a + b + a * b

@triton.jit
def added(a, b):
    return a + b

@triton.jit
def larger(a, i, b, j):
    return tl.where(a > b, a, b), tl.where(a > b, i, j)
"""
KERNEL = """
@triton.jit
def kernel_{number}(x, w, z, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a, b = tl.load(x + at), tl.load(w + at)
    {body}

z = torch.empty_like(x)
try:
    kernel_{number}[(1,)](x, w, z, BLOCK=4)
    print(z.tolist())
except Exception as error:
    print(limit_in(error))
"""
RIGHT = {
    "tl.store(z + at, a * 2.0 - 1.0)": [2.0, -5.5, -2.0, 5.0],
    "tl.store(z + at, a / b)": [-1.5, 0.75, -0.25, 12.0],
    "tl.store(z + at, -a)": [-1.5, 2.25, 0.5, -3.0],
    "tl.store(z + at, tl.where(a > b, a, b))": [1.5, -2.25, 2.0, 3.0],
    "tl.store(z + at, tl.fma(a, b, a))": [0.0, 4.5, -1.5, 3.75],
    "tl.store(z + at, tl.max(-a * a, 0))": [-0.25] * 4,
    "tl.store(z + at, tl.reduce(a, 0, both))": [-7.25] * 4,
    "tl.store(z + at, tl.sum(a, axis=0))": [1.75] * 4,
    "tl.store(z + at, a - tl.sum(a) / 4)": [1.0625, -2.6875, -0.9375, 2.5625],
    "tl.store(z + at, tl.sum(a, axis=0, keep_dims=True) + b)": [0.75, -1.25, 3.75, 2.0],
    "tl.store(z + at, tl.sum(tl.reshape(a, (2, 2)), axis=1).to(tl.float32).sum())": [1.75] * 4,
    "tl.store(z + at, tl.cumsum(a, 0))": [1.5, -0.75, -1.25, 1.75],
    "tl.store(z + at, tl.associative_scan(a, 0, tl.standard._sum_combine, reverse=True))": [1.75, 0.25, 2.5, 3.0],
    "tl.store(z + at, tl.cumprod(a, 0))": [1.5, -3.375, 1.6875, 5.0625],
    "tl.store(z + at, tl.argmin(a, 0).to(tl.bfloat16))": [1.0] * 4,
    "tl.store(z + at, tl.sum(tl.full((4096,), 1.0, tl.bfloat16)))": [4096.0] * 4,
    "tl.store(z + at, tl.reduce(tl.full((4096,), 1.0, tl.bfloat16), 0, added))": [4096.0] * 4,
    "tl.store(z + at, tl.reduce(tl.full((2, 512), 1.0, tl.bfloat16), None, added))": [1024.0] * 4,
    "tl.store(z + at, tl.reduce(tl.full((2, 512), 1.0, tl.float32), -1, added).sum())": [1024.0] * 4,
    "tl.store(z + at, tl.reduce(tl.full((2, 512), 1.0, tl.bfloat16), -1, added).sum())": [1024.0] * 4,
    "tl.store(z + at, tl.reduce((a, at), 0, larger)[1].to(tl.bfloat16))": [3.0] * 4,
    "tl.store(z + at, at.to(tl.bfloat16) * a)": [0.0, -2.25, -1.0, 9.0],
    "tl.store(z + at, tl.full((BLOCK,), 1.5, tl.bfloat16) + a)": [3.0, -0.75, 1.0, 4.5],
    "tl.store(z + at, tl.sort(a))": [-2.25, -0.5, 1.5, 3.0],
    "tl.store(z + at, a + 0.00390625)": [1.5, -2.25, -0.49609375, 3.0],
}
CANNOT = {
    "tl.store(z + at, tl.associative_scan(a, 0, both))": "scans bfloat16 by Triton's own functions alone",
    "tl.atomic_add(z + at, a)": "has no atomic operations of bfloat16",
    "tl.store(z + at, libdevice.rsqrt(a.to(tl.float32)))": "has no `libdevice.rsqrt`",
    "tl.store(z + at, device.smid())": "has no `cuda.smid`",
    'tl.store(z + at, tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [at], tl.int32, True, 1))': (
        "does not run inline assembly"
    ),
}


def said(folder: Path, program: str) -> list[str]:
    """Return the output of a program.

    A kernel must be in a file, and the interpreter must be chosen before Triton is imported.
    """
    file = folder / "program.py"
    file.write_text(program)
    environment = os.environ | {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_bfloat16_is_computed_as_on_a_gpu_and_what_cannot_be_run_is_said(tmp_path: Path) -> None:
    bodies = [*RIGHT, *CANNOT]
    program = BEFORE + "".join(KERNEL.format(number=n, body=body) for n, body in enumerate(bodies))
    found = dict(zip(bodies, said(tmp_path, program), strict=True))
    assert {body: found[body] for body in RIGHT} == {body: str(values) for body, values in RIGHT.items()}
    limit = "cannot be judged without a GPU: Triton's interpreter"
    assert {body: found[body] for body in CANNOT} == {body: f"{limit} {what}; {END}" for body, what in CANNOT.items()}


@pytest.mark.parametrize(("taught", "misjudges"), [("teach()", "False"), ("", "True")])
def test_an_interpreter_that_computes_bfloat16_wrongly_is_recognized(
    tmp_path: Path, taught: str, misjudges: str
) -> None:
    program = (
        f"from sitegen.measure.interpreter import misjudges_bfloat16, teach\n{taught}\nprint(misjudges_bfloat16())"
    )
    assert said(tmp_path, program) == [misjudges]


LOOP = """
import warnings
warnings.simplefilter("error")  # NumPy 2.3 warns of what NumPy 2.4 refuses

@triton.jit
def add_up(x, z, count):
    total = tl.load(x)
    for at in range(tl.program_id(0) + 1, tl.load(count)):
        total += tl.load(x + at)
    tl.store(z, total)

z = torch.empty(1)
add_up[(1,)](x.float(), z, torch.tensor([3]))
print(z.item())
"""


def test_bounds_of_a_loop_may_be_scalars_of_the_kernel_with_any_numpy(tmp_path: Path) -> None:
    assert said(tmp_path, BEFORE + LOOP) == ["-1.25"]


WORK = """
import inspect
from triton.runtime.interpreter import InterpreterBuilder

done, search, multiply = [], inspect.getmembers, InterpreterBuilder.create_mul
inspect.getmembers = lambda *args: done.append("search") or search(*args)
InterpreterBuilder.create_mul = lambda *args: done.append("product") or multiply(*args)

@triton.jit
def square(z, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(z + at, tl.sum(at * at, axis=0))

z = torch.empty(4, dtype=torch.int32)
for _ in range(2):
    done.clear()
    square[(1,)](z, BLOCK=4)
print(z.tolist(), done)
"""


def test_integers_are_multiplied_once_and_the_language_is_searched_at_the_first_launch_only(tmp_path: Path) -> None:
    assert said(tmp_path, BEFORE + WORK) == ["[14, 14, 14, 14] ['product']"]


END = "this is no mistake, and a GPU judges it"
TRUTH = """
@triton.jit
def first_of(x, z, count, BLOCK: tl.constexpr, SCALAR: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if SCALAR:
        if tl.program_id(0) < count and tl.load(x) > 0:
            tl.store(z + at, 1.0)
    elif at < count & at >= 0:
        tl.store(z + at, 2.0)

for scalar in (True, False):
    z = torch.zeros(4)
    try:
        first_of[(2,)](x.float(), z, 1, BLOCK=4, SCALAR=scalar)
    except Exception as error:
        print(error.__cause__ or error)
    print(z.tolist())
"""


def test_an_if_takes_one_value_and_a_block_of_several_is_refused_as_by_the_compiler(tmp_path: Path) -> None:
    from sitegen.measure.interpreter import several_values

    one, refused, unwritten = said(tmp_path, BEFORE + TRUTH)
    assert one == "[1.0, 1.0, 1.0, 1.0]"
    assert refused.startswith("`at < count & at >= 0` is several comparisons in a row, because `&`")
    assert refused.endswith("write `(at < count) & (at >= 0)`")
    assert several_values("at < count").startswith("`if`, `and`, `or` and `not` take one value, and this block has")
    assert unwritten == "[0.0, 0.0, 0.0, 0.0]"
