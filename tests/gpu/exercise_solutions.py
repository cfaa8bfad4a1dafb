"""On a GPU machine: what `exercise check` says of right, wrong and slow solutions of each exercise.

    python tests/gpu/exercise_solutions.py OUT/exercises.json [EARLIER.json] [softmax …]          (up to 210 s)

Without the ids of exercises it takes all.  Verdicts of an earlier invocation that are as expected are kept, so that
several short invocations do what one cannot.  A process of its own checks each solution of `tests/measure/solutions.py`
on the GPU.  It times those that are right or slow, one at a time, while others are checked, so the times are rough.
After the checks, other processes count the loads of the right and slow solutions under Triton's interpreter.  Where the
time is too short for the counts, the verdict stands without them, and the table says `missing`.  The races are there,
too, which the interpreter cannot see.  The table shows the expected cause, the cause that the check named, and the
times beside the author's solution.
Without a GPU all this happens under the interpreter, without times and without the races, in up to 1800 s.

Exit 1 when the check names another cause than expected, or when time was too short for a solution.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from machine import ROOT, Limit, environment, table

from sitegen.execute.exercise_folder import exercise_job
from sitegen.execute.targets import local_target
from sitegen.measure.exercise import COUNTS, INTERPRETED, is_solved, lines_of, why_slow, with_counts
from sitegen.measure.sources import write_sources
from sitegen.model.exercise import READER, ExerciseJob, ExerciseResult
from sitegen.model.plain import from_plain, to_plain
from sitegen.model.site import Site
from sitegen.read.load import parse_site, text_files

sys.path.append(str(ROOT / "tests" / "measure"))
from solutions import REJECTED, code_of, right

LIMIT_S, WITHOUT_GPU_S = 200.0, 1800.0
"""Seconds of the script, with a GPU and without."""
AT_ONCE = 16
"""The most processes at a time, each of which has a CUDA context."""
TIMED_AT_ONCE = 5
"""As many of them may be for solutions that are timed: they wait for each other, and others shall be checked then."""
LEAST_LEFT_S = 8.0
"""A solution is not begun with less time left."""
Answer = Future[tuple[ExerciseResult, float]]
ON_GPU = {"TRITON_INTERPRET": "0", "OMP_NUM_THREADS": "1"}
"""Variables of a process on the GPU.  Without the second one, each process would have a thread for each core."""
_FOLDERS = ("kernels/", "content/exercises/")


@dataclass(frozen=True)
class Solution:
    """A solution to check."""

    exercise: str
    mistake: str
    expected: str
    """The cause to name, two of which one must be named (`a or b`), `right` or `slow`."""
    code: str

    @property
    def is_timed(self) -> bool:
        return self.expected in ("right", "slow")


@dataclass(frozen=True)
class Verdict:
    """What the check said of a solution."""

    exercise: str
    mistake: str
    expected: str
    found: str
    """The cause that the check named, `right`, `slow`, or why there is none: `time`, `error`."""
    lines: tuple[str, ...]
    """What the reader sees."""
    device: str = ""
    time_us: float | None = None
    author_us: float | None = None
    of_copy: float | None = None
    of_baseline: float | None = None
    counts: str = ""
    """`missing` when the interpreter gave no counts of the loads beside the verdict of a GPU."""
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        return self.found in self.expected.split(" or ")

    @property
    def is_worth_reading(self) -> bool:
        """Whether the lines are printed below the table: where something differs, and of what only a GPU shows."""
        return not self.holds or self.time_us is not None or self.expected.startswith("race")


def solutions(gpu: bool, exercises: Sequence[str]) -> list[Solution]:
    """Return the solutions of some exercises, or of all: those to time first, because they take longest."""
    names = exercises or list(dict.fromkeys(one.exercise for one in REJECTED))
    rights = [Solution(name, "none", "right", right(name)) for name in names]
    wrong = [
        Solution(one.exercise, one.mistake, one.cause_on_gpu if gpu else one.cause, code_of(one))
        for one in REJECTED
        if one.exercise in names and (gpu or not one.needs_gpu)
    ]
    return sorted([*rights, *wrong], key=lambda one: not one.is_timed)


def site_of_exercises() -> Site:
    """Return the site with its kernels and exercises only, for which PyYAML is enough."""
    paths = [path for path in text_files(ROOT) if path.startswith(_FOLDERS) or path == "content/site.yaml"]
    return parse_site({path: (ROOT / path).read_text(encoding="utf-8") for path in paths})[0]


def child(mode: str, job_file: Path, folder: Path, answer: Path, lock: Path) -> None:
    """Check the solution in a folder as `exercise check` does, and time it while no other solution is timed; with the
    mode `counts` only count its loads.
    """
    import torch

    from sitegen.measure.exercise_process import check_exercise, count_exercise

    job = from_plain(ExerciseJob, json.loads(job_file.read_text()))
    gpu = torch.cuda.is_available()
    result = count_exercise(job, folder) if mode == COUNTS else check_exercise(job, folder, "cuda" if gpu else "cpu")
    if gpu and not result.message:
        from sitegen.measure.exercise_timing import time_kernels

        with locked(lock):
            result = replace(result, timing=time_kernels(job, folder))
    answer.write_text(json.dumps(to_plain(result)))


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the lock of the file."""
    with file.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


