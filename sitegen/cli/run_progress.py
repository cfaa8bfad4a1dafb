"""Show the progress of a run: a table on a terminal, a line for each step elsewhere, or lines of JSON."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from statistics import mean
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING

import click

from sitegen.cli.common import say
from sitegen.diagnostics import printable

if TYPE_CHECKING:
    from sitegen.execute.progress import Progress, Report

REDRAW_S = 1.0
_WIDTH = 30


@contextmanager
def run_report(*, as_json: bool = False) -> Iterator[Report]:
    """Yield the function that gets each step of a run."""
    if as_json:
        yield _print_event
    elif sys.stderr.isatty():
        with _live_table() as report:
            yield report
    else:
        yield say_progress


def say_progress(progress: Progress) -> None:
    say(_line(progress))


def _line(progress: Progress) -> str:
    place = f" on {progress.place}" if progress.place else ""
    seconds = f" {progress.seconds:.0f} s" if progress.seconds else ""
    words = f"{progress.job} {progress.state}{place}{seconds} {progress.message}".rstrip()
    return f"[{progress.done}/{progress.total}] {words}"


def _print_event(progress: Progress) -> None:
    """Print a line of JSON on stdout at once, for a program that reads along."""
    click.echo(json.dumps({"event": "job", **asdict(progress)}))
    sys.stdout.flush()


@dataclass(slots=True)
class RunState:
    """The state of a run that the table draws: the job of each place, and how far the run is."""

    began: dict[str, tuple[str, float]] = field(default_factory=dict)
    """Job and time of its start, by place."""
    seconds: list[float] = field(default_factory=list)
    """Wall time of each job that ended."""
    done: int = 0
    total: int = 0
    failed: int = 0

    def add(self, progress: Progress, now: float) -> None:
        """Take in a step of the run.  A job that starts again has left the place where it was."""
        self.done, self.total = progress.done, progress.total
        self.began = {place: ("", 0.0) if one[0] == progress.job else one for place, one in self.began.items()}
        if progress.state == "started":
            self.began[progress.place] = progress.job, now
        else:
            self.seconds.append(progress.seconds)
            self.failed += progress.state == "failed"

    def left_s(self, now: float) -> float | None:
        """Return the seconds that the run is likely to take still; None before a job has ended.

        Each job is taken to last as long as those before it on average, and places to share the jobs evenly.
        """
        if not self.seconds or not self.began:
            return None
        each = mean(self.seconds)
        running = [max(0.0, each - (now - start)) for job, start in self.began.values() if job]
        waiting = max(0, self.total - self.done - len(running))
        return (sum(running) + waiting * each) / len(self.began)


def table_lines(state: RunState, now: float) -> list[str]:
    """Return a line for each host or GPU with its job, and a line for the run."""
    width = max(map(len, state.began), default=0)
    rows = [
        f"{place:<{width}}  {job or 'idle':<40} {_duration(now - start) if job else ''}".rstrip()
        for place, (job, start) in sorted(state.began.items())
    ]
    full = _WIDTH * state.done // max(1, state.total)
    failed = f", {state.failed} failed" if state.failed else ""
    left = state.left_s(now)
    time_left = f", about {_duration(left)} left" if left is not None and state.done < state.total else ""
    return [*rows, f"{'█' * full}{'░' * (_WIDTH - full)} {state.done} of {state.total} jobs{failed}{time_left}"]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def fitting(lines: list[str], height: int) -> list[str]:
    """Return the lines that a terminal of that height can draw over, the last of them with the number of the rest."""
    shown = max(2, height - 2)
    return lines if len(lines) <= shown else [*lines[: shown - 1], f"… and {len(lines) - shown + 1} more"]


@contextmanager
def _live_table() -> Iterator[Callable[[Progress], None]]:
    """Yield a listener that draws the table over itself each second.  Failures stay above it."""
    state, drawn, over, lock = RunState(), [0], Event(), RLock()

    def draw(*above: str) -> None:
        with lock:
            width, height = shutil.get_terminal_size()
            lines = fitting(table_lines(state, time.monotonic()) if state.total else [], height)
            up = f"\x1b[{drawn[0]}A" if drawn[0] else ""
            shown = [*map(printable, above), *(printable(line)[: width - 1] for line in lines)]
            click.echo(f"{up}\r\x1b[J" + "\n".join(shown), err=True, nl=bool(shown))
            drawn[0] = len(lines)

    def report(progress: Progress) -> None:
        with lock:
            state.add(progress, time.monotonic())
            draw(*([_line(progress)] if progress.state == "failed" else []))

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
