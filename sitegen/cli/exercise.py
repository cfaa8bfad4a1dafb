"""Define `sitegen exercise`: write the folder of an exercise, and check the kernel in it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sitegen.cli.common import fail, load_site_or_exit, say
from sitegen.diagnostics import printable


@click.group()
def exercise() -> None:
    """Start an exercise of the site, and check your kernel."""


@exercise.command()
@click.argument("exercise_id", metavar="ID")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
def start(exercise_id: str, folder: Path | None) -> None:
    """Write the exercise ID into a new FOLDER, by default one with the name of the exercise.  The folder checks itself
    with `python check.py`, also on a machine that has only torch, Triton and numpy.
    """
    from sitegen import inside
    from sitegen.diagnostics import did_you_mean
    from sitegen.execute.exercise_folder import folder_files

    site, place = load_site_or_exit().site, folder or Path(exercise_id)
    known = {one.id: one for one in site.exercises}
    if exercise_id not in known:
        hint = did_you_mean(exercise_id, known) or f"known: {', '.join(known)}"
        raise click.UsageError(f"no exercise is called `{exercise_id}`; {hint}")
    if place.exists():
        fail(f"{place} exists: give another folder, or remove it")
    for name, text in folder_files(site, known[exercise_id]).items():
        inside.write_bytes(place, name, text.encode())
    say(f"edit {place}/{known[exercise_id].kernel.name}.py, then: sitegen exercise check {place}")


@exercise.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
def check(folder: Path) -> None:
    """Check the kernel in FOLDER: right, or wrong with the cause; how much it loads, and on a GPU its time, both beside
    the author's solution.
    """
    from sitegen.measure.exercise import JOB, check_folder

    if not (folder / JOB).exists():
        raise click.UsageError(f"{folder} was not written by `sitegen exercise start`")
    passed, lines = check_folder(folder)
    for line in lines:
        click.echo(printable(line))
    if not passed:
        sys.exit(1)
