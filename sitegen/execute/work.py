"""Run a job, given as plain JSON, in a worker on the machine with the GPU, and return its result as plain JSON.

Each worker has one GPU, whose ceilings it measures before its first job of a run: an evaluation is judged by the
ceilings of the GPU that timed it.  The code under test never runs in this process, because a fault of the GPU would
kill the worker.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sitegen.execute.guard import LATE
from sitegen.model.job import JOB_SCHEMA
from sitegen.model.variables import passed_on
from sitegen.write.user_folders import cache_folder

PACKAGE_ROOT = Path(__file__).parents[2]
BASE_S, EACH_S = 300.0, 180.0
"""Deadline of a job in seconds: a base, and more for each implementation, baseline and variant.  measure/ has its own,
tighter deadlines for compiling, launching and timing."""
LAST_CHARACTERS = 1500
"""Characters of the log that a failure shows."""
_measured_runs: set[str] = set()
"""Runs for which this worker has measured the ceilings of its GPU."""


def with_ceilings(spec: Mapping[str, Any], ceilings: Sequence[Mapping[str, Any]], run: str) -> dict[str, Any]:
    """Return a job for `run_with_ceilings`, with the jobs that measure ceilings; no other run has the name `run`."""
    return {"id": spec["id"], "kind": spec["kind"], "job": spec, "ceilings": ceilings, "run": run}


def run_with_ceilings(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a job in `results`, behind the ceilings of this GPU when it is the worker's first job."""
    first = [] if spec["run"] in _measured_runs else spec["ceilings"]
    _measured_runs.add(spec["run"])
    results = [run_job(one) for one in (*first, spec["job"])]
    return {**failure(spec, results[-1].get("error", "")), "results": results}


def run_job(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JobResult as plain JSON.  A job that fails as a whole says why in `error`, and nothing is raised."""
    if spec["kind"] == "notebook":
        from sitegen.execute.notebook import run_notebook_spec  # Jupyter is needed only for posts with cells

        return run_notebook_spec(spec)
    with tempfile.TemporaryDirectory(prefix="sitegen-") as folder:
        return run_measure(spec, Path(folder), deadline_s(spec))


def failure(spec: Mapping[str, Any], error: str) -> dict[str, Any]:
    """Return the result of a job that failed as a whole."""
    return {"schema": JOB_SCHEMA, "id": spec["id"], "kind": spec["kind"], "error": error}


def deadline_s(spec: Mapping[str, Any]) -> float:
    """Return the deadline of a job in seconds."""
    kernel = spec.get("kernel", {})
    several = [*kernel.get("implementations", ()), *kernel.get("baselines", ()), *kernel.get("wrong", ())]
    return BASE_S + EACH_S * len(several)


def run_measure(spec: Mapping[str, Any], folder: Path, seconds: float) -> dict[str, Any]:
    """Run `python -m sitegen.measure` in a fresh folder, and return its result.

    The folder is also that for temporary files, in which compilers and tools leave theirs.  The process and its
    children end with this one.
    """
    job, result, log = folder / "job.json", folder / "result.json", folder / "log"
    job.write_text(json.dumps(spec), encoding="utf-8")
    guard = [sys.executable, "-m", "sitegen.execute.guard", str(seconds), str(folder)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*guard, sys.executable, "-m", "sitegen.measure", str(job), str(result)],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=kept_code()
            | passed_on(os.environ)
            | {"PYTHONPATH": _python_path(), "TMPDIR": str(folder)}
            | compiled_modules(),
            start_new_session=True,
        )
        with process:
            status = process.wait()
    if status == 0 and result.exists():
        data: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
        return data
    return failure(spec, _cause_of_failure(status, seconds, log).replace(str(folder), "…"))


def _python_path() -> str:
    """Return PYTHONPATH with this package first, so that the child imports it also when it is not installed."""
    return os.pathsep.join(filter(None, [str(PACKAGE_ROOT), os.environ.get("PYTHONPATH", "")]))


def compiled_modules() -> dict[str, str]:
    """Return variables for a cache of compiled Python modules, where torch has none and none may be written beside it.

    Many images are like that.  Importing torch then takes every process of a job 10 s instead of 3 s
    (tests/gpu/start_costs.py).
    """
    torch = importlib.util.find_spec("torch")
    if not sys.dont_write_bytecode or torch is None or torch.cached is None or Path(torch.cached).exists():
        return {}
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(cache_folder() / "sitegen" / "modules")}


def kept_code() -> dict[str, str]:
    """Return variables for folders that keep compiled GPU code between jobs, unless the user has set others.

    The folder for temporary files is a new one for each job.  Without these variables every job would compile the same
    code again; Triton keeps its own.
    """
    folder = cache_folder() / "sitegen"
    return {"SITEGEN_KEPT_CODE": str(folder / "cubins"), "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor")}


def _cause_of_failure(status: int, seconds: float, log: Path) -> str:
    if status == LATE:
        return f"the job took more than {seconds:.0f} s"
    words = log.read_text(encoding="utf-8", errors="replace")[-LAST_CHARACTERS:].strip()
    return f"sitegen.measure ended with status {status}" + (f":\n{words}" if words else "")
