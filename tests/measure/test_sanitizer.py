"""Output of compute-sanitizer is read; tool_outputs/ holds its output for planted kernels on an H200."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.measure import sanitizer
from sitegen.measure.sanitizer import findings, is_hand_over, own_kernels, sanitize
from sitegen.measure.tool_runs import ToolRun
from sitegen.measure.workspace import Workspace
from sitegen.model.job import InspectJob
from sitegen.model.kernel import Implementation, Kernel, Language, Status, Tensor, Workload, Wrong

OUTPUTS = Path(__file__).with_name("tool_outputs")


def output(name: str) -> str:
    return (OUTPUTS / f"{name}.txt").read_text()


@pytest.mark.parametrize(
    ("tool", "function", "text"),
    [
        (
            "memcheck",
            "tri_past",
            "Invalid __global__ write of size 4 bytes at tri_past (past.py:7), "
            "1 bytes after the nearest allocation of size 4,004 bytes",
        ),
        (
            "racecheck",
            "cu_race",
            "Error: Race reported between Write access at cu_race (race.cu:4), "
            "and Read access at cu_race (race.cu:6) [4004 hazards]",
        ),
        ("initcheck", "tri_empty", "Uninitialized __global__ memory read of size 4 bytes at tri_empty (empty.py:7)"),
        ("synccheck", "cu_syncwarp", "Barrier error detected. Invalid arguments. at cu_syncwarp (syncwarp.cu:3)"),
    ],
)
def test_a_finding_says_what_and_where_without_what_differs_from_run_to_run(tool, function, text):
    found = [one for one in findings(output(tool)) if one.functions]
    assert (found[0].text, found[0].functions) == (text, {function})


def test_a_function_of_the_library_is_named_without_its_template():
    (first, *_) = (one for one in findings(output("initcheck_torch")) if one.functions)
    assert first.functions == {"softmax_warp_forward"}


GLUON = """
@gluon.jit
def fast(x, n):
    slot = gl.allocate_shared_memory(gl.int64, [1], LAYOUT)
    slot.store(x)
    gl.warp_specialize([(ours, (slot, n)), (theirs, (slot, n))], [4], [24])

@gluon.jit
def put(slot, x): slot.store(x)
"""
LOOP = """
@triton.jit
def fast(x, n):
    first = tl.load(x)
    for start in tl.range(0, n, warp_specialize=True):
        first += tl.sum(tl.load(x + start))
    tl.store(x, first)
"""


@pytest.mark.parametrize(
    ("lines", "source", "hand_over"),
    [
        ((3, 5), GLUON, False),  # a store of the author beside the reads of the compiler
        ((3, 6), GLUON.replace("gl.warp_specialize", "launch"), False),
        ((3, 9), GLUON, False),  # the author's store in the `def` line of a helper
        ((3, 0), GLUON, False),  # an access without a line
        ((3, 6), GLUON.replace("gl.warp", "done = gl.warp"), True),
        ((3, 6), GLUON, True),
        ((3, 3, 6), GLUON, True),
        ((), GLUON, False),
        ((3, 60), GLUON, False),
        ((6, 3), LOOP, False),  # the access that collides with all others is not the compiler's
        ((0, 3), LOOP, False),
        ((3, 4), LOOP.replace(", warp_specialize=True", ""), False),
        ((3, 5), GLUON + "# In Triton this is warp_specialize=True.", False),
        ((3, 4, 7), LOOP, True),
    ],
)
def test_only_what_the_compiler_hands_to_the_warps_is_no_race(lines, source, hand_over):
    read, *writes = (f"at fast+0x1{n}0" + f" in fast.py:{line}" * bool(line) for n, line in enumerate(lines or (0,)))
    more = "".join(f"=========     and Write access {place} [23 hazards]\n" for place in writes)
    (found, *_) = findings(f"========= Error: Race reported between Read access {read}\n{more}========= \n")
    assert found.functions == {"fast"}
    assert is_hand_over(found, {"kernels/k/fast.py": source, "kernels/k/other.py": ""}) == hand_over


CUDA = """
#include <cuda_bf16.h>
__device__ float helper(float x) { return x; }
extern "C" __global__ void __launch_bounds__(max(32, (THREADS)), 2) rows(const float* x) {}
template <int N>
__global__ __cluster_dims__(2, 1, 1) void
columns(const __grid_constant__ CUtensorMap map, float* y) { helper(1); }
"""
TRITON = """
@triton.autotune(configs=[triton.Config({"B": 1})], key=["n"])
@triton.jit(do_not_specialize=["n"])
def tile(x, n, B: tl.constexpr): ...

