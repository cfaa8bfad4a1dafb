"""A build while it runs and afterwards: a bar or a line a stage, a profile, why a page was printed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from sitegen.cli.common import say
from sitegen.diagnostics import did_you_mean

if TYPE_CHECKING:
    from sitegen.build.stages import Stage, Stages
    from sitegen.build.update import Outcome

_WIDTH = 30
_PAUSE_S = 0.05
"""Between two drawings of a bar."""


def shown_stages() -> Callable[[Stage], None]:
    """A bar for each counted stage where a person looks on, else a line for each."""
    return _Bars() if sys.stderr.isatty() else _say_stage


def _say_stage(stage: Stage) -> None:
    if stage.finished:
        say(_line(stage))


def _line(stage: Stage) -> str:
    count = f"{stage.done:>7}" if stage.total else " " * 7
    return f"{stage.name:<8}{count}  {stage.seconds:6.2f} s"


class _Bars:
    """Draws over one line of the terminal, and leaves it empty."""

    def __init__(self) -> None:
        self._drawn = 0.0

    def __call__(self, stage: Stage) -> None:
        if stage.finished:
            click.echo("\r\033[K", nl=False, err=True)
        elif stage.total and time.monotonic() - self._drawn > _PAUSE_S:
            self._drawn = time.monotonic()
            full = _WIDTH * stage.done // stage.total
            bar = f"{'█' * full}{'░' * (_WIDTH - full)}"
            click.echo(f"\r\033[K{stage.name:<8}{bar} {stage.done} of {stage.total}", nl=False, err=True)


def say_profile(stages: Stages) -> None:
    for stage in stages.all:
        say(_line(stage))


def as_data(outcome: Outcome, stages: Stages) -> dict[str, Any]:
    """For programs."""
    written = outcome.written
    return {
        "failed": outcome.failed,
        "files": {name: getattr(written, name) for name in ("added", "changed", "removed", "unchanged")},
        "printed": list(outcome.printed),
        "seconds": {stage.name: round(stage.seconds, 4) for stage in stages.all},
    }


def explained(outcome: Outcome, page: str) -> Iterator[str]:
    """Why a page was printed when it was printed last; `page` is its URL or its path in the output."""
    wanted = page.strip("/")
    found = [name for name, one in outcome.sheets.items() if any(_same(wanted, path) for path in one.files)]
    if not found:
        known = [path.removesuffix("index.html") for one in outcome.sheets.values() for path in one.files]
        raise click.UsageError(f"no page `{page}`; {did_you_mean(f'{wanted}/', known)}".rstrip("; "))
    for name in found:
        yield f"{name}: printed {'now' if name in outcome.printed else 'by an earlier build'}, because"
        yield from (f"  {reason}" for reason in outcome.sheets[name].why)


def _same(wanted: str, path: str) -> bool:
    return wanted in (path, path.removesuffix("index.html").rstrip("/"))