class Checker:
    """Checks solutions side by side."""

    def __init__(self, jobs: dict[str, ExerciseJob], lock: Path, limit: Limit, gpu: bool) -> None:
        self._jobs, self._lock, self._limit, self._gpu = jobs, lock, limit, gpu

    def verdicts(self, solutions: list[Solution]) -> list[Verdict]:
        """Return a verdict for each solution, in the same order."""
        at_once = min(AT_ONCE, os.cpu_count() or 1)
        of_timed = min(TIMED_AT_ONCE, max(1, at_once // 2))
        with ThreadPoolExecutor(of_timed) as timing, ThreadPoolExecutor(max(1, at_once - of_timed)) as checking:
            answers = [(timing if one.is_timed else checking).submit(self._answer, one) for one in solutions]
            counts = [checking.submit(self._counts, one) if one.is_timed and self._gpu else None for one in solutions]
        each = zip(solutions, answers, counts, strict=True)
        return [verdict(self._jobs[one.exercise], one, answer, count) for one, answer, count in each]

    def _answer(self, one: Solution) -> tuple[ExerciseResult, float]:
        """Return the result of a process, and its seconds."""
        began = time.monotonic()
        settings = ON_GPU if self._gpu else INTERPRETED
        result = answer_of(self._jobs[one.exercise], one.code, self._lock, self._limit, settings)
        return result, time.monotonic() - began

    def _counts(self, one: Solution) -> ExerciseResult:
        """Return the result of a process that only counts."""
        return answer_of(self._jobs[one.exercise], one.code, self._lock, self._limit, INTERPRETED, COUNTS)


def verdict(job: ExerciseJob, one: Solution, answer: Answer, count: Future[ExerciseResult] | None) -> Verdict:
    """Return the verdict on a solution: of the check, with the loads that the interpreter counted beside a GPU."""
    named = (one.exercise, one.mistake, one.expected)
    try:
        result, seconds = answer.result()
    except TimeoutError:
        return Verdict(*named, "time", ())
    except RuntimeError as why:
        return Verdict(*named, "error", tuple(str(why).splitlines()))
    counts = ""
    if count is not None:
        try:
            result = with_counts(result, count.result())
        except (TimeoutError, RuntimeError):
            counts = "missing"
    said = tuple(lines_of(job, result))
    seconds = round(seconds, 1)
    found = Verdict(*named, cause_of(job, result), said, result.device, counts=counts, seconds=seconds)
    return replace(found, **times_of(result))


def times_of(result: ExerciseResult) -> dict[str, float]:
    timing = result.timing
    if timing is None or timing.reader is None or timing.author is None:
        return {}
    reader = timing.reader
    return {
        "time_us": reader.time_us,
        "author_us": timing.author.time_us,
        "of_copy": reader.of_copy,
        "of_baseline": reader.of_baseline,
    }


def cause_of(job: ExerciseJob, result: ExerciseResult) -> str:
    if result.diagnosis:
        return result.diagnosis.cause
    if why_slow(job, result):
        return "slow"
    return "right" if is_solved(job, result) else "failed where it is timed"


def answer_of(
    job: ExerciseJob, code: str, lock: Path, limit: Limit, settings: dict[str, str], mode: str = "check"
) -> ExerciseResult:
    """Return the result of a process.  Raises TimeoutError, and RuntimeError when the process gave no result."""
    if limit.left < LEAST_LEFT_S:
        raise TimeoutError
    with tempfile.TemporaryDirectory() as folder:
        place, job_file, answer = Path(folder, "site"), Path(folder, "job.json"), Path(folder, "answer.json")
        job_file.write_text(json.dumps(to_plain(job)))
        write_sources(place, {**job.sources, f"{job.kernel.folder}/{READER}.py": code})
        words = [sys.executable, __file__, "--child", mode, *map(str, (job_file, place, answer, lock))]
        done = output_of(words, settings, limit.left)
        if not answer.exists():
            raise RuntimeError(done.strip()[-1500:] or "the process gave no answer")
        return from_plain(ExerciseResult, json.loads(answer.read_text()))


def output_of(words: list[str], settings: dict[str, str], seconds: float) -> str:
    """Return what a process printed.  Raises TimeoutError."""
    try:
        done = subprocess.run(
            words, env=environment() | settings, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise TimeoutError from late
    return done.stdout + done.stderr


def kept_verdicts(file: Path) -> list[Verdict]:
    """Return the verdicts of an earlier invocation that are as expected."""
    verdicts = [from_plain(Verdict, one) for one in json.loads(file.read_text())]
    return [one for one in verdicts if one.holds]


def row(one: Verdict) -> tuple[object, ...]:
    beside = one.time_us / one.author_us if one.time_us and one.author_us else None
    shown = [f"{value:.2f}" if value else "" for value in (one.time_us, beside, one.of_copy, one.of_baseline)]
    holds = "" if one.holds else "DIFFERENT"
    return (one.exercise, one.mistake, one.expected, one.found, *shown, one.counts, one.seconds, holds)


def main(arguments: list[str]) -> int:
    if arguments[0] == "--child":
        child(arguments[1], *map(Path, arguments[2:]))
        return 0
    gpu = any(device.gpu for device in local_target().devices)
    out, limit, site = Path(arguments[0]), Limit(LIMIT_S if gpu else WITHOUT_GPU_S), site_of_exercises()
    jobs = {one.id: exercise_job(site, one) for one in site.exercises}
    kept = [one for file in arguments[1:] if file.endswith(".json") for one in kept_verdicts(Path(file))]
    done = {(one.exercise, one.mistake) for one in kept}
    exercises = [name for name in arguments[1:] if not name.endswith(".json")]
    missing = [one for one in solutions(gpu, exercises) if (one.exercise, one.mistake) not in done]
    with tempfile.TemporaryDirectory() as folder:
        verdicts = kept + Checker(jobs, Path(folder, "gpu.lock"), limit, gpu).verdicts(missing)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps([asdict(one) for one in verdicts], indent=1))
    head = (
        "exercise",
        "mistake",
        "expected",
        "found",
        "µs",
        "x author's time",
        "of copy",
        "x torch",
        "counts",
        "s",
        "",
    )
    print(table(head, [row(one) for one in verdicts]))
    for one in verdicts:
        if one.is_worth_reading:
            print(f"\n{one.exercise}, {one.mistake}:", *one.lines, sep="\n  ")
    held = sum(one.holds for one in verdicts)
    places = Counter(one.device for one in verdicts)
    missing_counts = sum(one.counts == "missing" for one in verdicts)
    print(f"\n{held} of {len(verdicts)} as expected; checked on {dict(places)}; {limit.spent:.0f} s")
    print(f"{missing_counts} without counts of the interpreter")
    return 0 if held == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