def softmax(x, *, out=None): ...

@gluon.jit
def fast(x): ...
"""


def implementation(name: str, suffix: str = "cu") -> Implementation:
    language = Language.CUDA if suffix == "cu" else Language.TRITON
    return Implementation(name, f"kernels/k/{name}.{suffix}", language)


def job(names: dict[str, str], wrong: dict[str, str] | None = None) -> InspectJob:
    """Return a job with these implementations and racing variants, by name with their sources."""
    ours = tuple(implementation(name) for name in names)
    races = tuple(Wrong(implementation(name), Status.RACE) for name in wrong or {})
    kernel = Kernel(
        *("k", "", ("N",), (Tensor("x", ("N",)),), (Tensor("y", ("N",)),), ("float32",)),
        *("N", "4 * N", "4 * N", {"float32": 1e-6}, ({"N": 3},), (Workload("3", {"N": 3}),), (), ours),
        wrong=races,
    )
    return InspectJob("k/tools", kernel, {f"kernels/k/{n}.cu": text for n, text in {**names, **(wrong or {})}.items()})


def test_our_kernels_are_those_that_the_sources_define():
    sources = {"kernels/k/a.cu": CUDA, "kernels/k/b.py": TRITON}
    found = own_kernels(InspectJob("k/tools", job({"a": ""}).kernel, sources))
    assert found == {"rows", "columns", "tile", "fast"}


def looked(monkeypatch, tmp_path, job: InspectJob, **printed: list[ToolRun]):
    """Return the results when the tools print these outputs; a tool without an output finds nothing."""
    names = [*(one.name for one in job.kernel.implementations), *(w.implementation.name for w in job.kernel.wrong)]
    clean = "".join(f"@@sitegen begin {n}\n@@sitegen end {n}\n" for n in range(len(names)))

    def run_calls(tool, names, folder, first_unreliable):
        runs = []
        for run in printed.get(tool.name, [ToolRun(0, tuple(names), clean)]):
            runs.append(run)
            if first_unreliable(run) is None:
                break
        return runs

    monkeypatch.setattr(sanitizer, "find_tool", lambda name: name)
    monkeypatch.setattr(sanitizer, "run_calls", run_calls)
    found, problems = sanitize(job, Workspace(tmp_path, tmp_path / "job.json", gpu=True))
    return {one.name: one for one in found}, problems


def tool_run(number: int, log: str, why: str = "") -> ToolRun:
    return ToolRun(number, (), log, why)


def kernel_of(name: str) -> str:
    return f'extern "C" __global__ void {name}(float* x) {{}}'


def several(*kernels: str) -> dict[str, str]:
    """Return an implementation for each kernel in a tool's output, in that order."""
    return {f"v{number}": kernel_of(name) for number, name in enumerate(kernels)}


PLANTED = several("tri_good", "tri_past", "cu_last")
READS = several("tri_good", "tri_past", "cu_reads_past", "cu_shared", "tri_empty", "cu_syncwarp")


def test_clean_implementations_have_an_empty_text_for_each_tool(monkeypatch, tmp_path):
    found, problems = looked(monkeypatch, tmp_path, job(PLANTED))
    assert problems == ()
    assert {one.status for one in found.values()} == {Status.PASSED}
    assert found["v0"].findings == dict.fromkeys(("memcheck", "racecheck", "synccheck", "initcheck"), "")


def test_a_write_past_the_end_is_out_of_bounds_and_those_after_it_are_looked_at_in_a_fresh_process(
    monkeypatch, tmp_path
):
    first = tool_run(0, output("memcheck"), "the process ended with 1")
    second = tool_run(1, "@@sitegen begin 2\n@@sitegen end 2\n")
    found, problems = looked(monkeypatch, tmp_path, job(PLANTED), memcheck=[first, second])
    assert problems == ()
    assert [one.status for one in found.values()] == [Status.PASSED, Status.OUT_OF_BOUNDS, Status.PASSED]
    assert found["v2"].findings["memcheck"] == "", "the lost context was not its fault"
    assert "past.py:7" in found["v1"].findings["memcheck"]


def test_a_race_in_a_wrong_variant_is_told_apart(monkeypatch, tmp_path):
    thirteen = job(several(*(f"k{n}" for n in range(13))), {"race": kernel_of("cu_race")})
    found, _ = looked(monkeypatch, tmp_path, thirteen, racecheck=[tool_run(0, output("racecheck"))])
    assert (found["race"].status, found["race"].wrong) == (Status.RACE, True)
    assert (found["v12"].status, found["v12"].wrong) == (Status.PASSED, False)


