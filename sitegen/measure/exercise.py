"""A folder of `sitegen exercise start` → lines about the reader's kernel, for a beginner.

This module needs neither a site nor torch: it starts the process (exercise_process.py) that does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sitegen.measure.environment import gpu_memory_bytes
from sitegen.measure.sources import write_sources
from sitegen.model.exercise import READER, ExerciseJob, ExerciseResult
from sitegen.model.plain import from_plain

JOB = ".exercise/job.json"
DEADLINE_S = 600.0
_PACKAGE_ROOT = Path(__file__).parents[2]


def check_folder(folder: Path) -> tuple[bool, tuple[str, ...]]:
    """Return whether the reader's kernel is right and not slow, and the lines to print.  Raises OSError without JOB."""
    job = from_plain(ExerciseJob, json.loads((folder / JOB).read_text(encoding="utf-8")))
    code = (folder / job.reader_file).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="sitegen-exercise-") as temporary:
        place = Path(temporary)
        write_sources(place, {**job.sources, f"{job.kernel.folder}/{READER}.py": code})
        said = _run(folder / JOB, place)
        if said or not (place / "answer.json").exists():
            return False, (said or "the check ended without an answer",)
        result = from_plain(ExerciseResult, json.loads((place / "answer.json").read_text(encoding="utf-8")))
    return not result.message and not _is_slow(job, result), tuple(_lines(job, result))


def _run(job_file: Path, place: Path) -> str:
    """Run the check in a process of its own; return why it gave no answer, empty when it did."""
    gpu = gpu_memory_bytes() > 0
    setting = {"PYTHONPATH": str(_PACKAGE_ROOT), **({} if gpu else {"TRITON_INTERPRET": "1"})}
    words = [
        sys.executable,
        "-m",
        "sitegen.measure.exercise_process",
        str(job_file),
        str(place),
        f"{place}/answer.json",
    ]
    try:
        done = subprocess.run(
            words, env={**os.environ, **setting}, capture_output=True, text=True, timeout=DEADLINE_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"the kernel took more than {DEADLINE_S:.0f} s: is there a loop that never ends?"
    if done.returncode < 0:
        return (
            f"WRONG: the kernel ended its process by signal {-done.returncode}: it reads or writes far outside its data"
        )
    last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    return f"the check could not run: {last}" if done.returncode else ""


def _lines(job: ExerciseJob, result: ExerciseResult) -> Iterator[str]:
    where = "on the GPU" if result.device == "cuda" else "under Triton's interpreter, because there is no GPU"
    yield f"{job.id}: checked {where}"
    if result.diagnosis:
        yield f"WRONG: {result.diagnosis.sentence}"
        yield from (f"  seen: {line}" for line in result.diagnosis.evidence)
        yield f"  gate: {result.message}"
        return
    yield f"RIGHT at all {result.shapes} shapes"
    if (mine := result.traffic) and (theirs := result.author_traffic):
        yield f"  at {result.traffic_at}: {mine.programs} programs load {mine.loaded_bytes} bytes"
        yield f"  the author's solution: {theirs.programs} programs load {theirs.loaded_bytes} bytes"
        if _is_slow(job, result):
            yield f"SLOW: {_why_slow(job, result)}"


def _is_slow(job: ExerciseJob, result: ExerciseResult) -> bool:
    mine, theirs = result.traffic, result.author_traffic
    if not mine or not theirs:
        return False
    return mine.loaded_bytes > job.most_loads * theirs.loaded_bytes or mine.programs > 64 * theirs.programs


def _why_slow(job: ExerciseJob, result: ExerciseResult) -> str:
    mine, theirs = result.traffic, result.author_traffic
    assert mine and theirs
    if mine.loaded_bytes > job.most_loads * theirs.loaded_bytes:
        times = mine.loaded_bytes / max(1, theirs.loaded_bytes)
        return f"it loads {times:.1f} × the bytes of the author's solution: load each value once, and keep it"
    times = mine.programs / max(1, theirs.programs)
    return f"it starts {times:.0f} × as many programs as the author's solution: let each program handle a block"
