"""`sitegen doctor` says what works here, and how to get what does not."""

import sysconfig
from pathlib import Path

import pytest
from click.testing import CliRunner

from sitegen.cli import main
from sitegen.measure import doctor
from sitegen.measure.doctor import Finding, bandwidth_text, findings_for_triton, works_all_the_same


def found(*names: str) -> list[Finding]:
    return [Finding(name, True, "") for name in names]


def test_a_machine_with_nothing_still_builds() -> None:
    nothing = [Finding("GPU", False, "none"), Finding("torch", False, "pip install torch")]
    (only,) = works_all_the_same([*found("packages"), *nothing])
    assert "`build`" in only


def test_where_sitegen_is_not_installed_build_is_not_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DISTRIBUTION", "no-such-distribution")
    lines = CliRunner().invoke(main, ["doctor"]).output.splitlines()
    assert any(line.startswith("missing  packages") for line in lines)
    assert not any("`build`" in line for line in lines)


def test_a_copy_is_compared_with_the_datasheet() -> None:
    answer = "2.68e12 NVIDIA H100 80GB HBM3\n"
    assert bandwidth_text(answer, lambda name: 3.35e12) == "2.68 TB/s, 80% of the 3.35 TB/s of its datasheet"
    assert bandwidth_text(answer, lambda name: None) == "2.68 TB/s"


def test_without_a_gpu_the_interpreter_checks() -> None:
    assert "interpreter, without times" in works_all_the_same(found("torch", "triton", "numpy"))[0]


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


@pytest.mark.parametrize(
    ("headers", "compiler", "works"), [("", "cc", False), ("Python.h", "", False), ("Python.h", "cc", True)]
)
def test_on_a_gpu_triton_needs_a_c_compiler_and_the_headers_of_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, headers: str, compiler: str, works: bool
) -> None:
    if headers:
        (tmp_path / headers).touch()
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: str(tmp_path))
    monkeypatch.setattr(doctor, "gpu_memory_bytes", lambda: 1)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CC", compiler)
    (found,) = [one for one in findings_for_triton() if one.name == "C compiler"]
    assert found.works == works and (found.text == "cc") == works
    assert works or found.text.endswith("apt install gcc python3-dev")


def test_without_a_gpu_no_c_compiler_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "gpu_memory_bytes", lambda: 0)
    assert "C compiler" not in [one.name for one in findings_for_triton()]
