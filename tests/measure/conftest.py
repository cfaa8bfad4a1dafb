"""Run jobs through the public entry point, in a process, as `execute/` runs them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sitegen.model.job import JobResult
from sitegen.model.plain import from_plain, to_plain

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def add_kernel() -> ModuleType:
    """The module add_kernel.py beside this file, with small kernels, right and wrong."""
    spec = importlib.util.spec_from_file_location("add_kernel", Path(__file__).with_name("add_kernel.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def measure(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Any], JobResult]:
    """Return the result of a job from `python -m sitegen.measure`."""

    def run(job: Any) -> JobResult:
        folder = tmp_path_factory.mktemp("job")
        (folder / "job.json").write_text(json.dumps(to_plain(job)))
        command = [sys.executable, "-m", "sitegen.measure", str(folder / "job.json"), str(folder / "result.json")]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return from_plain(JobResult, json.loads((folder / "result.json").read_text()))

    return run
