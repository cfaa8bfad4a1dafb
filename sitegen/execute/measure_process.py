"""A job as plain JSON → its result as plain JSON, by a process of `python -m sitegen.measure` that may start earlier.

Importing torch takes the fork server of a job 4 s on a machine with an H200.  A worker therefore starts the process of
its next job while the present one is compiled and checked, and the next job begins with everything imported.  The
process and all that it starts end with the worker.  They have limits and no network (sitegen/measure/confinement.py).
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sitegen.execute.guard import LATE
from sitegen.execute.told_rounds import watched
from sitegen.model.job import JOB_SCHEMA, ROUNDS_FILE
from sitegen.model.variables import passed_on
from sitegen.write.user_folders import cache_folder

PACKAGE_ROOT = Path(__file__).parents[2]
CONFINEMENT = PACKAGE_ROOT / "sitegen" / "measure" / "confinement.py"
LOOK_S = 0.01
"""Seconds between two looks for the result of a job."""
LAST_CHARACTERS = 1500
"""Characters of the log that a failure shows."""


class MeasureProcess:
    """A process for one job, in a temporary folder of its own; `end` or `leave` must be called.

    The folder is also that for temporary files, in which compilers and tools leave theirs.
    """

    def __init__(self) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="sitegen-", ignore_cleanup_errors=True)
        self.folder = Path(self._temporary.name)
        self._process: subprocess.Popen[bytes] | None = None

    def start_ahead(self) -> None:
        """Start the process before its job is known, so that it imports torch now."""
        self._process = self._started("--wait")

    @property
    def lives(self) -> bool:
        """True while the process lives: it ends with its job."""
        return self._process is not None and self._process.poll() is None

    def start_job(self, spec: Mapping[str, Any], seconds: float, early: bool = False) -> Callable[[], dict[str, Any]]:
        """Give the process its job, which may take so many seconds; the function that is returned waits for the result.

        With `early` it does not wait until the processes of the job have ended.  A job that fails has a result that
        says why.
        """
        part = self._job.with_suffix(".part")
        part.write_text(json.dumps(spec), encoding="utf-8")
        part.replace(self._job)
        self._process = self._process or self._started()
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):  # the process has ended: its result says why
            self._process.stdin.write(f"{seconds}\n".encode())
            self._process.stdin.flush()
        return partial(self._result_of, spec, seconds, early)

    def _result_of(self, spec: Mapping[str, Any], seconds: float, early: bool) -> dict[str, Any]:
        with watched(self.folder / ROUNDS_FILE):
            status = self._status(early)
        if status == 0 and self._result.exists():
            data: dict[str, Any] = json.loads(self._result.read_text(encoding="utf-8"))
            return data | {"warnings": [*data.get("warnings", ()), *why_open(self._network)]}
        return failure(spec, _cause_of_failure(status, seconds, self._log).replace(str(self.folder), "…"))

    def _status(self, early: bool) -> int:
        """Return the exit status of the process; with `early` 0 as soon as there is a result."""
        assert self._process
        while early and not self._result.exists():
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self._process.wait(LOOK_S)
        return 0 if early else self._process.wait()

    def leave(self) -> None:
        """Let the process end all below it and remove its folder, and do not wait for that."""
        self._let_go()
        self._temporary.cleanup()

    def end(self) -> None:
        """End the process and remove its folder; may be called twice, and after `leave`."""
        self._let_go()
        if self._process:
            self._process.wait()
        self._temporary.cleanup()

    def _let_go(self) -> None:
        """Close the pipe to the guard, which then ends everything below it."""
        if self._process:
            assert self._process.stdin
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def _started(self, *options: str) -> subprocess.Popen[bytes]:
        guard = [sys.executable, "-m", "sitegen.execute.guard", str(self.folder), *confinement(self._network)]
        with self._log.open("wb") as output:
            return subprocess.Popen(
                [*guard, sys.executable, "-m", "sitegen.measure", *options, str(self._job), str(self._result)],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env=kept_code()
                | passed_on(os.environ)
                | {"PYTHONPATH": _python_path(), "TMPDIR": str(self.folder)}
                | compiled_modules(),
                start_new_session=True,
            )

    @property
    def _job(self) -> Path:
        return self.folder / "job.json"

    @property
    def _result(self) -> Path:
        return self.folder / "result.json"

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    @property
    def _network(self) -> Path:
        return self.folder / "network"


def failure(spec: Mapping[str, Any], error: str) -> dict[str, Any]:
    """Return the result of a job that failed as a whole."""
    return {"schema": JOB_SCHEMA, "id": spec["id"], "kind": spec["kind"], "error": error}


def confinement(file: Path) -> list[str]:
    """Return the words in front of a command that give it limits and take its network away.

    Where the network stays, `file` says why afterwards.
    """
    return [sys.executable, "-I", "-S", str(CONFINEMENT), str(file)]


def why_open(file: Path) -> tuple[str, ...]:
    """Return the sentence that a confined command left about the network that it still has; nothing without one."""
    return (file.read_text(encoding="utf-8"),) if file.exists() else ()


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


def _python_path() -> str:
    """Return PYTHONPATH with this package first, so that the child imports it also when it is not installed."""
    return os.pathsep.join(filter(None, [str(PACKAGE_ROOT), os.environ.get("PYTHONPATH", "")]))


def _cause_of_failure(status: int, seconds: float, log: Path) -> str:
    if status == LATE:
        return f"the job took more than {seconds:.0f} s"
    words = log.read_text(encoding="utf-8", errors="replace")[-LAST_CHARACTERS:].strip()
    return f"sitegen.measure ended with status {status}" + (f":\n{words}" if words else "")