def test_reading_what_nobody_wrote_is_incorrect_and_whoever_came_after_it_is_not_judged(monkeypatch, tmp_path):
    log = tool_run(0, output("initcheck"), "the process ended with 1")
    found, problems = looked(monkeypatch, tmp_path, job(READS), initcheck=[log])
    assert [one.status for one in found.values()] == [*[Status.PASSED] * 4, Status.INCORRECT, Status.PASSED]
    assert "initcheck" not in found["v5"].findings and problems == ()


def test_a_barrier_that_not_all_can_reach_is_a_race(monkeypatch, tmp_path):
    log = tool_run(0, output("synccheck"), "the process ended with 1")
    found, _ = looked(monkeypatch, tmp_path, job(READS), synccheck=[log])
    assert found["v5"].status is Status.RACE and found["v4"].status is Status.PASSED


def test_findings_in_kernels_that_are_not_ours_are_dropped(monkeypatch, tmp_path):
    log = output("initcheck_torch") + "@@sitegen end 0\n"
    found, _ = looked(monkeypatch, tmp_path, job(several("tri_good")), initcheck=[tool_run(0, log)])
    assert (found["v0"].status, found["v0"].findings["initcheck"]) == (Status.PASSED, "")


def test_initcheck_is_not_believed_where_the_copy_engine_writes(monkeypatch, tmp_path):
    store = 'asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;");'
    bulk = {**READS, "v4": READS["v4"] + store}
    found, problems = looked(monkeypatch, tmp_path, job(bulk), initcheck=[tool_run(0, output("initcheck"))])
    assert found["v4"].status is Status.PASSED and "initcheck" not in found["v4"].findings
    assert problems == ("initcheck cannot judge v4: it does not see what the bulk copy engine writes",)


def test_who_could_not_be_called_has_no_entry_and_is_named_once(monkeypatch, tmp_path):
    failed = tool_run(
        0, "@@sitegen begin 0\n@@sitegen failed 0 compile_error: no\n@@sitegen begin 1\n@@sitegen end 1\n"
    )
    found, problems = looked(monkeypatch, tmp_path, job({"a": "", "b": ""}), memcheck=[failed])
    assert "memcheck" not in found["a"].findings and found["b"].findings["memcheck"] == ""
    assert problems == ("memcheck could not check a: compile_error: no",)


def test_what_this_gpu_does_not_offer_is_no_problem(monkeypatch, tmp_path):
    log = "@@sitegen begin 0\n@@sitegen failed 0 unsupported: needs >=sm_100\n"
    found, problems = looked(monkeypatch, tmp_path, job({"a": ""}), memcheck=[tool_run(0, log)])
    assert problems == () and "memcheck" not in found["a"].findings


def test_a_tool_that_never_starts_is_a_warning(monkeypatch, tmp_path):
    dead = [tool_run(0, "no such device\n", "the process ended with 255")]
    found, problems = looked(monkeypatch, tmp_path, job({"a": ""}), synccheck=dead)
    assert problems == ("synccheck could not run: the process ended with 255",)
    assert set(found["a"].findings) == {"memcheck", "racecheck", "initcheck"}


def test_a_machine_without_the_tool_finds_nothing_and_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(sanitizer, "find_tool", lambda name: None)
    found, problems = sanitize(job({"a": ""}), Workspace(tmp_path, tmp_path / "job.json", gpu=True))
    assert found == () and problems == ("no findings: compute-sanitizer is not installed here",)


def test_only_racecheck_leaves_out_the_lines_of_the_hand_over(monkeypatch, tmp_path):
    specialised = {"v0": "@gluon.jit\ndef v0(): gl.warp_specialize([(ours, (gl.load(x),))], [], [])\n"}
    place = "at v0+0x10 in v0.cu:2"
    for tool, line, status in (
        ("memcheck", f"Invalid __global__ read of size 4 bytes\n=========     {place}", Status.OUT_OF_BOUNDS),
        ("racecheck", f"Error: Race reported between Read access {place}", Status.PASSED),
    ):
        log = f"@@sitegen begin 0\n========= {line}\n========= \n@@sitegen end 0\n"
        found, _ = looked(monkeypatch, tmp_path, job(specialised), **{tool: [tool_run(0, log)]})
        assert found["v0"].status == status
