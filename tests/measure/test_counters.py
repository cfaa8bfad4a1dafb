"""What ncu lists, read; tool_outputs/ holds rows that it wrote on an H200."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sitegen.measure import counters
from sitegen.measure.counters import METRICS, count, ncu_command, rows_by_range
from sitegen.measure.stage import Stage
from sitegen.measure.tool import Passage
from sitegen.model.job import InspectJob
from sitegen.model.kernel import Implementation, Kernel, Language, Tensor, Workload

OUTPUTS = Path(__file__).with_name("tool_outputs")
BYTES, OPERATIONS = ((OUTPUTS / f"ncu_{name}.csv").read_text() for name in ("bytes", "operations"))
"""Of what is known, of call 0, and of call 2, which in the first launches two kernels."""

KERNEL = Kernel(
    *("rows", "", ("M", "N"), (Tensor("x", ("M", "N")),), (Tensor("y", ("M", "N")),), ("float32",)),
    *("M * N", "M * N * itemsize", "M * N * itemsize", {"float32": 1e-6}, ({"M": 3, "N": 5},)),
    *((Workload("8192x8192", {"M": 8192, "N": 8192}),), ("torch",)),
    implementations=tuple(Implementation(n, f"kernels/rows/{n}.py", Language.TRITON) for n in ("a", "b")),
)
PRODUCT = replace(KERNEL, flops="1024 * M * N")


def log(*numbers: int) -> str:
    return "".join(f"@@sitegen begin {n}\n@@sitegen end {n}\n" for n in numbers)


def counted(monkeypatch, tmp_path, *, kernel=KERNEL, table=BYTES, operations=OPERATIONS, passages=None, ncu="ncu"):
    """What is made of it when ncu writes these tables."""

    def go_through(tool, names, folder):
        (tmp_path / f"{tool.name}-0.csv").write_text(table if tool.name == "ncu-bytes" else operations)
        return passages or [Passage(0, (0, 1, 2), log(0, 1, 2))]

    monkeypatch.setattr(counters, "find_tool", lambda name: ncu)
    monkeypatch.setattr(counters, "go_through", go_through)
    found, problems = count(InspectJob("rows/tools", kernel, {}, ({},)), Stage(tmp_path, tmp_path / "job", gpu=True))
    return {one.name: one for one in found}, problems


def test_a_call_is_the_sum_of_its_kernels(monkeypatch, tmp_path):
    found, _ = counted(monkeypatch, tmp_path)
    torch = found["torch"].counters
    assert torch.dram_read_bytes == 134_222_336 + 134_222_080
    assert torch.dram_written_bytes == 133_990_912 + 133_189_632
    assert torch.duration_us == pytest.approx(65.728 + 64.352)
    assert torch.sm_cycles == 129_780 + 127_154
    assert (torch.tensor_flops, torch.fp32_flops) == (None, None)


def test_a_copy_of_known_size_says_that_the_counters_are_right(monkeypatch, tmp_path):
    found, _ = counted(monkeypatch, tmp_path)
    (share,) = found["a"].counters.calibration.values()
    assert share == pytest.approx((536_892_672 + 536_342_272) / 2**30)
    assert found["a"].counters.valid


def test_operations_of_a_matrix_kernel_are_counted_too_beside_a_known_product(monkeypatch, tmp_path):
    found, _ = counted(monkeypatch, tmp_path, kernel=PRODUCT)
    a, torch = found["a"].counters, found["torch"].counters
    assert (a.tensor_flops, a.fp32_flops) == (0.0, 2 * 68_736_253_952)
    assert (torch.tensor_flops, torch.fp32_flops) == (2 * 4096**3, 2 * 16_777_216 + 152_064)
    assert a.calibration["matrix flops"] == 1.0 and a.valid


def test_counters_beside_nothing_known_are_not_valid(monkeypatch, tmp_path):
    without = "\n".join(line for line in BYTES.splitlines() if "known" not in line)
    found, _ = counted(monkeypatch, tmp_path, table=without)
    assert found["a"].counters.calibration == {} and not found["a"].counters.valid


def test_tensor_counters_that_read_nothing_of_a_product_make_all_invalid(monkeypatch, tmp_path):
    found, _ = counted(monkeypatch, tmp_path, kernel=PRODUCT, operations=OPERATIONS.replace("137,438,953,472", "0"))
    assert not found["a"].counters.valid


def test_who_launches_no_kernel_is_left_out_with_a_warning(monkeypatch, tmp_path):
    found, problems = counted(monkeypatch, tmp_path)
    assert set(found) == {"a", "torch"}
    assert problems == (
        "b@8192x8192:float32 was not counted: it launches no kernel, and the copy engine has no counters",
    )


def test_who_fails_is_left_out_and_the_others_stay(monkeypatch, tmp_path):
    failing = log(0) + "@@sitegen begin 1\n@@sitegen failed 1 out_of_memory: too much\n" + log(2)
    found, problems = counted(monkeypatch, tmp_path, passages=[Passage(0, (0, 1, 2), failing)])
    assert set(found) == {"a", "torch"}
    assert problems == ("b@8192x8192:float32 was not counted: out_of_memory: too much",)


def test_a_call_that_did_not_come_to_its_end_is_not_counted(monkeypatch, tmp_path):
    died = Passage(0, (0, 1, 2), log(0) + "@@sitegen begin 2\n", "the process ended with 9")
    found, problems = counted(monkeypatch, tmp_path, passages=[died])
    assert set(found) == {"a"}
    assert problems == ("torch@8192x8192:float32 was not counted: the process ended with 9",)


@pytest.mark.parametrize("no_number", ["nan", "n/a", ""])
def test_a_counter_without_a_number_leaves_its_call_out(monkeypatch, tmp_path, no_number):
    found, problems = counted(monkeypatch, tmp_path, table=BYTES.replace("268,442,112", no_number))
    assert set(found) == {"torch"}
    assert "a@8192x8192:float32 was not counted: a counter gave no number" in problems


def test_counters_that_may_not_be_read_are_one_warning(monkeypatch, tmp_path):
    words = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters\n"
    found, (problem,) = counted(monkeypatch, tmp_path, table=words)
    assert found == {} and problem.startswith("no counters: ERR_NVGPUCTRPERM")


def test_a_machine_without_ncu_counts_nothing_and_says_so(monkeypatch, tmp_path):
    found, problems = counted(monkeypatch, tmp_path, ncu=None)
    assert found == {} and problems == ("no counters: ncu is not installed here",)


def test_lines_that_are_no_table_and_ranges_that_are_not_ours_are_passed_over():
    other = BYTES.replace("sitegen 0", "somebody's 0")
    assert set(rows_by_range(other)) == {"known", "2"}
    assert rows_by_range("==PROF== Connected to process 1\n") == {}


def test_clocks_and_caches_are_left_alone():
    command = " ".join(ncu_command("ncu", METRICS["bytes"], Path("t.csv")))
    assert "--clock-control none" in command and "--cache-control none" in command
