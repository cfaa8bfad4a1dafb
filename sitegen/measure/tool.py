"""A list of calls, gone through under one of NVIDIA's tools → what was said of each, and whoever ended the process.

`under_tools.py` is the program: it says on its output which call it begins and how that ended.  A call that kills the
process, or hangs, costs itself only: the program is started again for those after it.
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
"""At the beginning of a line by which the program speaks to its parent."""
FINISHED = f"{MARK} finished"
SILENCE_S = 120.0
"""Without a word for so long: it hangs.  The longest honest silence is a compiler's."""
_SAID = re.compile(rf"^{MARK} (begin|end|failed) (\d+) ?(.*)$", re.M)
_ENVIRONMENT = {"TRITON_INTERPRET": "0", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
"""Compiled, and by no process but the one that the tool watches."""
_PLACES = ("/usr/local/cuda/bin", "/opt/nvidia/nsight-compute/*")
_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Passage:
    """One process: the calls that it was given, and all that it and the tool printed."""

    number: int
    calls: tuple[int, ...]
    log: str
    why: str = ""
    """Why it ended before its end."""

    @property
    def begun(self) -> list[int]:
        return [int(number) for word, number, _ in _SAID.findall(self.log) if word == "begin"]

    @property
    def ended(self) -> list[int]:
        """Calls that were made, and after which the process went on."""
        return [int(number) for word, number, _ in _SAID.findall(self.log) if word == "end"]

    @property
    def failed(self) -> dict[int, str]:
        """Why, by call: its own error, or what ended the process; what this GPU does not offer is no failure."""
        died = {} if self.culprit is None else {self.culprit: self.why}
        said = {int(number): text for word, number, text in _SAID.findall(self.log) if word == "failed"}
        return {number: text for number, text in {**died, **said}.items() if not text.startswith(Status.UNSUPPORTED)}

    @property
    def culprit(self) -> int | None:
        """The call at which the process ended."""
        return self.begun[-1] if self.why and self.begun and self.begun[-1] not in self.ended else None

    def sections(self) -> dict[int, str]:
        """What was printed from the beginning of each call to that of the next."""
        starts = [(int(m[2]), m.start()) for m in _SAID.finditer(self.log) if m[1] == "begin"]
        ends = [*(start for _, start in starts[1:]), len(self.log)]
        return {number: self.log[start:end] for (number, start), end in zip(starts, ends, strict=False)}


@dataclass(frozen=True, slots=True)
class Tool:
    """How the program is run under it."""

    name: str
    command: Callable[[int], list[str]]
    """The words before the program's own, by the passage's number."""
    program: Sequence[str]
    """Python's arguments, without the numbers of the calls."""
    environment: Mapping[str, str] = field(default_factory=dict)
    silence_s: float = SILENCE_S


def find_tool(name: str) -> str | None:
    """Its path: the toolkit's tools are often installed and not on PATH."""
    folders = [str(path) for place in _PLACES for path in sorted(Path("/").glob(place[1:]), reverse=True)]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(folders))


def go_through(
    tool: Tool,
    names: Mapping[int, str],
    folder: Path,
    suspect: Callable[[Passage], int | None] = lambda passage: passage.culprit,
) -> list[Passage]:
    """Every call, in as many processes as it takes.  `names` says whose each number is; a process is `suspect` from a
    call on: those after it are made in another, without the calls of the same name.
    """
    left, passages = list(names), list[Passage]()
    while left:
        passage = _one_passage(tool, len(passages), left, folder)
        passages.append(passage)
        if (last := suspect(passage)) is None:
            break
        after = left[left.index(last) + 1 :]
        left = [number for number in after if names[number] != names[last]]
    return passages


def _one_passage(tool: Tool, number: int, calls: Sequence[int], folder: Path) -> Passage:
    log = folder / f"{tool.name}-{number}.log"
    command = [*tool.command(number), sys.executable, *tool.program, ",".join(map(str, calls))]
    process = spawn(command, folder, log, {**_ENVIRONMENT, **tool.environment})
    try:
        why = _watched(process, log, tool.silence_s)
    finally:
        end_group(process)
    text = _read(log)
    return Passage(number, tuple(calls), text, "" if FINISHED in text else why)


def _watched(process: subprocess.Popen[bytes], log: Path, silence_s: float) -> str:
    """Waits for its end, or for so long without a word; says which it was."""
    heard, since = 0, time.monotonic()
    while process.poll() is None:
        words = _read(log).count(MARK)
        if words > heard:
            heard, since = words, time.monotonic()
        if time.monotonic() - since > silence_s:
            return f"no word for {silence_s:.0f} s"
        time.sleep(_POLL_S)
    return f"the process ended with {process.returncode}"


def _read(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")
