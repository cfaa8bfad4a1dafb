"""Show the progress of a run: a table on a terminal, a line for each step elsewhere, or lines of JSON."""

from __future__ import annotations

import json
import shutil
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import accumulate
from statistics import mean
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING

import click

from sitegen.cli.common import say
from sitegen.diagnostics import printable

if TYPE_CHECKING:
    from sitegen.cli.verdicts import Failures
    from sitegen.execute.progress import Progress, Report

REDRAW_S = 1.0
LEAST_JOB = 20
"""The fewest columns of a job's name beside all other columns of the table."""
_WIDTH = 30

Row = tuple[str, str, str, str, str]
Widths = tuple[int, int, int, int, int]


@contextmanager
def run_report(told: Failures | None = None, *, as_json: bool = False) -> Iterator[Report]:
    """Yield the function that gets each step of a run.  Failures that it prints are added to `told`."""
    from sitegen.cli.verdicts import Failures

    told = told or Failures()
    if as_json:
        yield _print_event
    elif sys.stderr.isatty():
        with _live_table(told) as report:
            yield report
    else:
        yield partial(say_progress, told)


def say_progress(told: Failures, progress: Progress) -> None:
    """Print a line for a start or an end, and below it the failures of the job that were not told yet."""
    if progress.state != "measuring":
        for line in _lines(progress, told):
            say(line)


def _lines(progress: Progress, told: Failures) -> list[str]:
    new = told.new_in(progress.results)
    as_above = progress.state == "failed" and not progress.message and not new
    return [_line(replace(progress, message="as above") if as_above else progress), *new]


def _line(progress: Progress) -> str:
    place = f" on {progress.place}" if progress.place else ""
    seconds = f" {progress.seconds:.0f} s" if progress.seconds else ""
    words = f"{progress.job} {progress.state}{place}{seconds} {progress.message}".rstrip()
    return f"[{progress.done}/{progress.total}] {words}"


def _print_event(progress: Progress) -> None:
    """Print a line of JSON on stdout at once, for a program that reads along."""
    from sitegen.cli.verdicts import Failures

    event = {one.name: getattr(progress, one.name) for one in fields(progress) if one.name != "results"}
    event["message"] = progress.message or "\n".join(Failures().new_in(progress.results))
    click.echo(json.dumps({"event": "job", **event}))
    sys.stdout.flush()


@dataclass(frozen=True, slots=True)
class Place:
    """The present work of a host or a GPU."""

    gpu: str
    """The model of the GPU; empty without one."""
    job: str = ""
    """Empty when it has none."""
    start: float = 0.0
    rounds: int = 0
    """Rounds that the job has begun."""


@dataclass(slots=True)
class RunState:
    """The state of a run that the table draws: the job of each place, and how far the run is."""

    places: dict[str, Place] = field(default_factory=dict)
    """Each host or GPU that has begun a job, by name."""
    lost: set[str] = field(default_factory=set)
    """Places that lost a job to another place, and have begun none since."""
    seconds: list[float] = field(default_factory=list)
    """Wall time of each job that ended."""
    done: int = 0
    total: int = 0
    failed: int = 0

    def add(self, progress: Progress, now: float) -> None:
        """Take in a step of the run.  A job that starts again has left the place where it was."""
        self.done, self.total = progress.done, progress.total
        if progress.state == "measuring":
            self._add_rounds(progress)
            return
        if progress.state == "started":
            self.lost |= {name for name, one in self.places.items() if one.job == progress.job}
            self.lost.discard(progress.place)
        self.places = {n: Place(one.gpu) if one.job == progress.job else one for n, one in self.places.items()}
        if progress.state == "started":
            self.places[progress.place] = Place(progress.gpu, progress.job, now)
        else:
            self.seconds.append(progress.seconds)
            self.failed += progress.state == "failed"

    def _add_rounds(self, progress: Progress) -> None:
        """Take in the rounds of a job, unless another place has the job now: messages of a lost worker come late."""
        here = self.places.get(progress.place)
        if here and here.job == progress.job:
            self.places[progress.place] = replace(here, rounds=progress.rounds)

    def left_s(self, now: float) -> float | None:
        """Return the seconds that the run is likely to take still; None before a job has ended.

        Each job is taken to last as long as those before it on average, and places to share the jobs evenly.
        """
        places = self.places.keys() - self.lost
        if not self.seconds or not places:
            return None
        each = mean(self.seconds)
        running = [max(0.0, each - (now - one.start)) for one in self.places.values() if one.job]
        waiting = max(0, self.total - self.done - len(running))
        return (sum(running) + waiting * each) / len(places)


