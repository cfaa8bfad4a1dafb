"""The command `python -m sitegen.measure`: its usage, and the modules that the parent must never load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHOUT = "import sys; sys.modules.update(dict.fromkeys(['torch', 'triton', 'cuda', 'numpy', 'pydantic', 'yaml']));"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_the_parent_needs_neither_torch_nor_cuda_nor_anything_but_python():
    done = run("-c", f"{WITHOUT} import sitegen.measure.__main__, sitegen.measure.child")
    assert (done.returncode, done.stderr) == (0, "")


def test_without_its_two_files_it_says_how_it_is_called():
    done = run("-m", "sitegen.measure", "job.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: python -m sitegen.measure [--wait] JOB.json RESULT.json")


@pytest.mark.parametrize("text", [None, "{", "[1"])
def test_a_job_that_cannot_be_read_is_wrong_usage(tmp_path, text):
    job = tmp_path / "job.json"
    if text is not None:
        job.write_text(text)
    options = ["--wait"] if text else []
    done = run("-m", "sitegen.measure", *options, str(job), str(tmp_path / "result.json"))
    assert done.returncode == 2
    assert str(job) in done.stderr
    assert not (tmp_path / "result.json").exists()
