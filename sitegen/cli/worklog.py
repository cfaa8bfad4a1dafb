"""Write the worklog from the command line: open today's entry, or add a line to it."""

from __future__ import annotations

import datetime as dt
import os
import sys
from pathlib import Path

import click

from sitegen import inside
from sitegen.cli.common import output_errors, site_root
from sitegen.cli.site import Day
from sitegen.read.config import parse_config, zone_of
from sitegen.read.load import WORKLOG, text_files
from sitegen.read.root import SITE_FILE
from sitegen.read.texts import read_text
from sitegen.write.fixes import encoded_like
from sitegen.write.journal import with_line, with_today
from sitegen.write.output import OutputError, unwritable_error

DAY = click.option("--date", "day", type=Day(), help="Write the entry of this day (default: today in the site's zone).")


@click.group()
def worklog() -> None:
    """Write today's entry of the worklog."""


@worklog.command("today")
@DAY
def today(day: dt.date | None) -> None:
    """Make today's entry when it is missing, and print its path.  In a terminal, open it in $VISUAL or $EDITOR.

    A new entry has the date, the countdown, the list in the worklog's introduction, and the tasks that are still open.
    """
    root = site_root()
    path = _write(root, day, None)
    click.echo(os.path.relpath(root / path))
    if sys.stdin.isatty() and sys.stdout.isatty() and (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        click.edit(filename=str(root / path))


@worklog.command("add")
@click.argument("line")
@DAY
def add(line: str, day: dt.date | None) -> None:
    """Add LINE to the end of today's entry, which is made when it is missing, and print its path."""
    root = site_root()
    click.echo(os.path.relpath(root / _write(root, day, " ".join(line.split()))))


def _write(root: Path, day: dt.date | None, line: str | None) -> str:
    """Write the entry of a day, with one more line if there is one, and return the path of its file."""
    config, _ = parse_config(read_text(root, SITE_FILE)[0] or "")
    date = day or dt.datetime.now(zone_of(config)).date()
    goal = config.countdown.date if config.countdown else None
    with output_errors():
        try:
            with inside.locked_folder(root, WORKLOG.rstrip("/")):  # one terminal at a time reads and writes
                files = {path: read_text(root, path)[0] or "" for path in text_files(root) if path.startswith(WORKLOG)}
                path, text = with_today(files, date, goal)
                text = text if line is None else with_line(text, path, date, line)
                if text != files.get(path):
                    before = inside.read_bytes(root, path) if path in files else b""
                    inside.write_bytes(root, path, encoded_like(text, before))
        except UnicodeDecodeError as error:
            raise OutputError(path, f"`{path}` is not UTF-8", "save it as UTF-8 first") from error
        except OSError as error:
            raise unwritable_error(str(error.filename or root), error, "mend its permissions") from error
    return path