def table_lines(state: RunState, now: float, columns: int = 80) -> list[str]:
    """Return a line for each host or GPU and a line for the run, none wider than the terminal.

    A line has the place, the model of its GPU, the job, and the rounds and the time of the job so far.
    """
    rows = [_row(state, name, now) for name in sorted(state.places)]
    widths = _widths(rows, columns)
    return [cut(line, columns) for line in (*(_line_of(row, widths) for row in rows), _run_line(state, now, columns))]


def _row(state: RunState, name: str, now: float) -> Row:
    """Return the cells of a place; those about a job are empty where it has none."""
    here = state.places[name]
    free = "its worker was lost" if name in state.lost else "idle"
    rounds = f"{here.rounds} round{'s' * (here.rounds > 1)}" if here.rounds else ""
    time_so_far = _duration(now - here.start) if here.job else ""
    return printable(name), printable(here.gpu), printable(here.job) or free, rounds, time_so_far


def _widths(rows: Sequence[Row], columns: int) -> Widths:
    """Return the width of each column, 0 for one without texts.

    The model of the GPU, and then the rounds, are left out where a job would have fewer than LEAST_JOB columns.
    """
    place, gpu, job, rounds, time_so_far = (max((cells(row[n]) for row in rows), default=0) for n in range(5))
    place = min(place, columns // 3)

    def room() -> int:
        return columns - sum(width + 2 for width in (place, gpu, rounds, time_so_far) if width)

    gpu = gpu if room() >= LEAST_JOB else 0
    rounds = rounds if room() >= LEAST_JOB else 0
    return place, gpu, min(max(40, job), max(4, room())), rounds, time_so_far  # 40, so that few jobs move the times


def _line_of(row: Row, widths: Widths) -> str:
    texts = [_cell(text, width) for text, width in zip(row[:3], widths, strict=False) if width]
    numbers = [f"{text:>{width}}" for text, width in zip(row[3:], widths[3:], strict=True) if width]
    return "  ".join([*texts, *numbers]).rstrip()


def _run_line(state: RunState, now: float, columns: int) -> str:
    """Return the bar of the run, and how many jobs ended; the bar is shorter where the words need its place."""
    failed = f", {state.failed} failed" if state.failed else ""
    left = state.left_s(now)
    time_left = f", about {_duration(left)} left" if left and round(left) and state.done < state.total else ""
    words = f"{state.done} of {state.total} jobs{failed}{time_left}"
    width = max(0, min(_WIDTH, columns - cells(words) - 1))
    full = width * state.done // max(1, state.total)
    return f"{'█' * full}{'░' * (width - full)} {words}".lstrip()


def cells(text: str) -> int:
    """Return how many columns of a terminal a text takes: a letter of Korean takes two."""
    return sum(_cells_of(letter) for letter in text)


def _cells_of(letter: str) -> int:
    return 0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")


def cut(text: str, columns: int) -> str:
    """Return a text that takes no more columns; what is cut off is an ellipsis."""
    if cells(text) <= columns:
        return text
    ends = list(accumulate(map(_cells_of, text)))
    return text[: sum(end < columns for end in ends)] + "…"


def _cell(text: str, columns: int) -> str:
    shown = cut(text, columns)
    return shown + " " * (columns - cells(shown))


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def fitting(lines: list[str], height: int) -> list[str]:
    """Return the lines that a terminal of that height can draw over, the last of them with the number of the rest."""
    shown = max(2, height - 2)
    return lines if len(lines) <= shown else [*lines[: shown - 1], f"… and {len(lines) - shown + 1} more"]


@contextmanager
def _live_table(told: Failures) -> Iterator[Callable[[Progress], None]]:
    """Yield a listener that draws the table over itself each second.  Failures stay above it."""
    state, drawn, over, lock = RunState(), [0], Event(), RLock()

    def draw(*above: str) -> None:
        with lock:
            width, height = shutil.get_terminal_size()
            lines = fitting(table_lines(state, time.monotonic(), width - 1) if state.total else [], height)
            up = f"\x1b[{drawn[0]}A" if drawn[0] else ""
            shown = [*map(printable, above), *lines]
            click.echo(f"{up}\r\x1b[J" + "\n".join(shown), err=True, nl=bool(shown))
            drawn[0] = len(lines)

    def report(progress: Progress) -> None:
        with lock:
            state.add(progress, time.monotonic())
            draw(*(_lines(progress, told) if progress.state == "failed" else []))

    def redraw() -> None:
        while not over.wait(REDRAW_S):
            draw()

    thread = Thread(target=redraw, daemon=True)
    thread.start()
    try:
        yield report
    finally:
        over.set()
        thread.join()
        draw()
