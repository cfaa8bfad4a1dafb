"""The kernels of this repository: their YAML fits their files, and all that can run here is correct."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from sitegen.model.dtypes import DTYPES
from sitegen.model.formula import evaluate, evaluate_int
from sitegen.model.kernel import Implementation, Kernel, Status
from sitegen.read.load import load_site

ROOT = Path(__file__).parents[2]
SITE, DIAGNOSTICS = load_site(ROOT)
KERNELS = {kernel.name: kernel for kernel in SITE.kernels}
FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("kernels/*/**/*.[pc][yu]"))
MEMORY_BOUND = {
    "copy",
    "vector_add",
    "sum",
    "softmax",
    "transpose",
    "layernorm",
    "rmsnorm",
    "cross_entropy",
    "cross_entropy_backward",
    "cross_entropy_fused",
    "layernorm_backward",
    "rmsnorm_backward",
    "gather",
    "scan",
    "histogram",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of mistake that a checker must reject."""

    statuses: set[Status]
    """The statuses that the checker may give it."""
    variants: set[str]
    """The `wrong/` variants that make this mistake."""


FAULTS = {
    "wrong in one element": Fault(
        {Status.INCORRECT}, {"vector_add/one_element", "matmul/one_product", "gather/last_row", "histogram/last_value"}
    ),
    "unmasked tail": Fault(
        {Status.INCORRECT, Status.OUT_OF_BOUNDS},
        {
            "vector_add/no_mask",
            "sum/repeats_last",
            "softmax/zero_fill",
            "matmul/no_k_tail",
            "matmul_fp8/no_k_tail",
            "layernorm/tail_variance",
            "rmsnorm/block_mean",
            "histogram/padded_tail",
        },
    ),
    "elements in the wrong places": Fault(
        {Status.INCORRECT},
        {
            "transpose/reshaped",
            "matmul_fp8/rows_of_k",
            "gather/ignores_index",
            "gather/scatters",
            "transformer_block/gates_swapped",
            "cute_matmul/transposed",
            "cute_matmul/one_swizzle",
            "cute_transpose/one_side",
            "cute_tma/unswizzled",
        },
    ),
    "forgotten tail": Fault(
        {Status.INCORRECT}, {"sum/lost_tail", "cross_entropy/whole_tiles", "histogram/whole_tiles"}
    ),
    "a term left out": Fault(
        {Status.INCORRECT},
        {
            "rmsnorm/no_epsilon",
            "rmsnorm_backward/no_slope",
            "cross_entropy_backward/no_target",
            "cross_entropy_fused/no_target",
            "attention_backward/no_delta",
            "attention_backward/unscaled_queries",
            "transformer_block/adds_tokens",
            "scan/exclusive",
            "scan/no_carry",
        },
    ),
    "a sum that is slightly wrong": Fault({Status.INCORRECT}, {"softmax/counts_twice", "rmsnorm/short_last_row"}),
    "wrong causal mask": Fault(
        {Status.INCORRECT}, {"attention/no_diagonal_mask", "transformer_block/sees_later_tokens"}
    ),
    "sums of an earlier maximum": Fault({Status.INCORRECT}, {"attention/no_rescale", "cross_entropy/not_rescaled"}),
    "wrong dtype": Fault({Status.WRONG_DTYPE}, {"copy/in_half", "matmul/still_float32"}),
    "wrong shape": Fault({Status.WRONG_SHAPE}, {"copy/as_column", "sum/scalar"}),
    "output not fully written": Fault(
        {Status.UNWRITTEN},
        {
            "copy/rounded_grid",
            "vector_add/no_rest",
            "softmax/first_block",
            "matmul/whole_tiles",
            "transpose/square_tiles",
            "layernorm_backward/left_over_rows",
            "cross_entropy_backward/whole_tiles",
            "attention/whole_tiles",
            "gather/whole_tiles",
            "scan/whole_tiles",
            "cute_copy/whole_tiles",
            "cute_tiled_copy/swapped",
        },
    ),
    "right only the first time": Fault({Status.UNWRITTEN}, {"sum/no_reset"}),
    "write out of bounds by one": Fault({Status.OUT_OF_BOUNDS}, {"copy/one_past"}),
    "write out of bounds by rows": Fault(
        {Status.OUT_OF_BOUNDS},
        {"softmax/padded_rows", "transpose/no_mask", "attention/padded_rows", "cute_tma/no_bounds"},
    ),
    "input modified": Fault(
        {Status.MODIFIED_INPUT},
        {
            "copy/moves",
            "softmax/in_place",
            "attention/scales_queries",
            "cross_entropy_fused/in_place",
            "transformer_block/in_place",
        },
    ),
    "output read": Fault({Status.INCORRECT, Status.UNWRITTEN}, {"matmul/adds_to_out", "histogram/adds_to_out"}),
    "race": Fault(
        {Status.RACE}, {"sum/any_order", "matmul/no_barrier", "transpose/no_barrier", "layernorm_backward/any_order"}
    ),
    "NaN": Fault(
        {Status.INCORRECT},
        {
            "vector_add/by_squares",
            "softmax/no_guard",
            "softmax/no_max",
            "cross_entropy/no_max",
            "attention/no_max",
            "attention/strict_mask",
        },
    ),
    "result of an earlier call with the same pointers": Fault(
        {Status.INCORRECT}, {"copy/remembers", "matmul/packed_once"}
    ),
    "less precision than it says": Fault(
        {Status.INCORRECT},
        {
            "vector_add/through_half",
            "matmul/as_tf32",
            "matmul/bf16_sum",
            "matmul_fp8/rounded_sums",
            "layernorm/moments",
            "attention/rounded_scores",
            "scan/rounded_carry",
        },
    ),
}


