"""Show the progress of a build (a bar or a line for each step), its profile, and the reasons for which a page was
printed.
"""

from __future__ import annotations

import datetime as dt
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sitegen.cli.common import number_of, say
from sitegen.diagnostics import did_you_mean

if TYPE_CHECKING:
    from sitegen.pipeline.request import BuildResult
    from sitegen.pipeline.steps import BuildStep, Steps

_WIDTH = 30
_NAMED = 3
"""Most posts of later days that a build names."""
_PAUSE_S = 0.05
"""The time between two drawings of a bar, in seconds."""


def step_listener() -> Callable[[BuildStep], None]:
    """Return a listener that draws a bar for each counted step on a terminal, and prints a line for each step
    elsewhere.
    """
    return _Bars() if sys.stderr.isatty() else _say_step


def _say_step(step: BuildStep) -> None:
    if step.finished:
        say(_line(step))


def _line(step: BuildStep) -> str:
    count = f"{step.done:>7}" if step.total else " " * 7
    return f"{step.name:<8}{count}  {step.seconds:6.2f} s"


class _Bars:
    """A listener that draws over one line of the terminal, and leaves it empty."""

    def __init__(self) -> None:
        self._drawn = 0.0

    def __call__(self, step: BuildStep) -> None:
        if step.finished:
            click.echo("\r\033[K", nl=False, err=True)
        elif step.total and time.monotonic() - self._drawn > _PAUSE_S:
            self._drawn = time.monotonic()
            full = _WIDTH * step.done // step.total
            bar = f"{'█' * full}{'░' * (_WIDTH - full)}"
            click.echo(f"\r\033[K{step.name:<8}{bar} {step.done} of {step.total}", nl=False, err=True)


def say_profile(steps: Steps) -> None:
    for step in steps.all:
        say(_line(step))


def plugin_names(root: Path) -> tuple[str, ...]:
    """Return the name and the version of each plugin of a site."""
    from sitegen.pipeline.plugins import installed_versions
    from sitegen.read.config import parse_config
    from sitegen.read.root import SITE_FILE
    from sitegen.read.texts import read_text

    text = read_text(root, SITE_FILE)[0] or ""
    return installed_versions(parse_config(text)[0].plugins) if "plugins" in text else ()


def waiting_posts(result: BuildResult, root: Path) -> list[str]:
    """Return lines that name the posts of later days, with the lines of their dates; none when there are none."""
    if not (count := len(result.waiting)):
        return []
    verb, its, post = ("is", "its", "the post") if count == 1 else ("are", "their", "posts")
    more = [f"  and {count - _NAMED} more"] if count > _NAMED else []
    return [
        f"{number_of(count, 'post')} {verb} on no page yet: {its} `date` is later than the day of this build",
        *(f"  {_place_of_date(root, path)}: {dt.date.fromordinal(day)}" for day, path in result.waiting[:_NAMED]),
        *more,
        f"correct a `date` that is wrong, and build again; `sitegen serve` shows {post} before {its} day",
    ]


def _place_of_date(root: Path, path: str) -> str:
    """Return the path of a post with the line of its date; the path alone where it is a notebook."""
    from sitegen.read.texts import read_text

    lines = (read_text(root, path)[0] or "").splitlines()
    line = next((number for number, text in enumerate(lines, 1) if text.startswith("date:")), 0)
    return f"{path}:{line}" if line else path


def build_summary(result: BuildResult, steps: Steps) -> dict[str, Any]:
    """Return the summary of a build for programs."""
    written = result.written
    return {
        "failed": result.failed,
        "files": {name: getattr(written, name) for name in ("added", "changed", "removed", "unchanged")},
        "printed": list(result.printed),
        "waiting": {path: dt.date.fromordinal(day).isoformat() for day, path in result.waiting},
        "seconds": {step.name: round(step.seconds, 4) for step in steps.all},
    }


def explain_page(result: BuildResult, page: str) -> Iterator[str]:
    """Yield the reasons for which a page was printed last; `page` is its URL or its path in the output."""
    wanted = page.strip("/")
    found = [name for name, one in result.sheets.items() if any(_same(wanted, path) for path in one.files)]
    if not found:
        known = [path.removesuffix("index.html") for one in result.sheets.values() for path in one.files]
        raise click.UsageError(f"no page `{page}`; {did_you_mean(f'{wanted}/', known)}".rstrip("; "))
    for name in found:
        yield f"{name}: printed {'now' if name in result.printed else 'by an earlier build'}, because"
        yield from (f"  {reason}" for reason in result.sheets[name].why)


def _same(wanted: str, path: str) -> bool:
    return wanted in (path, path.removesuffix("index.html").rstrip("/"))
