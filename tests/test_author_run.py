"""Messages of `sitegen run` to an author without a GPU: cells and kernels fail, pass, or cannot be judged.

Each site is run once, by the command that an author types, in a process of its own.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sitegen.write.scaffold import create, new_site_files

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.torch
Run = Callable[..., str]

LAUNCHER = """
def axpy(x, y, *, alpha, out=None):
    out = torch.empty_like(x) if out is None else out
    {name}[(triton.cdiv(x.numel(), 64),)](x, y, out, alpha, x.numel(), BLOCK=64)
    return out
"""
KERNEL = """
@triton.jit
def {name}(x, y, z, alpha, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    {body}
"""
LOADS = "tl.load(x + at, mask=inside)", "tl.load(y + at, mask=inside)"
BODIES = {
    "in_bfloat16": f"tl.store(z + at, alpha * {LOADS[0]} + (0.0 + {LOADS[1]}), mask=inside)",
    "scalar_to": f"tl.store(z + at, alpha.to(tl.float32) * {LOADS[0]} + {LOADS[1]}, mask=inside)",
    "no_minus": f"tl.store(z + at, alpha * {LOADS[0]} - {LOADS[1]}, mask=inside)",
    "of_the_library": f"tl.store(z + at, libdevice.rsqrt({LOADS[0]}), mask=inside)",
    "past_the_end": f"tl.store(z + at, alpha * {LOADS[0]} + {LOADS[1]}, mask=at <= N)",
    "reads_past": f"tl.store(z + at, alpha * tl.load(x + at) + {LOADS[1]}, mask=inside)",
    "ignores_out": f"tl.store(z + at, alpha * {LOADS[0]} + {LOADS[1]}, mask=inside)",
    "misspelt": f"tl.store(z + at, alhpa * {LOADS[0]}, mask=inside)",
}


def cell(name: str) -> str:
    before = "from triton.language.extra import libdevice\n" if name == "of_the_library" else ""
    source = before + KERNEL.format(name=name, body=BODIES[name]) + LAUNCHER.format(name=name)
    source = source.replace(" if out is None else out", "") if name == "ignores_out" else source
    return f"```{{code-cell}} triton\n#| label: {name.replace('_', '-')}\n#| implements: axpy/{name}\n{source}```\n\n"


POST = (
    "---\ntitle: Cells\ndate: 2026-11-21\n---\n"
    + "```{code-cell} python\n#| label: divides\ndef inverse(x):\n    return 1 / x\n\n\nprint(inverse(0))\n```\n\n"
    + "".join(map(cell, BODIES))
)


def new_site(root: Path, tolerance: str = "{float32: 1e-6}") -> Path:
    """Return a new site with small shapes, one workload, no baseline and the dtypes of the tolerance.

    Each dtype of each implementation costs two processes that import torch.
    """
    texts = dict(new_site_files("Kernels", dt.date(2026, 11, 21)))
    small = {
        "dtypes: [float32]": f"dtypes: [{', '.join(re.findall('[a-z]+[0-9]+', tolerance))}]",
        "{float32: 1e-6}": tolerance,
        "{N: 1023}, {N: 4097}": "{N: 130}",
        "{N: 16777216}, {N: 268435456}": "{N: 1000}",
        "[torch]": "[]",
    }
    for old, new in small.items():
        texts["kernels/axpy/kernel.yaml"] = texts["kernels/axpy/kernel.yaml"].replace(old, new)
    create(root, texts)
    return root


def run(root: Path, *words: str, command: str = "run") -> tuple[int, str]:
    """Return the exit code and the output of the command."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [sys.executable, "-m", "sitegen", command, *words],
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def line_of(text: str, words: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if words in line)


@pytest.fixture(scope="module")
def with_cells(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    root = new_site(tmp_path_factory.mktemp("cells") / "site", "{float32: 1e-6, bfloat16: 8e-3}")
    create(root, {"content/posts/cells/index.md": POST})
    return run(root)


def test_a_failing_cell_shows_its_exception_and_the_lines_of_the_post(with_cells: tuple[int, str]) -> None:
    code, said = with_cells
    outer, inner = line_of(POST, "print(inverse"), line_of(POST, "return 1 / x")
    assert code == 1
    assert (
        "posts/cells#divides: runtime error: ZeroDivisionError: division by zero\n"
        f"  content/posts/cells/index.md:{outer}\n    {outer} | print(inverse(0))\n"
        f"  content/posts/cells/index.md:{inner}\n    {inner} | return 1 / x\n"
    ) in said


def test_a_failing_kernel_shows_the_line_inside_of_it(with_cells: tuple[int, str]) -> None:
    line = line_of(POST, "alhpa")
    launch = line_of(POST, "misspelt[(triton.cdiv")
    said = with_cells[1]
    assert said.count("axpy/misspelt (1000:float32): runtime error: NameError: name 'alhpa' is not defined\n") == 1
    assert f"index.md:{launch}\n" in said and f"index.md:{line}\n    {line} | tl.store(" in said
    assert "InterpreterError" not in said


@pytest.mark.parametrize("name", ["in_bfloat16", "scalar_to"])
def test_what_only_the_interpreter_does_wrong_passes(with_cells: tuple[int, str], name: str) -> None:
    assert rows(with_cells[1])[f"axpy/{name}"] == ["passed  float32, bfloat16; 2 shapes"]


def test_a_kernel_that_is_wrong_fails_a_run_without_a_gpu(with_cells: tuple[int, str]) -> None:
    """Its mistake is found in each dtype."""
    code, said = with_cells
    assert code == 1 and "nothing is stored, as in every run without a GPU" in said
    assert "axpy/no_minus (1000:float32): incorrect: relative error " in said
    assert rows(said)["axpy/no_minus"] == ["incorrect  float32, bfloat16"]


def test_what_the_interpreter_lacks_is_said_and_not_blamed_on_the_author(with_cells: tuple[int, str]) -> None:
    line = line_of(POST, "libdevice.rsqrt")
    assert (
        "axpy/of_the_library (1000:float32): not judged: cannot be judged without a GPU: "
        "Triton's interpreter has no `libdevice.rsqrt`; this is no mistake, and a GPU judges it\n"
        f"  content/posts/cells/index.md:{line}\n"
    ) in with_cells[1]


def test_a_message_names_the_dims(with_cells: tuple[int, str]) -> None:
    line = line_of(POST, "mask=at <= N")
    assert (
        "axpy/past_the_end (1000:float32): out of bounds: it wrote outside of the output at N=1: "
        "the mask of `tl.store(z + at, …, mask=at <= N)` lets places outside through: "
        f"make it smaller, as in `mask=at < N`\n  content/posts/cells/index.md:{line}\n"
    ) in with_cells[1]


def test_a_load_without_a_mask_is_found_without_a_gpu_with_its_line(with_cells: tuple[int, str]) -> None:
    line = line_of(POST, "alpha * tl.load(x + at) +")
    assert (
        "axpy/reads_past (1000:float32): out of bounds: it read outside of `x` at N=1: "
        "`tl.load(x + at)` has no mask: give it one, as in `tl.load(x + at, mask=inside)`\n"
        f"  content/posts/cells/index.md:{line}\n"
    ) in with_cells[1]


def test_a_launcher_that_ignores_out_hears_what_it_must_do(with_cells: tuple[int, str]) -> None:
    contract = "allocate only `if out is None`, as in `out = torch.empty_like(x) if out is None else out`"
    own = (
        f"nothing was written into `out` at N=1 (normal inputs): the launcher returned a tensor of its own: {contract}"
    )
    line = POST.splitlines().index("    out = torch.empty_like(x)") + 1
    assert f"unwritten: {own}\n  content/posts/cells/index.md:{line}\n" in with_cells[1]


def test_each_thing_that_was_checked_has_a_row(with_cells: tuple[int, str]) -> None:
    found = rows(with_cells[1])
    assert found["axpy/tile"] == ["passed  float32, bfloat16; 2 shapes"]
    assert found["axpy/wrong/no_mask"] == ["rejected: out of bounds"]
    assert found["posts/cells#divides"] == ["runtime error"]


def test_a_run_in_which_something_failed_does_not_end_with_a_success(with_cells: tuple[int, str]) -> None:
    """What is wrong comes at once below its job; no job that does nothing, and no register, stands around it."""
    said = with_cells[1]
    count = sum(line.startswith("error: ") for line in said.splitlines())
    assert said.splitlines()[-1] == f"{count} errors, shown above"
    assert "passed under" not in said and "no GPU here" not in said and "ceilings:" not in said
    assert re.search(r"posts/cells failed \d+ s\nerror: posts/cells#divides", said)
    assert "axpy/tools" not in said and "starting processes" not in said
    assert "axpy/in_bfloat16  sm_90a" in said and "axpy/no_minus  sm_90a" not in said


def rows(said: str) -> dict[str, list[str]]:
    """Return the rest of each line of the table by name, with two spaces between its columns."""
    found: dict[str, list[str]] = {}
    for name, *rest in (line.split("  ") for line in said.splitlines() if line.startswith(("axpy/", "posts/"))):
        if rest and "sm_90a" not in rest[0] and ":" not in name:
            found.setdefault(name, []).append("  ".join(word.strip() for word in rest if word))
    return found


def test_a_run_in_which_all_passed_says_so_and_names_what_nobody_could_see(tmp_path: Path) -> None:
    code, said = run(new_site(tmp_path / "site"))
    assert code == 0, said
    assert "what could be checked under Triton's interpreter passed" in said
    assert "a read more than 64 KiB outside of a tensor is not judged without a GPU" in said


REFERENCE = """import torch


def make_inputs(dims, dtype, generator, device):
    return {name: torch.randn(dims["N"], dtype=dtype, generator=generator, device=device) for name in NAMES}


NAMES = ("x", "w")


def reference(x, y, alpha):
    return alpha * x + y
"""


def test_inputs_without_one_that_kernel_yaml_lists_are_named_with_their_file(tmp_path: Path) -> None:
    root = new_site(tmp_path / "site")
    (root / "kernels/axpy/reference.py").write_text(REFERENCE)
    code, said = run(root, "axpy")
    assert code == 1
    assert (
        "kernels/axpy/reference.py: `make_inputs` returns no `y`, which kernel.yaml lists under `inputs`; "
        "it returns `x`, `w`"
    ) in said
    assert "KeyError" not in said


def test_a_reference_that_raises_is_said_once_with_its_line(tmp_path: Path) -> None:
    root = new_site(tmp_path / "site")
    text = REFERENCE.replace('"w"', '"y"').replace("alpha * x + y", "alpha * x + nothing")
    (root / "kernels/axpy/reference.py").write_text(text)
    said = run(root, "axpy")[1]
    line = line_of(text, "nothing")
    assert said.count("name 'nothing' is not defined") == 1
    assert "error: kernels/axpy/reference.py: `reference` raised NameError: name 'nothing' is not defined; it" in said
    assert "it knows `x`, `y`, `alpha`\n" in said and "axpy/tile (" not in said
    assert re.search(r"axpy@1000:float32 failed \d+ s\nerror: kernels/axpy/reference.py", said)
    assert f"  kernels/axpy/reference.py:{line}\n    {line} | return alpha * x + nothing\n" in said


def test_a_bundle_says_the_same_as_a_run(tmp_path: Path) -> None:
    root = new_site(tmp_path / "site")
    create(root, {"content/posts/cells/index.md": POST.partition("```{code-cell} triton")[0]})
    assert run(root, "posts/cells", "-o", "bundle.zip", command="bundle")[0] == 0
    code, said = run(tmp_path, "--bundle", "site/bundle.zip", "-o", "result.zip")
    line = line_of(POST, "return 1 / x")
    assert code == 1
    assert f"content/posts/cells/index.md:{line}\n    {line} | return 1 / x\n" in said
