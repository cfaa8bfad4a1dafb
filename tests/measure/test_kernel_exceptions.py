"""What Triton raises at common mistakes in a kernel, interpreted and compiled: the line, and what to write instead."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sitegen.measure.kernel_exceptions import ADVICE, advice_on, with_file_line

ROOT = Path(__file__).parents[2]
KERNEL = '''"""A kernel that does not begin on the first line."""

import triton
import triton.language as tl


@triton.jit
def double(x, z, N, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    inside = i < N
    total = 2 * tl.load(x + i, mask=inside)
    tl.store(z + i, total, mask=inside)
'''
LOAD, STORE = "tl.load(x + i, mask=inside)", "tl.store(z + i, total, mask=inside)"
MISTAKES = {
    (LOAD, "x[i]"): (11, "write `tl.load(x + i)`"),
    (LOAD, "x[0]"): (11, "write `tl.load(x + i)`"),
    (LOAD, "x[tl.program_id(0)]"): (11, "write `tl.load(x + i)`"),
    (STORE, "z[i] = total"): (12, "write `tl.store(x + i, value)`"),
    (STORE, f"if inside:\n        {STORE}"): (12, "`tl.where"),
    (LOAD, "sum(tl.load(x + i))"): (11, "write `tl.sum(x)`"),
    (LOAD, "max(tl.load(x + i))"): (11, "`tl.max(x)`"),
    ("i < N", "i < len(x)"): (10, "give the length to the kernel as an argument"),
    ("BLOCK: tl.constexpr", "BLOCK"): (9, "declare it as `BLOCK: tl.constexpr`"),
    ("tl.arange(0, BLOCK)", "tl.arange(0, N)"): (9, "write `tl.arange(0, BLOCK)`"),
    ("tl.arange(0, BLOCK)", "tl.arange(0, BLOCK - 1)"): (9, "`triton.next_power_of_2(n)`"),
    ("tl.arange(0, BLOCK)", "tl.arange(BLOCK)"): (9, "`tl.arange(0, BLOCK)`"),
    ("tl.arange(0, BLOCK)", "arange(0, BLOCK)"): (9, "write `tl.arange`"),
    ("tl.arange(0, BLOCK)", "tl.program_id() + tl.arange(0, BLOCK)"): (9, "`tl.program_id(0)`"),
    ("i < N", "i < x.numel()"): (10, "give the number of elements"),
    ("i < N", "N - i"): (12, "A mask is a comparison"),
    (LOAD, "x"): (11, "`tl.load(x + i)` reads the numbers there"),
    (LOAD, "(x + z)"): (11, "`tl.load(x + i)` reads the numbers there"),
    (LOAD, "tl.load(x, inside)"): (11, "write `x + i` in place of `x`"),
    (STORE, "tl.store(z, total, mask=inside)"): (12, "an address for each value"),
    (STORE, "tl.store(total, z + i, mask=inside)"): (12, "The first argument"),
}
"""What stands in a kernel, and what is written instead → the line, and words of the advice."""
RUN = """
import sys, torch, triton
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from sitegen.measure.faults import failure_of
from sitegen.measure.interpreter import teach
from sitegen.measure.kernel_exceptions import with_file_line

def interpret(kernel, named):
    z = torch.zeros(4)
    kernel[(1,)](torch.arange(4.0), z, 4, BLOCK=4)
    return z.tolist()

def compile(kernel, named):
    types = {"x": "*fp32", "z": "*fp32", "N": "i32", "BLOCK": "constexpr" if named else "i32"}
    triton.compile(ASTSource(kernel, types, {(3,): 4} if named else {}), target=GPUTarget("cuda", 90, 32))
    return "compiled"

teach()
for file in map(Path, sys.argv[2:]):
    spec = spec_from_file_location(file.stem, file)
    module, text = module_from_spec(spec), file.read_text()
    spec.loader.exec_module(module)
    try:
        print(globals()[sys.argv[1]](module.double, "BLOCK: tl.constexpr" in text))
    except Exception as error:
        print(with_file_line(failure_of(error, file.parent).message, error, text, file.name))
