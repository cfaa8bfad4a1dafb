"""A folder of `sitegen exercise start` → lines about the reader's kernel, for a beginner.

This module needs neither a site nor torch: it starts the process (exercise_process.py) that does.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sitegen.measure.confinement import SITE_CODE
from sitegen.measure.doctor import Finding, findings_for_triton
from sitegen.measure.environment import gpu_memory_bytes
from sitegen.measure.sources import write_sources
from sitegen.model.exercise import (
    FEWEST_PROGRAMS,
    MOST_PROGRAMS,
    READER,
    SECTOR_BYTES,
    Diagnosis,
    ExerciseJob,
    ExerciseResult,
    Speed,
    Timing,
    Traffic,
)
from sitegen.model.plain import from_plain
from sitegen.model.variables import passed_on

JOB = ".exercise/job.json"
DEADLINE_S = 600.0
COUNTS, COUNTS_S = "counts", 60.0
"""The mode of a process that only counts, and the seconds that it gets after the GPU's verdict."""
INTERPRETED = {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
"""Variables of a process that runs the interpreter.  It computes on the processor, and torch must not offer the GPU.
Its products are so small that several threads take longer than one: they wait for each other at each product.
"""
_LARGEST = 16 << 20
"""Bytes of the largest file that is read."""
_PACKAGE_ROOT = Path(__file__).parents[2]
_CONFINEMENT = Path(__file__).with_name("confinement.py")
_NETWORK = "network"
"""Name of the file in which a confined process says why it has a network."""


class NoAnswerError(Exception):
    """The process of a check ended without a result; the message says why, for the reader."""


def check_folder(folder: Path) -> tuple[bool, tuple[str, ...]]:
    """Return whether the reader's kernel is right and not slow, and the lines to print."""
    try:
        job = _job(folder)
    except NoAnswerError as why:
        return False, (str(why),)
    found = tuple(findings_for_triton())
    machine = tuple(_machine_lines(found)) if job.machine else ()
    if missing := [one for one in found if one.needed and not one.works]:
        return False, (*machine, *(f"MISSING: {one.name}: {one.text}" for one in missing))
    with tempfile.TemporaryDirectory(prefix="sitegen-exercise-") as temporary:
        passed, lines = _verdict(folder, job, Path(temporary))
        return passed, (*machine, *lines, *_network_lines(Path(temporary)))


def _job(folder: Path) -> ExerciseJob:
    """Return the exercise of a folder, which may come from a stranger.  Raises NoAnswerError."""
    try:
        job = from_plain(ExerciseJob, json.loads(_text(folder, JOB)))
    except (TypeError, ValueError, RecursionError) as error:
        raise NoAnswerError(f"{JOB} is no exercise: start it again by `sitegen exercise start`") from error
    names = (*job.sources, job.kernel.name, f"{job.kernel.folder}/{READER}.py", job.reader_file)
    if odd := [name for name in names if name.startswith("/") or ".." in name.split("/")]:
        raise NoAnswerError(f"{JOB} names {odd[0][:100]!r}, which leads out of the folder: nothing was run")
    return job


def _text(folder: Path, name: str) -> str:
    """Return the text of a file.  Raises NoAnswerError for a pipe, a device, and what is no text."""
    try:
        with os.fdopen(os.open(folder / name, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST:
                raise NoAnswerError(f"{name} is not a regular file of at most {_LARGEST >> 20} MiB")
            return file.read().decode()
    except OSError as error:
        raise NoAnswerError(f"{name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise NoAnswerError(f"{name} is not a text in UTF-8") from error


def _verdict(folder: Path, job: ExerciseJob, place: Path) -> tuple[bool, tuple[str, ...]]:
    """Return whether the kernel is solved, and the lines that say it; `place` is an empty folder for the processes."""
    try:
        result = _result(folder, job, place)
    except NoAnswerError as why:
        return False, (str(why),)
    return is_solved(job, result), tuple(lines_of(job, result))


def _network_lines(place: Path) -> tuple[str, ...]:
    """Return a line about the network, if the process of a check still had it."""
    file = place / _NETWORK
    return (file.read_text(encoding="utf-8").replace(SITE_CODE, "your code", 1),) if file.exists() else ()


def is_solved(job: ExerciseJob, result: ExerciseResult) -> bool:
    """Return whether the kernel is right, also at the timed shape, and not slow."""
    failed = result.message or (result.timing and result.timing.message)
    return not failed and not why_slow(job, result)


def _machine_lines(found: tuple[Finding, ...]) -> Iterator[str]:
    return (f"{'ok     ' if one.works else 'missing'}  {one.name:<8} {one.text}" for one in found)


def _result(folder: Path, job: ExerciseJob, place: Path) -> ExerciseResult:
    """Check the kernel under the interpreter, or on the GPU while the interpreter counts its loads.

    The counts of a wrong kernel are not awaited.  A right one keeps its verdict if the interpreter gives no counts.
    """
    if not gpu_memory_bytes():
        with _started(folder, job, place, interpreted=True) as check:
            return check.result()
    with (
        _started(folder, job, place, interpreted=False) as check,
        _started(folder, job, place, interpreted=True, mode=COUNTS) as counting,
    ):
        on_gpu = check.result()
        if on_gpu.message:
            return on_gpu
        try:
            return with_counts(on_gpu, counting.result(COUNTS_S))
        except NoAnswerError:
            return on_gpu


def with_counts(on_gpu: ExerciseResult, interpreted: ExerciseResult) -> ExerciseResult:
    """Return the result of the GPU with the loads that the interpreter counted."""
    counts = (interpreted.traffic, interpreted.author_traffic, interpreted.traffic_at)
    return replace(on_gpu, traffic=counts[0], author_traffic=counts[1], traffic_at=counts[2])


@dataclass(frozen=True, slots=True)
class _Check:
    """A process that checks or counts a kernel."""

    process: subprocess.Popen[str]
    answer: Path

    def result(self, seconds: float = DEADLINE_S) -> ExerciseResult:
        """Wait for the result.  Raises NoAnswerError when the process gives none in that time."""
        _wait_for(self.process, seconds)
        if not self.answer.exists():
            raise NoAnswerError("the check ended without an answer")
        return from_plain(ExerciseResult, json.loads(self.answer.read_text(encoding="utf-8")))


@contextmanager
def _started(folder: Path, job: ExerciseJob, place: Path, *, interpreted: bool, mode: str = "") -> Iterator[_Check]:
    """Start a process, and end it when the block ends; `mode` is COUNTS for a process that only counts."""
    path = os.pathsep.join(filter(None, (str(_PACKAGE_ROOT), os.environ.get("PYTHONPATH", ""))))
    setting = {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"}  # a kernel's file may have the name of a module: copy.py
    code = _text(folder, job.reader_file)
    with tempfile.TemporaryDirectory(dir=place) as own:
        answer = Path(own) / "answer.json"
        write_sources(Path(own), {**job.sources, f"{job.kernel.folder}/{READER}.py": code})
        confined = [sys.executable, "-I", "-S", str(_CONFINEMENT), str(place / _NETWORK)]
        words = [*filter(None, [mode]), str(folder / JOB), own, str(answer)]
        environment = {**passed_on(os.environ), **setting, **(INTERPRETED if interpreted else {}), "TMPDIR": own}
        with subprocess.Popen(
            [*confined, sys.executable, "-m", "sitegen.measure.exercise_process", *words],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield _Check(process, answer)
            finally:
                process.kill()


def _wait_for(process: subprocess.Popen[str], seconds: float) -> None:
    try:
        errors = process.communicate(timeout=seconds)[1]
    except subprocess.TimeoutExpired as error:
        message = f"WRONG: the kernel took more than {seconds:.0f} s: is there a loop that never ends?"
        raise NoAnswerError(message) from error
    if process.returncode < 0:
        signal = -process.returncode
        message = f"WRONG: the kernel ended its process by signal {signal}: it reads or writes far outside its data"
        raise NoAnswerError(message)
    if process.returncode:
        last = (errors.strip().splitlines() or ["no reason given"])[-1]
        raise NoAnswerError(f"the check could not run: {last}")


def lines_of(job: ExerciseJob, result: ExerciseResult) -> Iterator[str]:
    """Yield the verdict, its reasons, and what the kernel costs beside the author's, in lines for a beginner."""
    where = "on the GPU" if result.device == "cuda" else "under Triton's interpreter, because there is no GPU"
    yield f"{job.id}: checked {where}"
    if result.diagnosis:
        yield from _wrong_lines(job, result.diagnosis, result.message)
        return
    yield f"RIGHT at all {result.shapes} shapes"
    if (mine := result.traffic) and (theirs := result.author_traffic):
        yield f"  at {result.traffic_at}: {_amount(mine)}"
        yield f"  the author's solution: {_amount(theirs)}"
    elif result.device == "cuda":
        yield "  loads not counted: Triton's interpreter could not run the kernel, so only the time says if it is slow"
    if result.timing:
        yield from _timing_lines(result.timing)
    if slow := why_slow(job, result):
        yield f"SLOW: {slow}"
    elif is_solved(job, result):
        yield "SOLVED: the kernel is right, and not slow by the limits of the exercise"


def _wrong_lines(job: ExerciseJob, found: Diagnosis, message: str) -> Iterator[str]:
    """Yield the cause, what was seen, and the sentence of the gate unless the cause repeats it; both name the reader's
    file as the reader does.
    """
    yield f"WRONG: {_with_readers_file(job, found.sentence)}"
    yield from (f"  seen: {line}" for line in found.evidence)
    if message.lower() not in found.sentence.lower():
        yield f"  gate: {_with_readers_file(job, message)}"


def _with_readers_file(job: ExerciseJob, text: str) -> str:
    """Return a message with the name of the reader's file instead of the path at which the check keeps it."""
    own = f"{READER}.py"
    return text.replace(f"{job.kernel.folder}/{own}", job.reader_file).replace(own, job.reader_file)


def _amount(traffic: Traffic) -> str:
    """Return the counts of a call in words: `4 programs load 131,072 bytes`."""
    programs = f"{traffic.programs} program{'s load' if traffic.programs != 1 else ' loads'}"
    return f"{programs} {traffic.loaded_bytes:,} bytes"


def _timing_lines(timing: Timing) -> Iterator[str]:
    if timing.message:
        yield f"FAILED at {timing.at}, where it is timed: {timing.message}"
    elif timing.reader:
        yield f"  on this GPU at {timing.at}: {_time(timing.reader)}"
    if timing.author:
        yield f"  the author's solution: {_time(timing.author)}"


def _time(speed: Speed) -> str:
    """Return a time in words: `745.3 µs, 96 % of the speed of a copy of as many bytes, 1.01 × the speed of torch`."""
    beside = f", {speed.of_baseline:.2f} × the speed of {speed.baseline}" if speed.baseline else ""
    return f"{speed.time_us:.1f} µs, {speed.of_copy:.0%} of the speed of a copy of as many bytes{beside}"


def why_slow(job: ExerciseJob, result: ExerciseResult) -> str:
    """Return why the kernel is slow: its loads, its programs or its time; empty when they are near the author's."""
    return _counted_slow(job, result) or _timed_slow(job, result.timing)


def _timed_slow(job: ExerciseJob, timing: Timing | None) -> str:
    """Return why the kernel is slow on this GPU, by its time alone."""
    if not timing or not timing.reader or not timing.author:
        return ""
    times = _times_of_author(timing.reader, timing.author)
    if times <= job.most_loads:
        return ""
    slow = f"it takes {times:.1f} × the time of the author's solution, and the limit is {job.most_loads:g} ×"
    return slow + _spilled(timing.reader, timing.author)


def _times_of_author(reader: Speed, author: Speed) -> float:
    """Return the reader's time as a multiple of the author's, both as multiples of what ran in the same rounds.

    The two kernels are timed one after the other, and the clock of the GPU may change in between: the same code of the
    exercise transformer_block took 3371 and 2978 µs.  The baseline, and the copy, are timed beside each of them.
    """
    if reader.of_baseline and author.of_baseline:
        return author.of_baseline / reader.of_baseline
    return author.of_copy / reader.of_copy if reader.of_copy else reader.time_us / author.time_us


def _spilled(reader: Speed, author: Speed) -> str:
    """Return what to do about numbers in memory that the author's solution keeps in registers; empty without any."""
    if reader.spill_bytes <= author.spill_bytes:
        return ""
    return (
        f". A thread has {reader.spill_bytes} bytes too many for its registers, and stores them in memory: start each "
        "program with more warps, or give it a smaller tile"
    )


def _counted_slow(job: ExerciseJob, result: ExerciseResult) -> str:
    """Return why the kernel would be slow on any GPU, by its loads, the sectors that it touches and its programs."""
    mine, theirs = result.traffic, result.author_traffic
    if not mine or not theirs:
        return ""
    if mine.loaded_bytes > job.most_loads * theirs.loaded_bytes:
        times = f"{mine.loaded_bytes / max(1, theirs.loaded_bytes):.1f} × the bytes of the author's solution"
        return f"it loads {times}, and the limit is {job.most_loads:g} ×: {_advice(job)}"
    if mine.sectors > job.most_loads * theirs.sectors:
        times = f"{mine.sectors / max(1, theirs.sectors):.1f} × the sectors of {SECTOR_BYTES} bytes"
        return (
            f"its loads and stores touch {times} of the author's solution, and the limit is {job.most_loads:g} ×. "
            "Memory moves whole sectors: let each load and each store of a program cover whole pieces of rows"
        )
    if mine.programs > MOST_PROGRAMS * theirs.programs:
        times = f"{mine.programs / max(1, theirs.programs):.0f} × as many programs as the author's solution"
        return f"it starts {times}: let each program handle a block"
    if mine.programs * FEWEST_PROGRAMS <= theirs.programs:
        count = f"{mine.programs} program{'s' if mine.programs != 1 else ''}"
        return (
            f"it starts {count}, and the author's solution {theirs.programs}: a program runs on one SM, so most of a "
            "GPU would have nothing to do. Give each program a part of the data"
        )
    return ""


def _advice(job: ExerciseJob) -> str:
    """Return what saves loads.

    It is a larger tile where a value serves several results, as in matmul and attention, which have three dims; else
    fewer passes.
    """
    if len(job.kernel.dims) == 3:
        return "a larger tile uses each loaded value for more results"
    return "load each value once, and keep it"
