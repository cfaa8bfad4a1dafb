"""The file kernels/<kernel>/kernel.yaml becomes a Kernel."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.diagnostics import Diagnostic, Severity
from sitegen.model.kernel import Goal, Kernel, Language, Launch, Status, Tensor
from sitegen.read.kernel import parse_goal, parse_kernel, predicted_share

PATH = "kernels/scale/kernel.yaml"
FILES = {
    "kernels/scale/reference.py": "def extra_inputs(name, dims, dtype, generator, device): ...\n",
    "kernels/scale/tile.py": "import torch\n\n\ndef scale(x, *, out=None): ...\n",
    "kernels/scale/plain.cu": 'extern "C" __global__ void scale_plain(const DTYPE* x) {}\n',
    "kernels/scale/host.cu": 'extern "C" int scale_host(void** buffers) { return 0; }\n',
    "kernels/scale/wrong/half.py": "def scale(x, *, out=None): ...\n",
}
KERNEL = """kernel: scale
summary: A row times its weight.
dims: [M, N]
inputs:
  x: {shape: [M, N]}
  rows: {shape: [M + 1], dtype: int64}
outputs: {y: {shape: [M, N]}}
params: {eps: 1e-5, causal: [false, true], mode: [row, column]}
dtypes: [float32, bfloat16]
flops: M * N * (2 + causal)
reads: M * N * itemsize + 8 * (M + 1)
writes: M * N * itemsize
tolerance: {float32: 1e-6, bfloat16: 8e-3}
checks: [{M: 1, N: 1}, {N: 127, M: 3}]
extra_inputs: [extreme]
workloads: [{N: 1024, M: 4096}, {name: long, M: 1, N: 65536}]
baselines: [torch, torch.compile]
goals: ["best >= 0.98 of-copy @ 4096x1024:float32", "tile>=1.5x torch.compile @ long:bfloat16"]
implementations:
  - {name: tile, file: tile.py, dtypes: [float32], predicts: "10 % more: 95.5 %", deterministic: true}
  - name: plain
    file: plain.cu
    launch:
      {entry: scale_plain, grid: [M, 1], block: [THREADS], shared: 4 * THREADS, args: [x, y, N, eps],
       constants: {THREADS: "min(N, 256)", WARPS: THREADS // 32}}
  - {name: host, file: host.cu, host: scale_host, arch: ">=sm_90a"}
wrong:
  - {name: half, file: wrong/half.py, fails: wrong_dtype}
"""


def kernel(
    text: str = KERNEL, files: Mapping[str, str] = FILES, **changes: str
) -> tuple[Kernel, tuple[Diagnostic, ...]]:
    """Return the kernel with some of its lines replaced, by key."""
    lines = [f"{key}: {changes[key]}" if (key := line.split(":")[0]) in changes else line for line in text.split("\n")]
    return parse_kernel("\n".join(lines), PATH, files)


def seen(found: tuple[Diagnostic, ...]) -> list[tuple[str, int, int, str]]:
    return [(d.code, d.span.line, d.span.col, d.message) for d in found]


def test_every_key_of_the_design_is_read() -> None:
    read, found = kernel()
    assert not found
    assert read.inputs == (Tensor("x", ("M", "N")), Tensor("rows", ("M + 1",), "int64"))
    assert read.params == {"eps": (1e-5,), "causal": (False, True), "mode": ("row", "column")}
    assert read.tolerance == {"float32": 1e-6, "bfloat16": 8e-3}
    assert read.checks == ({"M": 1, "N": 1}, {"N": 127, "M": 3})
    assert [workload.name for workload in read.workloads] == ["4096x1024", "long"]
    assert read.goals[1] == Goal(
        "tile>=1.5x torch.compile @ long:bfloat16", "tile", 1.5, "x torch.compile", "long", "bfloat16"
    )
    tile, plain, host = read.implementations
    assert (tile.file, tile.language, tile.dtypes) == ("kernels/scale/tile.py", Language.TRITON, ("float32",))
    assert (tile.predicted_of_ceiling, tile.deterministic) == (0.955, True)
    assert plain.launch == Launch(
        "scale_plain",
        ("M", "1"),
        ("THREADS",),
        shared="4 * THREADS",
        args=("x", "y", "N", "eps"),
        constants={"THREADS": "min(N, 256)", "WARPS": "THREADS // 32"},
    )
    assert (host.language, host.host, host.launch) == (Language.CUDA_HOST, "scale_host", None)
    assert (read.wrong[0].implementation.file, read.wrong[0].fails) == (
        "kernels/scale/wrong/half.py",
        Status.WRONG_DTYPE,
    )


def test_a_baseline_is_a_function_of_the_reference_or_has_a_file_like_an_implementation() -> None:
    read, found = kernel(baselines="[torch, {name: library, file: host.cu, host: scale_host}, torch.compile]")
    assert not found
    assert read.baselines == ("torch", "library", "torch.compile")
    (library,) = read.baseline_files
    assert (library.name, library.file, library.language) == ("library", "kernels/scale/host.cu", Language.CUDA_HOST)


@pytest.mark.parametrize(
    ("baseline", "code", "message"),
    [
        ("{name: library, file: none.cu, host: f}", "SG022", "no kernels/scale/none.cu"),
        ("{name: library, file: host.cu, host: other}", "SG035", "no function `other` in kernels/scale/host.cu"),
        ("{name: library, file: plain.cu}", "SG034", "a .cu file needs `launch` or `host`"),
        ("{name: library, colour: red, file: tile.py}", "SG012", "unknown key `colour`"),
        ("{name: ../library, file: tile.py}", "SG024", "`../library` cannot be a name"),
        ("{file: tile.py}", "SG010", "missing key `name`"),
    ],
)
def test_a_mistake_in_a_baseline_with_a_file_is_named_once(baseline: str, code: str, message: str) -> None:
    _, found = kernel(baselines=f"[torch, torch.compile, {baseline}]")
    assert [(d.code, d.message) for d in found] == [(code, message)]


@pytest.mark.parametrize(
    ("first", "second", "such"),
    [
        ("same.cu", "same.cu", ""),
        ("same.cu", "other.cu", ", such as `other` for other.cu"),
        ("other.cu", "same.cu", ", such as `other` for other.cu"),
        ("best.cu", "lib/third.cu", ", such as `third` for lib/third.cu"),
        ("x.cu", "taken.cu", ", such as `x` for x.cu"),
    ],
)
def test_of_two_entries_with_one_name_a_file_suggests_another(first: str, second: str, such: str) -> None:
    files = (f"{{name: same, file: {first}}}", f"{{name: same, file: {second}}}", "{name: taken, file: same.cu}")
    _, found = kernel(baselines=f"[torch, torch.compile, {', '.join(files)}]")
    [twice] = [d for d in found if d.code == "SG023"]
    line = twice.span.line
    assert twice.hint == f"first on line {line}; give one of the two another name{such}"


def test_a_mistake_in_an_expression_has_its_own_column() -> None:
    _, found = kernel(flops='"M * (N + K)"')
    assert seen(found) == [("SG030", 10, 18, "unknown name `K`")]


def test_an_expression_that_fails_only_for_one_check_fails() -> None:
    _, found = kernel(flops="M * N // (M - 1)")
    assert (seen(found), found[0].hint) == ([("SG030", 10, 14, "division by zero")], "with M = 1, N = 65536")


def test_bytes_are_never_negative_and_shapes_never_broken() -> None:
    _, found = kernel(writes="M - N", outputs="{y: {shape: [M, N / 2]}}")
    assert sorted((d.code, d.span.line) for d in found) == [("SG030", 7), ("SG030", 12)]


def test_a_text_parameter_is_no_number() -> None:
    _, found = kernel(flops="M * mode")
    assert seen(found) == [("SG030", 10, 12, "unknown name `mode`")]


def test_a_workload_has_every_dim_and_no_other() -> None:
    _, found = kernel(workloads="[{M: 2}, {M: 4096, N: 1024, K: 2}, {M: 1, N: 65536, name: long}]")
    assert [d.message for d in found] == ["the dim `N` is missing", "unknown dim `K`"]


def test_dims_that_are_no_list_are_one_mistake() -> None:
    _, found = kernel(KERNEL.replace("dims: [M, N]", "dims: M"))
    assert [(mistake.code, mistake.message) for mistake in found] == [("SG011", "expected a list, found `M`")]


def test_exact_kernels_have_tolerance_zero() -> None:
    assert kernel(tolerance="{float32: 0, bfloat16: 0.0}")[1] == ()
    assert [d.code for d in kernel(tolerance="{float32: -1e-6, bfloat16: tight}")[1]] == ["SG011", "SG032"]


def test_an_implementation_in_a_cell_may_be_the_subject_of_a_goal() -> None:
    assert kernel(goals='["two_pass >= 0.9 of-ceiling @ long:float32"]')[1] == ()


def test_a_goal_may_be_for_one_gpu() -> None:
    goal = parse_goal("best >= 3.4x torch @ long:float32 on nvidia-h200")
    assert goal and (goal.dtype, goal.gpu) == ("float32", "nvidia-h200")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "best",
        "best >= 1 of-copy @ a:b on",
        "best >= 1 of-copy @ a:b on one two",
        "best >= much of-copy @ a:b",
        "best >= 1 of-copy",
        "best >= 1x @ a:b",
        "a > 1 of-copy @ a:b",
    ],
)
def test_what_is_no_goal_is_none(text: str) -> None:
    assert parse_goal(text) is None


def test_a_prediction_is_its_last_percentage() -> None:
    assert predicted_share("three reads and a write: 50 %") == 0.5
    assert predicted_share("5 % of it spills, so 92.5% at best") == 0.925
    assert predicted_share("twice the time of the copy") is None


def predicting(text: str) -> str:
    return KERNEL.replace('"10 % more: 95.5 %"', text)


@pytest.mark.parametrize("text", ['"94 %, as a rough try gave"', '"6% or 7%"', '""'])
def test_a_prediction_may_have_words_behind_its_share_and_an_empty_one_has_none(text: str) -> None:
    assert kernel(predicting(text))[1] == ()


def test_a_prediction_of_a_wrong_variant_needs_no_share_because_nothing_is_compared() -> None:
    assert kernel(KERNEL.replace("wrong_dtype}", "wrong_dtype, predicts: as fast}"))[1] == ()


def test_a_prediction_in_words_alone_is_a_warning_where_it_stands() -> None:
    _, [found] = kernel(predicting('"one read and a write"'))
    assert seen((found,)) == [("SG039", 20, 63, "this prediction has no share of the ceiling")]
    assert found.severity is Severity.WARNING


def test_a_kernel_without_its_files_names_each_of_them() -> None:
    _, found = parse_kernel(KERNEL, PATH, {})
    assert sorted(d.message for d in found) == [
        "no kernels/scale/host.cu",
        "no kernels/scale/plain.cu",
        "no kernels/scale/reference.py",
        "no kernels/scale/tile.py",
        "no kernels/scale/wrong/half.py",
    ]


def with_reference(source: str, **changes: str) -> tuple[Diagnostic, ...]:
    """Return the mistakes of the kernel beside another reference.py."""
    return kernel(files={**FILES, "kernels/scale/reference.py": source}, **changes)[1]


@pytest.mark.parametrize(
    "source",
    [
        "from sets import extra_inputs",
        "from sets import odd_rows as extra_inputs",
        "from sets import *",
        "extra_inputs = lambda *given: ()",
        "try:\n    from sets import extra_inputs\nexcept ImportError:\n    pass",
        "if True:\n    def extra_inputs(*given): ...",
        "def extra_inputs(",
    ],
)
def test_extra_inputs_may_come_from_anywhere_in_a_reference_that_parses(source: str) -> None:
    assert [d.code for d in with_reference(source) if d.code != "SG036"] == []


def test_a_kernel_without_extra_inputs_needs_no_function_for_them() -> None:
    assert with_reference("", extra_inputs="[]") == ()


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("def reference(x):\n    def extra_inputs(): ...\n", "write `def extra_inputs(name, dims, dtype, generator,"),
        ("def make_inputs(dims): ...\n", "write `def extra_inputs(name, dims, dtype, generator,"),
        ("def extra_input(name): ...\n", "rename `extra_input` there to `extra_inputs`"),
    ],
)
def test_input_sets_that_no_function_makes_are_named_with_their_line(source: str, hint: str) -> None:
    [found] = with_reference(source)
    assert seen((found,)) == [("SG035", 15, 1, "no function `extra_inputs` in kernels/scale/reference.py")]
    assert found.hint.startswith(hint)


def test_a_broken_file_is_still_a_kernel_by_its_folder_so_that_posts_may_name_it() -> None:
    read, found = parse_kernel("kernel: [\n", PATH, FILES)
    assert (read.name, [d.code for d in found]) == ("scale", ["SG002"])


def test_a_kernel_whose_only_implementation_is_in_a_cell_has_an_empty_list() -> None:
    text = KERNEL[: KERNEL.index("implementations")] + "implementations: []\n"
    assert kernel(text)[1] == ()


slip = st.sampled_from(
    ["", "0", "-1", "1e999", "~", "[", "]", "{", "}", ":", "\n", "  ", "M", "x", "**", "/ 0", "'", "true"]
)
cut = st.tuples(st.integers(0, len(KERNEL)), st.integers(0, 12), slip | st.text(max_size=3))


@given(st.lists(cut, min_size=1, max_size=4))
def test_no_slip_of_the_pen_makes_reading_raise(cuts: list[tuple[int, int, str]]) -> None:
    text = KERNEL
    for start, length, replacement in cuts:
        text = text[:start] + replacement + text[start + length :]
    read, found = parse_kernel(text, PATH, FILES)
    assert read.name == "scale"
    assert all(d.span.path == PATH and 1 <= d.span.line <= text.count("\n") + 1 for d in found)
