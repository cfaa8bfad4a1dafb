"""`sitegen doctor` says what works here, and how to get what does not."""

from click.testing import CliRunner

from sitegen.cli import main
from sitegen.measure.doctor import Finding, works_all_the_same


def found(*names: str) -> list[Finding]:
    return [Finding(name, True, "") for name in names]


def test_a_machine_with_nothing_still_builds() -> None:
    (only,) = works_all_the_same([Finding("GPU", False, "none"), Finding("torch", False, "pip install torch")])
    assert "`build`" in only


def test_without_a_gpu_the_interpreter_checks() -> None:
    assert "interpreter, without times" in works_all_the_same(found("torch", "triton", "numpy"))[1]


def test_cuda_kernels_are_measured_only_with_cuda_core() -> None:
    machine = ("GPU", "torch", "triton", "numpy")
    assert not any("CUDA" in line for line in works_all_the_same(found(*machine)))
    assert any("CUDA" in line for line in works_all_the_same(found(*machine, "cuda-core")))


def test_a_missing_tool_comes_with_a_way_to_get_it(monkeypatch) -> None:
    monkeypatch.setenv("PATH", "")
    ended = CliRunner().invoke(main, ["doctor"])
    assert ended.exit_code == 0
    (line,) = [line for line in ended.output.splitlines() if " nvcc " in line]
    assert line.startswith("missing") and "install the CUDA toolkit" in line