@pytest.fixture(scope="module", params=["two", pytest.param("all", marks=pytest.mark.soak)])
def verdicts(request: pytest.FixtureRequest) -> dict[str, list[str]]:
    """The verdicts of the gates on each Triton implementation and wrong variant by name, one for each dtype.

    The implementations are judged at two shapes of each kernel, or at all that the interpreter can run.
    """
    command = [sys.executable, str(Path(__file__).with_name("judge_all.py")), request.param]
    # The interpreter computes with NumPy, which warns of every -inf - -inf.
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TRITON_INTERPRET": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def implementations() -> Iterator[tuple[Kernel, Implementation]]:
    for kernel in SITE.kernels:
        for implementation in (*kernel.implementations, *(wrong.implementation for wrong in kernel.wrong)):
            yield kernel, implementation


def launches() -> Iterator[tuple[str, Implementation, dict[str, int]]]:
    """Return every launch at each shape and dtype, with the names that its formulas may use."""
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
    baselines = {baseline.file for kernel in SITE.kernels for baseline in kernel.baseline_files}
    assert [file for file in FILES if file not in named | references | baselines] == []


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


def test_every_kind_of_mistake_is_made_by_a_wrong_variant_and_each_of_these_makes_one_kind() -> None:
    listed = [variant for fault in FAULTS.values() for variant in fault.variants]
    variants = [f"{kernel.name}/{wrong.implementation.name}" for kernel in SITE.kernels for wrong in kernel.wrong]
    assert sorted(listed) == sorted(variants)
    assert all(fault.variants for fault in FAULTS.values())


def test_the_status_that_a_wrong_variant_must_get_is_one_for_its_mistake() -> None:
    must = {f"{k.name}/{w.implementation.name}": w.fails for k in SITE.kernels for w in k.wrong}
    unfit = {
        f"{variant}: {must[variant]} for {kind}"
        for kind, fault in FAULTS.items()
        for variant in fault.variants
        if must[variant] not in fault.statuses
    }
    assert unfit == set()


def test_a_wrong_variant_says_in_its_file_what_is_wrong() -> None:
    silent = [w.implementation.file for k in SITE.kernels for w in k.wrong if not says_what_is_wrong(w.implementation)]
    assert silent == []


