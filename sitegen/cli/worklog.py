"""Write the worklog from the command line: open today's entry, add lines to it, or print the report of a week."""

from __future__ import annotations

import datetime as dt
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from sitegen import inside
from sitegen.cli.common import load_site_or_exit, output_errors, site_root
from sitegen.cli.site import Day
from sitegen.read.config import parse_config, zone_of
from sitegen.read.load import WORKLOG, text_files
from sitegen.read.privacy import load_privacy
from sitegen.read.root import SITE_FILE
from sitegen.read.texts import read_text
from sitegen.write.fixes import encoded_like
from sitegen.write.journal import with_line, with_today
from sitegen.write.output import OutputError, unwritable_error

DAY = click.option("--date", "day", type=Day(), help="Write the entry of this day (default: today in the site's zone).")


@click.group()
def worklog() -> None:
    """Write today's entry of the worklog, or print the report of a week."""


@worklog.command("today")
@DAY
@click.option("--commits", is_flag=True, help="Add the commits of the day that changed the code of kernels.")
def today(day: dt.date | None, commits: bool) -> None:
    """Make today's entry when it is missing, and print its path.  In a terminal, open it in $VISUAL or $EDITOR.

    A new entry has the date, the countdown, the list in the worklog's introduction, and the tasks that are still open.
    """
    root = site_root()
    path = _write(root, day, partial(_with_commits, root) if commits else _with_nothing)
    click.echo(os.path.relpath(root / path))
    if sys.stdin.isatty() and sys.stdout.isatty() and (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        click.edit(filename=str(root / path))


@worklog.command("add")
@click.argument("line")
@DAY
def add(line: str, day: dt.date | None) -> None:
    """Add LINE to the end of today's entry, which is made when it is missing, and print its path."""
    root, words = site_root(), " ".join(line.split())
    path = _write(root, day, lambda text, path, date: with_line(text, path, date, words))
    click.echo(os.path.relpath(root / path))


@worklog.command("week")
@click.option("--date", "day", type=Day(), help="Report the week of this day (default: today in the site's zone).")
@click.option("--commits", is_flag=True, help="List the commits of the week that changed the code of kernels.")
def week(day: dt.date | None, commits: bool) -> None:
    """Print the report of a week in Markdown: what was done, read, asked and measured, and what is still open.

    The words of the redaction list and private blocks are left out, as on the pages.
    """
    from sitegen.execute.kernel_commits import kernel_commits
    from sitegen.render.outputs.week_report import week_report

    loaded = load_site_or_exit()
    date = day or loaded.as_of
    monday = date - dt.timedelta(days=date.weekday())
    found = kernel_commits(loaded.root, monday, monday + dt.timedelta(days=6)) if commits else ()
    lines = [load_privacy(loaded.root).published(str(commit), WORKLOG) for commit in found]
    click.echo(week_report(loaded.linked, loaded.records, date, lines), nl=False)


def _with_nothing(text: str, path: str, day: dt.date) -> str:
    return text


def _with_commits(root: Path, text: str, path: str, day: dt.date) -> str:
    """Return the text of a worklog file with the commits that it does not name yet at the end of a day's entry."""
    from sitegen.execute.kernel_commits import kernel_commits

    new = [f"- {commit}" for commit in kernel_commits(root, day, day) if f"({commit.hash})" not in text]
    return with_line(text, path, day, "\n".join(new)) if new else text


def _write(root: Path, day: dt.date | None, change: Callable[[str, str, dt.date], str]) -> str:
    """Write the entry of a day as `change` returns it from (text, path, day), and return the path of its file."""
    config, _ = parse_config(read_text(root, SITE_FILE)[0] or "")
    date = day or dt.datetime.now(zone_of(config)).date()
    goal = config.countdown.date if config.countdown else None
    with output_errors():
        try:
            with inside.locked_folder(root, WORKLOG.rstrip("/")):  # one terminal at a time reads and writes
                files = {path: read_text(root, path)[0] or "" for path in text_files(root) if path.startswith(WORKLOG)}
                path, text = with_today(files, date, goal)
                text = change(text, path, date)
                if text != files.get(path):
                    before = inside.read_bytes(root, path) if path in files else b""
                    inside.write_bytes(root, path, encoded_like(text, before))
        except UnicodeDecodeError as error:
            raise OutputError(path, f"`{path}` is not UTF-8", "save it as UTF-8 first") from error
        except OSError as error:
            raise unwritable_error(str(error.filename or root), error, "mend its permissions") from error
    return path
