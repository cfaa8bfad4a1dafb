"""A list of calls → the output of one of NVIDIA's tools for each call, from as many processes as it takes.

tool_target.py is the program that the tool watches.  It prints which call it begins and how that call ended.  A call
that kills the process or hangs costs only itself: the program is started again for the calls after it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sitegen.measure.process import end_group, spawn
from sitegen.model.kernel import Status

MARK = "@@sitegen"
"""Beginning of each line that the program prints for its parent."""
FINISHED = f"{MARK} finished"
SILENCE_S = 120.0
"""Seconds without a line of the program after which it counts as hanging; a compiler may be silent almost as long."""
_PROGRESS = re.compile(rf"^{MARK} (begin|end|failed) (\d+) ?(.*)$", re.M)
_ENVIRONMENT = {"TRITON_INTERPRET": "0", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
"""Kernels are compiled, and only by the process that the tool watches."""
_FOLDERS = ("/usr/local/cuda/bin", "/opt/nvidia/nsight-compute/*")
_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One process under a tool: the calls that it was given, and all that the program and the tool printed."""

    number: int
    calls: tuple[int, ...]
    log: str
    why: str = ""
    """Why the process ended early; empty when it finished."""

    @property
    def begun(self) -> list[int]:
        """Calls that were begun."""
        return [int(number) for word, number, _ in _PROGRESS.findall(self.log) if word == "begin"]

    @property
    def ended(self) -> list[int]:
        """Calls that succeeded, and after which the process went on."""
        return [int(number) for word, number, _ in _PROGRESS.findall(self.log) if word == "end"]

    @property
    def failed(self) -> dict[int, str]:
        """Why each failed call failed: its own error, or the end of the process.

        A call that this GPU does not offer has not failed.
        """
        died = {} if self.fatal_call is None else {self.fatal_call: self.why}
        errors = {int(number): text for word, number, text in _PROGRESS.findall(self.log) if word == "failed"}
        return {number: text for number, text in {**died, **errors}.items() if not text.startswith(Status.UNSUPPORTED)}

    @property
    def fatal_call(self) -> int | None:
        """The call during which the process ended; None when it ended at no call."""
        return self.begun[-1] if self.why and self.begun and self.begun[-1] not in self.ended else None

    def sections(self) -> dict[int, str]:
        """Return the output of each call: from its beginning to the beginning of the next."""
        starts = [(int(m[2]), m.start()) for m in _PROGRESS.finditer(self.log) if m[1] == "begin"]
        ends = [*(start for _, start in starts[1:]), len(self.log)]
        return {number: self.log[start:end] for (number, start), end in zip(starts, ends, strict=False)}


@dataclass(frozen=True, slots=True)
class ToolCommand:
    """Command line and environment that start the program under a tool."""

    name: str
    command: Callable[[int], list[str]]
    """The words before the program's own, by the number of the run."""
    program: Sequence[str]
    """Python's arguments, without the numbers of the calls."""
    environment: Mapping[str, str] = field(default_factory=dict)
    silence_s: float = SILENCE_S


def find_tool(name: str) -> str | None:
    """Return the path of a tool, also of one that the CUDA toolkit installed outside of PATH; None without it."""
    folders = [str(path) for place in _FOLDERS for path in sorted(Path("/").glob(place[1:]), reverse=True)]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(folders))


def run_calls(
    tool: ToolCommand,
    names: Mapping[int, str],
    folder: Path,
    first_unreliable: Callable[[ToolRun], int | None] = lambda run: run.fatal_call,
) -> list[ToolRun]:
    """Make every call, in as many processes as it takes; `names` maps each call to its implementation or baseline.

    `first_unreliable` returns the call from which the output of a process cannot be used, or None.  The calls after it
    are made in another process, without further calls of the same name.
    """
    left, runs = list(names), list[ToolRun]()
    while left:
        run = _run_once(tool, len(runs), left, folder)
        runs.append(run)
        if (last := first_unreliable(run)) is None:
            break
        after = left[left.index(last) + 1 :]
        left = [number for number in after if names[number] != names[last]]
    return runs


def _run_once(tool: ToolCommand, number: int, calls: Sequence[int], folder: Path) -> ToolRun:
    log = folder / f"{tool.name}-{number}.log"
    command = [*tool.command(number), sys.executable, *tool.program, ",".join(map(str, calls))]
    process = spawn(command, folder, log, {**_ENVIRONMENT, **tool.environment})
    try:
        why = _wait(process, log, tool.silence_s)
    finally:
        end_group(process)
    text = _read(log)
    return ToolRun(number, tuple(calls), text, "" if FINISHED in text else why)


def _wait(process: subprocess.Popen[bytes], log: Path, silence_s: float) -> str:
    """Wait until the process ends, or prints no progress for so long; return which of both in words."""
    lines, since = 0, time.monotonic()
    while process.poll() is None:
        count = _read(log).count(MARK)
        if count > lines:
            lines, since = count, time.monotonic()
        if time.monotonic() - since > silence_s:
            return f"the process printed nothing for {silence_s:.0f} s"
        time.sleep(_POLL_S)
    return f"the process ended with {process.returncode}"


def _read(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")