"""


def said(folder: Path, how: str, *kernels: str) -> list[str]:
    """Return what comes of each kernel, in a process that interprets or compiles them: the result, or a message."""
    files = [folder / f"kernel_{number}.py" for number in range(len(kernels))]
    for file, text in zip(files, kernels, strict=True):
        file.write_text(text)
    setting = {"TRITON_INTERPRET": str(int(how == "interpret")), "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
    environment = {**os.environ, **setting, "TRITON_CACHE_DIR": str(folder / "cache")}
    words = [sys.executable, "-c", RUN, how, *map(str, files)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.torch
@pytest.mark.parametrize("how", ["interpret", "compile"])
def test_the_line_of_the_file_and_what_to_write_are_named(tmp_path: Path, how: str) -> None:
    pytest.importorskip("triton")
    lines = said(tmp_path, how, *(KERNEL.replace(*mistake) for mistake in MISTAKES))
    for number, (line, (place, advice)) in enumerate(zip(lines, MISTAKES.values(), strict=True)):
        assert line.endswith(f", at kernel_{number}.py:{place}"), line
        assert advice in f"{line} {advice_on(line)}", line


@pytest.mark.torch
def test_min_and_max_of_a_block_and_a_number_are_what_the_compiler_makes_of_them(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    kernels = [KERNEL.replace(LOAD, f"{name}({LOAD}, 1.5, N - 2)") for name in ("max", "min")]
    assert said(tmp_path, "interpret", *kernels) == ["[4.0, 4.0, 4.0, 6.0]", "[0.0, 2.0, 3.0, 3.0]"]
    assert said(tmp_path, "compile", *kernels) == ["compiled", "compiled"]
    own = KERNEL.replace(LOAD, f"max({LOAD}, 1.5)") + "\n\n@triton.jit\ndef max(x, y):\n    return tl.minimum(x, y)\n"
    assert said(tmp_path, "interpret", own) == ["[0.0, 2.0, 3.0, 3.0]"]


def test_an_exception_of_another_kind_keeps_its_message_and_has_no_advice() -> None:
    message = "NameError: name 'M' is not defined, at kernel.py:11"
    assert with_file_line(message, NameError("M"), KERNEL, "kernel.py") == message
    assert advice_on(message) == ""


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        ("NameError: name 'np' is not defined, at kernel.py:14", ""),  # in the function that starts the kernel
        ("CompilationError: NameError('np is not defined'), at kernel.py:9", "`tl.arange(0, BLOCK)`"),
        ("AttributeError: 'numpy.ndarray' object has no attribute 'type'", "`tl.arange(0, BLOCK)`"),
        ("TypeError: cannot convert range(0, 4) of type <class 'range'> to tensor", "`tl.arange(0, BLOCK)`"),
        ("NameError: name 'overload' is not defined", ""),
        ("NameError: name 'load' is not defined", "`tl.load`"),
        ("TypeError: object of type 'int' has no len()", "`kernel[(count,)](…)`"),
        ("AttributeError: 'InterpreterBuilder' object has no attribute 'grid_idx'", "`kernel[(count,)](…)`"),
        ("RuntimeError: Cannot call @triton.jit'd outside of the scope of a kernel", "`kernel[(count,)](…)`"),
        ("RuntimeError: Failed to find C compiler. Please specify via CC environment variable", "gcc python3-dev"),
        ("TypeError: 'function' object is not subscriptable", "`@triton.jit`"),
    ],
)
def test_what_python_says_without_the_name_of_the_mistake_gets_advice(message: str, advice: str) -> None:
    found = advice_on(message)
    assert advice in found and bool(found) == bool(advice)


def test_each_advice_is_a_sentence_without_its_end() -> None:
    assert [one for one in ADVICE.values() if one.endswith(".")] == []
