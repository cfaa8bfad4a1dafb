"""The kernels of this repository: what their YAML says fits their files, and what can run here is right."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import evaluate, evaluate_int
from sitegen.model.kernel import Implementation, Kernel
from sitegen.read import load_site

ROOT = Path(__file__).parents[2]
SITE, DIAGNOSTICS = load_site(ROOT)
KERNELS = {kernel.name: kernel for kernel in SITE.kernels}
FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("kernels/*/**/*.[pc][yu]"))
MEMORY_BOUND = {"copy", "vector_add", "sum", "softmax"}


@pytest.fixture(scope="module")
def verdicts() -> dict[str, list[str]]:
    """What the gates say of each Triton implementation and wrong variant, by name, a verdict for each dtype."""
    command = [sys.executable, str(Path(__file__).with_name("judge_all.py"))]
    # The interpreter computes with NumPy, which warns of every -inf - -inf.
    environment = {"PYTHONPATH": str(ROOT), "TRITON_INTERPRET": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def implementations() -> Iterator[tuple[Kernel, Implementation]]:
    for kernel in SITE.kernels:
        for implementation in (*kernel.implementations, *(wrong.implementation for wrong in kernel.wrong)):
            yield kernel, implementation


def launches() -> Iterator[tuple[str, Implementation, dict[str, int]]]:
    """Every launch at every shape and dtype that it can meet, with the names that its formulas may use."""
    for kernel, implementation in implementations():
        shapes = [*kernel.checks, *(workload.dims for workload in kernel.workloads)]
        for dims in shapes if implementation.launch else ():
            for dtype in implementation.dtypes or kernel.dtypes:
                where = f"{kernel.name}/{implementation.name} at {dict(dims)} {dtype}"
                yield where, implementation, with_constants(implementation, dims, dtype)


def with_constants(implementation: Implementation, dims: Mapping[str, int], dtype: str) -> dict[str, int]:
    names = {**dims, "itemsize": DTYPES[dtype].itemsize}
    assert implementation.launch
    for name, expression in implementation.launch.constants.items():
        names[name] = evaluate_int(expression, names)
    return names


def test_no_mistake_is_in_any_kernel_yaml() -> None:
    assert [d for d in DIAGNOSTICS if d.span.path.startswith("kernels/")] == []
    assert set(KERNELS) >= MEMORY_BOUND


def test_every_file_is_an_implementation_a_wrong_variant_or_a_reference() -> None:
    named = {implementation.file for _, implementation in implementations()}
    references = {f"{kernel.folder}/reference.py" for kernel in SITE.kernels}
    assert [file for file in FILES if file not in named | references] == []


def test_every_implementation_predicts_a_share_of_the_ceiling() -> None:
    silent = [f"{k.name}/{i.name}" for k in SITE.kernels for i in k.implementations if i.predicted_of_ceiling is None]
    assert silent == []


def test_every_launch_is_one_that_the_hardware_accepts() -> None:
    for where, implementation, names in launches():
        launch = implementation.launch
        assert launch
        grid, block, cluster = (
            [evaluate_int(part, names) for part in parts] for parts in (launch.grid, launch.block, launch.cluster)
        )
        assert 0 < grid[0] < 2**31, where
        assert 0 < block[0] <= 1024, where
        assert all(1 <= c <= 8 and g % c == 0 for g, c in zip(grid, cluster, strict=False)), where
        assert evaluate_int(launch.shared, names) <= 227 * 1024, where


def test_a_file_of_an_implementation_imports_torch_triton_and_other_kernels_only() -> None:
    allowed = {"torch", "triton", "kernels", *sys.stdlib_module_names}
    for file in (path for path in FILES if path.endswith(".py")):
        imported = {name.split(".")[0] for name in imports_of((ROOT / file).read_text())}
        assert imported <= allowed, file


def imports_of(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_a_cuda_file_includes_nothing_that_needs_a_host_compiler() -> None:
    for file in (path for path in FILES if path.endswith(".cu") and path.split("/")[1] in MEMORY_BOUND):
        included = {line for line in (ROOT / file).read_text().splitlines() if line.startswith("#include")}
        assert included == {"#include <cuda_bf16.h>"}, file


@pytest.mark.parametrize(
    ("name", "dims", "bytes_moved"),
    [
        ("copy", {"N": 2**28}, 2 * 4 * 2**28),
        ("vector_add", {"N": 2**28}, 3 * 4 * 2**28),
        ("sum", {"N": 2**28}, 4 * 2**28 + 4),
        ("softmax", {"M": 8192, "N": 8192}, 2 * 4 * 8192 * 8192),
        ("matmul", {"M": 2, "N": 3, "K": 5}, 4 * (2 * 5 + 5 * 3 + 2 * 3)),
    ],
)
def test_the_least_bytes_are_each_input_once_and_each_output_once(
    name: str, dims: dict[str, int], bytes_moved: int
) -> None:
    kernel, names = KERNELS[name], {**dims, "itemsize": 4}
    assert evaluate(kernel.reads, names) + evaluate(kernel.writes, names) == bytes_moved


@pytest.mark.torch
def test_every_triton_implementation_passes_the_gates(verdicts: dict[str, list[str]]) -> None:
    ours = {name: said for name, said in verdicts.items() if "/wrong/" not in name}
    assert len(ours) >= len(MEMORY_BOUND)
    assert {name: said for name, said in ours.items() if set(said) != {"passed"}} == {}


@pytest.mark.torch
def test_every_wrong_variant_in_triton_gets_the_status_that_it_must_get(verdicts: dict[str, list[str]]) -> None:
    expected = {f"{k.name}/wrong/{w.implementation.name}": w.fails for k in SITE.kernels for w in k.wrong}
    got = {name: said[0] for name, said in verdicts.items() if "/wrong/" in name}
    assert len(got) >= 10
    assert {name: said for name, said in got.items() if not said.startswith(f"{expected[name]}:")} == {}
