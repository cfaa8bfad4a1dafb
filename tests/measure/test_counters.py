"""Output of ncu is read; tool_outputs/ holds rows that it wrote on an H200."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sitegen.measure import counters
from sitegen.measure.counters import METRICS, count, ncu_command, rows_by_range
from sitegen.measure.tool_runs import ToolRun
from sitegen.measure.workspace import Workspace
from sitegen.model.job import InspectJob
from sitegen.model.kernel import Implementation, Kernel, Language, Tensor, Workload

OUTPUTS = Path(__file__).with_name("tool_outputs")
BYTES, OPERATIONS = ((OUTPUTS / f"ncu_{name}.csv").read_text() for name in ("bytes", "operations"))
"""Tables that ncu wrote of the known amounts and of calls 6, 7 and 8, which launch one, two and three kernels."""

KERNEL = Kernel(
    *("rows", "", ("M", "N"), (Tensor("x", ("M", "N")),), (Tensor("y", ("M", "N")),), ("float32",)),
    *("M * N", "M * N * itemsize", "M * N * itemsize", {"float32": 1e-6}, ({"M": 3, "N": 5},)),
    *((Workload("8192x8192", {"M": 8192, "N": 8192}),), ("torch",)),
    implementations=tuple(Implementation(f"v{n}", f"kernels/rows/v{n}.py", Language.TRITON) for n in range(8)),
)
PRODUCT = replace(KERNEL, flops="1024 * M * N")


def log(*numbers: int) -> str:
    return "".join(f"@@sitegen begin {n}\n@@sitegen end {n}\n" for n in numbers)


def counted(monkeypatch, tmp_path, *, kernel=KERNEL, table=BYTES, operations=OPERATIONS, runs=None, ncu="ncu"):
    """Return the counters that result when ncu writes these tables."""

    def run_calls(tool, names, folder):
        (tmp_path / f"{tool.name}-0.csv").write_text(table if tool.name == "ncu-bytes" else operations)
        return runs or [ToolRun(0, (), log(6, 7, 8))]

    monkeypatch.setattr(counters, "find_tool", lambda name: ncu)
    monkeypatch.setattr(counters, "run_calls", run_calls)
    found, problems = count(
        InspectJob("rows/tools", kernel, {}, ({},)), Workspace(tmp_path, tmp_path / "job", gpu=True)
    )
    return {one.name: one for one in found}, problems


def test_a_call_is_the_sum_of_its_kernels(monkeypatch, tmp_path):
    found, problems = counted(monkeypatch, tmp_path)
    assert problems == () and set(found) == {"v6", "v7", "torch"}
    two = found["v7"].counters
    assert two.dram_read_bytes == 276_834_304 + 268_447_744
    assert two.dram_written_bytes == 278_875_648 + 265_026_816
    assert two.duration_us == pytest.approx(163.040 + 126.464)
    assert two.sm_cycles == 321_376 + 246_828
    assert (two.tensor_flops, two.fp32_flops) == (None, None)


def test_a_copy_of_known_size_says_that_the_counters_are_right(monkeypatch, tmp_path):
    found, _ = counted(monkeypatch, tmp_path)
    (share,) = found["v6"].counters.calibration.values()
    assert share == pytest.approx((536_884_736 + 535_298_304) / 2**30)
    assert found["v6"].counters.valid


def test_operations_of_a_matrix_kernel_are_counted_too_beside_a_known_product(monkeypatch, tmp_path):
    found, _ = counted(monkeypatch, tmp_path, kernel=PRODUCT)
    cores, tensor = found["v6"].counters, found["v7"].counters
    assert (cores.tensor_flops, cores.fp32_flops) == (0.0, 2 * 68_736_253_952)
    assert (tensor.tensor_flops, tensor.fp32_flops) == (2 * 4096**3, 2 * 16_777_216 + 152_064)
    assert tensor.calibration["matrix flops"] == 1.0 and tensor.valid


def test_counters_beside_nothing_known_are_not_valid(monkeypatch, tmp_path):
    without = "\n".join(line for line in BYTES.splitlines() if "known" not in line)
    found, _ = counted(monkeypatch, tmp_path, table=without)
    assert found["v6"].counters.calibration == {} and not found["v6"].counters.valid


def test_tensor_counters_that_read_nothing_of_a_product_make_all_invalid(monkeypatch, tmp_path):
    nothing = OPERATIONS.replace("137,438,953,472", "0")
    found, _ = counted(monkeypatch, tmp_path, kernel=PRODUCT, operations=nothing)
    assert not found["v6"].counters.valid


def test_who_launches_no_kernel_is_left_out_with_a_warning(monkeypatch, tmp_path):
    found, problems = counted(monkeypatch, tmp_path, runs=[ToolRun(0, (), log(5, 6))])
    assert set(found) == {"v6"}
    assert problems == ("v5@8192x8192:float32 was not counted: it launches no kernel, and only kernels have counters",)


def test_who_fails_is_left_out_and_the_others_stay(monkeypatch, tmp_path):
    failing = log(6) + "@@sitegen begin 7\n@@sitegen failed 7 out_of_memory: too much\n" + log(8)
    found, problems = counted(monkeypatch, tmp_path, runs=[ToolRun(0, (), failing)])
    assert set(found) == {"v6", "torch"}
    assert problems == ("v7@8192x8192:float32 was not counted: out_of_memory: too much",)


def test_a_call_that_did_not_come_to_its_end_is_not_counted(monkeypatch, tmp_path):
    died = ToolRun(0, (), log(6) + "@@sitegen begin 8\n", "the process ended with 9")
    found, problems = counted(monkeypatch, tmp_path, runs=[died])
    assert set(found) == {"v6"}
    assert problems == ("torch@8192x8192:float32 was not counted: the process ended with 9",)


@pytest.mark.parametrize("no_number", ["nan", "n/a", ""])
def test_a_counter_without_a_number_leaves_its_call_out(monkeypatch, tmp_path, no_number):
    found, problems = counted(monkeypatch, tmp_path, table=BYTES.replace("268,443,904", no_number))
    assert set(found) == {"v6", "v7"}
    assert problems == ("torch@8192x8192:float32 was not counted: a counter gave no number",)


def test_counters_that_may_not_be_read_are_one_warning(monkeypatch, tmp_path):
    words = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters\n"
    found, (problem,) = counted(monkeypatch, tmp_path, table=words)
    assert found == {} and problem.startswith("no counters: ERR_NVGPUCTRPERM")


def test_a_machine_without_ncu_counts_nothing_and_says_so(monkeypatch, tmp_path):
    found, problems = counted(monkeypatch, tmp_path, ncu=None)
    assert found == {} and problems == ("no counters: ncu is not installed here",)


def test_lines_that_are_no_table_and_ranges_that_are_not_ours_are_passed_over():
    other = BYTES.replace("sitegen 7", "somebody's 7")
    assert set(rows_by_range(other)) == {"known", "6", "8"}
    assert rows_by_range("==PROF== Connected to process 1\n") == {}


def test_clocks_and_caches_are_left_alone():
    command = " ".join(ncu_command("ncu", METRICS["bytes"], Path("t.csv")))
    assert "--clock-control none" in command and "--cache-control none" in command
