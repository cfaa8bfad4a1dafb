"""A file that includes CuTe is compiled with the headers of a package that is found and not imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.measure import cutlass
from sitegen.measure.compile import CompileError, compile_device, compile_host_device_code
from sitegen.measure.cutlass import header_folders, missing_headers, needs_cutlass
from sitegen.measure.program_parts.cutlass_headers import cutlass_headers

HEADER = """#pragma once
#include <cuda/std/here>
#include <cccl/cuda/std/here>
constexpr int lanes() { return 32; }
"""
SOURCE = """#include <cute/tensor.hpp>
extern "C" __global__ void fill(int* out) { out[threadIdx.x] = lanes(); }
"""


@pytest.fixture
def without_headers(monkeypatch):
    """Hide the packages and the toolkit of this machine."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(cutlass, "TOOLKIT", Path("/nowhere"))


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Put a CUTLASS that cannot be imported, and a CCCL, on the path of modules."""
    monkeypatch.setattr(cutlass, "TOOLKIT", Path("/nowhere"))
    write(tmp_path / "cutlass_library/__init__.py", "raise ImportError('its dependencies are absent')\n")
    write(tmp_path / "cutlass_library/source/include/cute/tensor.hpp", HEADER)
    write(tmp_path / "nvidia/cu13/include/cccl/cuda/std/here", "")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def compiled(folder: Path, source: str):
    return compile_device(write(folder / "fill.cu", source), "fill", "sm_90a", (), [])


@pytest.mark.parametrize(
    ("line", "needs"),
    [
        ("#include <cute/tensor.hpp>", True),
        ('  #  include "cutlass/cutlass.h"', True),
        ("// #include <cute/tensor.hpp>", False),
        ("#include <cuda/std/array>", False),
        ("#include <execute/cute/tensor.hpp>", False),
    ],
)
def test_only_an_include_of_cutlass_needs_its_headers(line, needs):
    assert needs_cutlass(f"int a;\n{line}\n") is needs


def test_a_file_without_cutlass_gets_no_folder_and_misses_nothing(packages):
    assert header_folders("#include <cuda_bf16.h>") == []
    assert missing_headers("#include <cuda_bf16.h>") == ""


def test_the_message_names_the_package_that_is_missing(without_headers, packages, tmp_path, monkeypatch):
    assert "pip install --no-deps nvidia-cutlass==4.2.0.0" in missing_headers(SOURCE)
    with pytest.raises(CompileError, match=r"fill\.cu: it includes CuTe"):
        compiled(tmp_path, SOURCE)


def test_the_message_names_cccl_where_only_that_is_missing(packages, monkeypatch):
    monkeypatch.setattr(cutlass, "_cccl", lambda: None)
    assert "nvidia-cuda-cccl==13.0.85" in missing_headers(SOURCE)
    assert header_folders(SOURCE) == []


def test_a_file_with_host_code_says_the_same(without_headers, tmp_path):
    file = write(tmp_path / "fill.cu", SOURCE)
    with pytest.raises(CompileError, match="nvidia-cutlass"):
        compile_host_device_code(file, tmp_path / "fill.cubin", "sm_90a", (), [])


@pytest.mark.nvrtc
def test_a_file_that_includes_cute_compiles_and_its_functions_are_device_code(packages):
    assert header_folders(SOURCE)[0] == packages / "cutlass_library/source/include"
    code = compiled(packages, SOURCE)
    assert b"fill" in code.ptx
    assert code.flags.endswith("-default-device")


@pytest.mark.nvrtc
def test_the_flags_of_a_file_without_cute_stay_as_they_were(tmp_path):
    code = compiled(tmp_path, SOURCE.replace("#include <cute/tensor.hpp>", "").replace("lanes()", "32"))
    assert "-default-device" not in code.flags


def test_a_downloaded_program_looks_for_the_headers_only_where_its_source_includes_cute(packages):
    assert cutlass_headers("#include <cuda_bf16.h>") == []
    cccl = packages / "nvidia/cu13/include"
    assert cutlass_headers(SOURCE) == [packages / "cutlass_library/source/include", cccl, cccl / "cccl"]


def test_a_downloaded_program_ends_with_the_name_of_the_package_that_is_missing(without_headers, capsys):
    with pytest.raises(SystemExit, match="2"):
        cutlass_headers(SOURCE)
    assert "pip install --no-deps nvidia-cutlass==4.2.0.0" in capsys.readouterr().out
