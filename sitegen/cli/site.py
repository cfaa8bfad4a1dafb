"""The commands of an author: build, check, serve, new."""

from __future__ import annotations

import atexit
import datetime as dt
import gc
import json
import os.path
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from sitegen.cli.common import fail, output_errors, report, require, say, site_root, write_new
from sitegen.cli.progress import as_data, explained, say_profile, shown_stages
from sitegen.diagnostics import has_errors

NEW_FOLDER = click.Path(path_type=Path, file_okay=False)


class Day(click.ParamType[dt.date]):
    """A date as ISO 8601 writes it."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dt.date:
        try:
            return value if isinstance(value, dt.date) else dt.date.fromisoformat(value)
        except ValueError:
            self.fail(f"{value} is no date; write it as 2026-11-21", param, ctx)


@click.command()
@click.option("--out", type=NEW_FOLDER, help="Write the site into this folder (default: public/ in the site).")
@click.option("--as-of", type=Day(), help="Build the site as of this day (default: today in the site's timezone).")
@click.option("--require-fresh", is_flag=True, help="Write nothing and exit with 1 if a record is stale or missing.")
@click.option("--require-current", is_flag=True, help="Write nothing and exit with 1 if a record is outdated, too.")
@click.option("--explain", metavar="PAGE", help="Print why the build last wrote this page, e.g. posts/softmax/.")
@click.option("--profile", is_flag=True, help="Print the time of each stage.")
@click.option("--quiet", is_flag=True, help="Print only mistakes.")
@click.option("--json", "as_json", is_flag=True, help="Print a summary of the build as JSON on stdout.")
def build(
    out: Path | None,
    as_of: dt.date | None,
    require_fresh: bool,
    require_current: bool,
    explain: str | None,
    profile: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Build the site from its texts and records.  This needs no GPU, no torch and no network."""
    from sitegen.build.stages import Stages
    from sitegen.build.update import OUTPUT, update

    gc.set_threshold(1_000_000, 50, 1000)  # to look for garbage in what a build keeps took a fifth of an edit's time
    atexit.register(gc.freeze)  # nor as the process ends, where it took 60 ms of a build of 1,000 posts
    root = site_root()
    if require_fresh or require_current:
        from sitegen.build.whole import load

        with output_errors():
            loaded = load(root, as_of=as_of)
        require(loaded, fresh=True, current=require_current)
    stages = Stages() if quiet or as_json or profile else Stages(shown_stages())
    with output_errors():
        outcome = update(root, out or root / OUTPUT, as_of=as_of, stages=stages)
    if outcome.report:
        say(outcome.report)
    if profile:
        say_profile(stages)
    if as_json:
        click.echo(json.dumps(as_data(outcome, stages), indent=1, ensure_ascii=False))
    if outcome.failed:
        fail("nothing was written, the previous output is as it was")
    if explain is not None:
        click.echo("\n".join(explained(outcome, explain)))
    if not quiet and not as_json:
        written = outcome.written
        say(
            f"{written.files} files: {written.added} new, {written.changed} changed, "
            f"{written.unchanged} as they were, {written.removed} removed"
        )


@click.command()
@click.option("--as-of", type=Day(), help="Check the site as of this day (default: today in the site's timezone).")
def check(as_of: dt.date | None) -> None:
    """Report every mistake of the site, and write nothing.  Drafts and posts with a future date are checked, too."""
    from sitegen.build.whole import build as build_files
    from sitegen.build.whole import load

    root = site_root()
    with output_errors():
        built, waiting = build_files(root, as_of=as_of, with_forms=False), load(root, as_of=as_of, everything=True)
    found = {*built.diagnostics, *waiting.diagnostics}
    report(found, built.loaded.texts)
    if has_errors(found):
        sys.exit(1)
    say("no mistakes" if not found else "warnings only")


@click.command()
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port; 0 chooses a free one.",
)
@click.option("--as-of", type=Day(), help="Show the site as of this day (default: today in the site's timezone).")
@click.option("--open", "opens", is_flag=True, help="Open a browser, which follows you to each text that you save.")
def serve(port: int, as_of: dt.date | None, opens: bool) -> None:
    """Show the site with its drafts in a browser on this machine.  After each save the server reloads the open pages
    that changed.  It shows mistakes over the page.
    """
    from sitegen.build.resident import Resident
    from sitegen.build.workers import cores
    from sitegen.serve import server

    gc.set_threshold(100_000, 50, 1000)
    gc.disable()  # until the site is read, of which nothing is garbage
    root = site_root()
    preview = Resident(root, as_of=as_of)
    try:
        with output_errors(), server.listening(port) as opened:
            preview.follow(processes=cores())  # before there are threads, with which a process must not be forked
            gc.enable()
            say(preview.report or "no mistakes")
            say(server.address(opened, preview))
            if opens:
                import webbrowser

                webbrowser.open(server.address(opened, preview))
            server.serve(preview, opened, say, jump=opens)
    except server.PortTakenError as error:
        fail(str(error))


@click.group()
def new() -> None:
    """Make a new site or a new post."""


@new.command("site")
@click.argument("folder", type=NEW_FOLDER)
@click.option("--title", help="Give the site this title (default: the folder's name).")
def new_site(folder: Path, title: str | None) -> None:
    """Make a site in FOLDER, with a post, a kernel, a series and a day of the worklog."""
    from sitegen.write.scaffold import INSTALLED, create, names_a_source, new_site_files

    texts = new_site_files(title or folder.resolve().name, dt.date.today())
    write_new(lambda: create(folder, texts))
    say(f"{folder} is a site: `cd {shlex.quote(str(folder))}`, `sitegen serve`")
    if not names_a_source(texts):
        say(f"before you push it to GitHub: write into {' and '.join(INSTALLED)} where to install sitegen from")


@new.command("post")
@click.argument("title")
def new_post(title: str) -> None:
    """Make a draft with the title TITLE, and print its path."""
    from sitegen.write.scaffold import create, new_post_file

    root = site_root()

    def write() -> None:
        path, text = new_post_file(title, dt.date.today())
        create(root, {path: text})
        click.echo(os.path.relpath(root / path))  # from where the author stands, maybe below the site

    write_new(write)
