"""Define the commands of an author: build, check, serve, new."""

from __future__ import annotations

import datetime as dt
import json
import os.path
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from sitegen.cli.collector import tune_for_build, tuned_for_preview
from sitegen.cli.common import fail, output_errors, report, require_states, say, site_root, write_new
from sitegen.cli.progress import build_summary, explain_page, say_profile, step_listener

NEW_FOLDER = click.Path(path_type=Path, file_okay=False)


class Day(click.ParamType[dt.date]):
    """A date in ISO 8601."""

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
@click.option("--profile", is_flag=True, help="Print the time of each step.")
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
    from sitegen.pipeline.build import update
    from sitegen.pipeline.request import OUTPUT
    from sitegen.pipeline.steps import Steps

    tune_for_build()
    root = site_root()
    if require_fresh or require_current:
        from sitegen.pipeline.in_memory import load

        with output_errors():
            loaded = load(root, as_of=as_of)
        require_states(loaded, fresh=True, current=require_current)
    steps = Steps() if quiet or as_json or profile else Steps(step_listener())
    with output_errors():
        result = update(root, out or root / OUTPUT, as_of=as_of, steps=steps)
    if result.report:
        say(result.report)
    if profile:
        say_profile(steps)
    if as_json:
        click.echo(json.dumps(build_summary(result, steps), indent=1, ensure_ascii=False))
    if result.failed:
        fail("nothing was written, the previous output is as it was")
    if explain is not None:
        click.echo("\n".join(explain_page(result, explain)))
    if not quiet and not as_json:
        written = result.written
        say(
            f"{written.files} files: {written.added} new, {written.changed} changed, "
            f"{written.unchanged} as they were, {written.removed} removed"
        )


@click.command()
@click.option("--as-of", type=Day(), help="Check the site as of this day (default: today in the site's timezone).")
@click.option("--fix", is_flag=True, help="Show as a diff what can be mended safely, and write it.")
@click.option("--force", is_flag=True, help="With --fix, change files that git has no copy of, too.")
def check(as_of: dt.date | None, fix: bool, force: bool) -> None:
    """Report every mistake of the site.  Drafts and posts with a future date are checked, too.  Exits with 1 when there
    is an error, a figure that is typed into a post or a page, or anything to say about the worklog.  Without --fix, it
    writes nothing.
    """
    from sitegen.pipeline.in_memory import check as check_site

    root = site_root()
    with output_errors():
        site = check_site(root, as_of=as_of, redacted=not fix)
        if fix:
            from sitegen.cli.fixing import mend

            if mend(root, site.diagnostics, site.loaded.texts, force=force):
                site = check_site(root, as_of=as_of, redacted=False)
    report(site.diagnostics, site.loaded.texts)
    if site.failed or site.has_typed_figures or site.has_worklog_habits:
        sys.exit(1)
    say("no mistakes" if not site.diagnostics else "warnings only")


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
    from sitegen.pipeline.preview import PreviewSite
    from sitegen.pipeline.request import usable_cores
    from sitegen.serve import server

    root = site_root()
    preview = PreviewSite(root, as_of=as_of)
    try:
        with output_errors(), server.listening(port) as opened:
            with tuned_for_preview():
                preview.follow(processes=usable_cores())  # a process with threads cannot fork
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
    """Make a new site, a new post, or the schemas for an editor."""


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
        click.echo(os.path.relpath(root / path))  # relative to the author's folder, which may be below the root

    write_new(write)


@new.command("schemas")
def new_schemas() -> None:
    """Write the JSON Schemas of this version into schemas/.  An editor for YAML explains and checks keys by them, where
    a file begins with `# yaml-language-server: $schema=` and the path of its schema.
    """
    from sitegen.write.scaffold import schema_files, write

    root = site_root()
    texts = schema_files()
    write_new(lambda: write(root, texts))
    click.echo("\n".join(os.path.relpath(root / path) for path in texts))