def says_what_is_wrong(variant: Implementation) -> bool:
    return re.search(r'^(// |""")Wrong', SITE.files[variant.file], re.MULTILINE) is not None


def test_a_cuda_file_includes_nothing_that_needs_a_host_compiler() -> None:
    hosts = {baseline.file for kernel in SITE.kernels for baseline in kernel.baseline_files}
    for file in (path for path in FILES if path.endswith(".cu") and path.split("/")[1] in MEMORY_BOUND):
        if file in hosts:
            continue
        included = {line for line in (ROOT / file).read_text().splitlines() if line.startswith("#include")}
        assert included == {"#include <cuda_bf16.h>"}, file


@pytest.mark.parametrize(
    ("name", "dims", "bytes_moved"),
    [
        ("copy", {"N": 2**28}, 2 * 4 * 2**28),
        ("vector_add", {"N": 2**28}, 3 * 4 * 2**28),
        ("sum", {"N": 2**28}, 4 * 2**28 + 4),
        ("softmax", {"M": 8192, "N": 8192}, 2 * 4 * 8192 * 8192),
        ("layernorm", {"M": 8192, "N": 8192}, 4 * (2 * 8192 * 8192 + 2 * 8192)),
        ("rmsnorm", {"M": 8192, "N": 8192}, 4 * (2 * 8192 * 8192 + 8192)),
        ("layernorm_backward", {"M": 2, "N": 3}, 4 * (3 * 2 * 3 + 3 * 3 + 2 * 2)),
        ("rmsnorm_backward", {"M": 2, "N": 3}, 4 * (3 * 2 * 3 + 2 * 3 + 2)),
        ("cross_entropy", {"M": 2, "N": 3}, 4 * 2 * 3 + 2 * 8 + 2 * 4),
        ("cross_entropy_backward", {"M": 2, "N": 3}, 2 * 4 * 2 * 3 + 2 * 8 + 2 * 4 + 2 * 4),
        ("cross_entropy_fused", {"M": 2, "N": 3}, 2 * 4 * 2 * 3 + 2 * 8 + 2 * 4 + 2 * 4),
        ("transpose", {"M": 8192, "N": 4096}, 2 * 4 * 8192 * 4096),
        ("matmul", {"M": 2, "N": 3, "K": 5}, 4 * (2 * 5 + 5 * 3 + 2 * 3)),
        ("matmul_fp8", {"M": 2, "N": 3, "K": 5}, 4 * (2 * 5 + 3 * 5) + 2 * 2 * 3),
        ("attention", {"B": 2, "H": 3, "T": 5}, 4 * 4 * (2 * 3 * 5 * 128)),
        ("transformer_block", {"B": 2, "T": 3, "D": 5, "F": 7}, 4 * (2 * 2 * 3 * 5 + 4 * 5 * 5 + 3 * 5 * 7 + 2 * 5)),
        ("histogram", {"N": 2**28}, 4 * 2**28 + 4 * 256),
        ("scan", {"N": 2**28}, 2 * 4 * 2**28),
        ("gather", {"N": 5, "W": 3}, 2 * 4 * 5 * 3 + 4 * 5),
        ("attention_backward", {"B": 2, "H": 3, "T": 5}, 8 * 4 * (2 * 3 * 5 * 128) + 4 * 2 * 3 * 5),
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


@pytest.mark.torch
def test_the_gate_that_a_wrong_variant_names_rejects_it_at_its_shape_with_all_other_gates_off(
    verdicts: dict[str, list[str]],
) -> None:
    expected = {f"{k.name}/wrong/{w.implementation.name}": w.fails for k in SITE.kernels for w in k.wrong}
    alone = {name: said[1] for name, said in verdicts.items() if "/wrong/" in name}
    assert {name: said for name, said in alone.items() if not said.startswith(f"{expected[name]}:")} == {}
