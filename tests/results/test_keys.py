"""Changes that make a record stale, and changes that do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitegen.diagnostics import Span
from sitegen.model.document import Cell
from sitegen.model.kernel import Goal, Implementation, Language, Launch
from sitegen.results.keys import cell_keys, implementation_key, sources_of


def test_what_a_page_says_about_a_kernel_is_not_in_the_key(made):
    reworded = replace(
        made.kernel,
        summary="Other words.",
        flops="99 * M",
        reads="1",
        writes="1",
        goals=(Goal("best >= 1x torch @ 8x8:float32", "best", 1, "x torch", "8x8", "float32"),),
        implementations=tuple(
            replace(one, predicts="99 %", predicted_of_ceiling=0.99, explains="a tail", span=Span("x"))
            for one in made.kernel.implementations
        ),
    )
    assert made.key("fused") == made.key("fused", reworded)


def test_line_endings_of_another_system_do_not_make_a_record_stale(made):
    windows = {path: text.replace("\n", "\r\n") for path, text in made.files.items()}
    assert made.key("fused") == made.key("fused", files=windows)


def test_a_file_that_nothing_imports_is_not_in_the_key(made):
    assert made.key("fused") == made.key("fused", files={**made.files, "kernels/softmax/unrelated.py": "else = 1\n"})


@pytest.mark.parametrize(
    "path",
    [
        "kernels/softmax/fused.py",
        "kernels/common/rows.py",
        "kernels/common/__init__.py",
        "kernels/softmax/reference.py",
        "kernels/softmax/inputs.py",
    ],
)
def test_one_character_in_what_python_code_reaches_changes_its_part_of_the_key(made, path):
    before = made.key("fused")
    after = made.key("fused", files={**made.files, path: made.files[path] + " "})
    assert after.digest != before.digest
    assert {part for part in after.parts if after.parts[part] != before.parts[part]} == {path}


@pytest.mark.parametrize("path", ["kernels/softmax/naive.cu", "kernels/softmax/load.cuh", "kernels/common/vec.cuh"])
def test_one_character_in_what_cuda_code_includes_changes_its_key_and_no_other(made, path):
    changed = {**made.files, path: made.files[path] + " "}
    assert made.key("naive", files=changed).digest != made.key("naive").digest
    assert made.key("fused", files=changed) == made.key("fused")


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("tolerance", {"tolerance": {"float32": 1e-3, "bfloat16": 8e-3}}),
        ("checks", {"checks": ({"M": 3, "N": 3},)}),
        ("extra_inputs", {"extra_inputs": ("exact",)}),
        ("tensors", {"dims": ("M", "N", "K")}),
    ],
)
def test_what_an_evaluation_is_judged_by_is_in_the_key(made, part, change):
    before, after = made.key("fused"), made.key("fused", replace(made.kernel, **change))
    assert {name for name in after.parts if after.parts[name] != before.parts[name]} == {part}


def test_the_tolerance_of_another_dtype_is_not_in_the_key(made):
    other = replace(made.kernel, tolerance={"float32": 1e-6, "bfloat16": 1.0})
    assert made.key("fused", other) == made.key("fused")


def test_workload_dtype_and_params_are_in_the_key(made):
    keys = {
        made.key("fused").digest,
        made.key("fused", workload=made.kernel.workloads[1]).digest,
        made.key("fused", dtype="bfloat16").digest,
        made.key("fused", params={"causal": True}).digest,
    }
    assert len(keys) == 4


def test_the_launch_is_in_the_key_and_the_order_of_its_constants_is_not(made):
    def with_launch(launch):
        implementation = replace(made.kernel.implementations[0], launch=launch)
        return implementation_key(made.kernel, implementation, made.kernel.workloads[0], "float32", {}, made.files)

    one = with_launch(Launch("naive", ("M",), ("256",), constants={"A": "1", "B": "2"}))
    assert one == with_launch(Launch("naive", ("M",), ("256",), constants={"B": "2", "A": "1"}))
    assert one.digest != with_launch(Launch("naive", ("M",), ("128",), constants={"A": "1", "B": "2"})).digest


def test_code_that_is_no_python_has_a_key_all_the_same(made):
    broken = {**made.files, "kernels/softmax/fused.py": "def softmax(:\n"}
    assert made.key("fused", files=broken).digest


def test_an_implementation_in_a_cell_is_keyed_by_its_own_text(made):
    cell = replace(
        made.kernel.implementations[1],
        file="content/posts/softmax/index.md#two-pass",
        source="from kernels.common.rows import x\n",
    )
    parts = implementation_key(made.kernel, cell, made.kernel.workloads[0], "float32", {}, made.files).parts
    assert "content/posts/softmax/index.md#two-pass" in parts
    assert "kernels/common/rows.py" in parts


def test_a_job_gets_every_file_that_its_code_reaches_and_no_other(made):
    assert set(sources_of(made.kernel, made.kernel.implementations, made.files)) == {
        "kernels/softmax/fused.py",
        "kernels/softmax/naive.cu",
        "kernels/softmax/load.cuh",
        "kernels/softmax/reference.py",
        "kernels/softmax/inputs.py",
        "kernels/common/__init__.py",
        "kernels/common/rows.py",
        "kernels/common/vec.cuh",
    }


def test_a_baseline_with_a_file_of_its_own_is_a_part_of_every_key_and_goes_with_the_job(made):
    cub = Implementation("cub", "kernels/softmax/cub.cu", Language.CUDA_HOST, host="softmax_cub")
    kernel = replace(made.kernel, baselines=("torch", "cub"), baseline_files=(cub,))
    files = {**made.files, "kernels/softmax/cub.cu": '#include "load.cuh"\n'}
    assert "kernels/softmax/cub.cu" in sources_of(kernel, kernel.implementations, files)
    changed = {**files, "kernels/softmax/cub.cu": "// slower\n"}
    assert made.key("fused", kernel, files).digest != made.key("fused", kernel, changed).digest
    assert made.key("fused", kernel, made.files).parts.keys() == made.key("fused").parts.keys()


def cells(*sources: str) -> list[Cell]:
    return [Cell(f"cell-{n}", "python", source, Span("post.md", n)) for n, source in enumerate(sources)]


def test_a_changed_cell_makes_itself_and_the_cells_after_it_stale_but_none_before(made):
    before = cell_keys("post.md", cells("a = 1", "b = a", "print(b)"), made.files)
    after = cell_keys("post.md", cells("a = 1", "b = a + 1", "print(b)"), made.files)
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, False, False]


def test_prose_around_a_cell_is_not_in_its_key(made):
    moved = [replace(cell, span=Span("post.md", 99), options={"fig-cap": "new"}) for cell in cells("a = 1")]
    assert cell_keys("post.md", moved, made.files) == cell_keys("post.md", cells("a = 1"), made.files)


def test_a_cell_with_a_magic_of_ipython_still_shows_what_it_imports(made):
    (key,) = cell_keys("post.md", cells("%matplotlib inline\nfrom kernels.common import rows"), made.files)
    assert "kernels/common/rows.py" in key.parts
