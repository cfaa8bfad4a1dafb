"""Define the commands of an author: build, check, serve."""

from __future__ import annotations

import datetime as dt
import json
import os
import sys
import time
from collections.abc import Collection
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sitegen.cli.collector import tune_for_build, tuned_for_preview
from sitegen.cli.common import fail, number_of, output_errors, report, require_installed, require_states, say, site_root
from sitegen.cli.progress import (
    build_summary,
    explain_page,
    plugin_names,
    say_profile,
    step_listener,
    waiting_posts,
)
from sitegen.diagnostics import errors_of, has_errors, in_reading_order, printable
from sitegen.inside import locked_folder
from sitegen.model.dates import in_calendar

if TYPE_CHECKING:
    from sitegen.diagnostics import Diagnostic
    from sitegen.pipeline.in_memory import LoadedSite

NEW_FOLDER = click.Path(path_type=Path, file_okay=False)


class Day(click.ParamType[dt.date]):
    """A date in ISO 8601."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dt.date:
        try:
            return value if isinstance(value, dt.date) else in_calendar(dt.date.fromisoformat(value))
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
    if names := plugin_names(root):
        say(f"with plugins: {', '.join(names)}")
    if not quiet and not as_json:
        written = result.written
        say(
            f"{written.files} files: {written.added} new, {written.changed} changed, "
            f"{written.unchanged} as they were, {written.removed} removed"
        )
        if waiting := waiting_posts(result, root):
            say("\n".join(["", *waiting]))


@click.command()
@click.option("--as-of", type=Day(), help="Check the site as of this day (default: today in the site's timezone).")
@click.option("--fix", is_flag=True, help="Show as a diff what can be mended safely, and write it.")
@click.option("--force", is_flag=True, help="With --fix, change files that git has no copy of, too.")
@click.option("--external", is_flag=True, help="Ask other sites whether the links to them still answer.")
@click.option("--spelling", is_flag=True, help="Look for misspelt words, except those in content/words.txt.")
@click.option("--errors", is_flag=True, help="Print no warnings; their number and the exit code stay.")
@click.option("--json", "as_json", is_flag=True, help="Print the mistakes as JSON on stdout.")
def check(
    as_of: dt.date | None, fix: bool, force: bool, external: bool, spelling: bool, errors: bool, as_json: bool
) -> None:
    """Report every mistake of the site.  Drafts and posts with a future date are checked, too.  Exits with 1 when there
    is an error, a figure that is typed into a post or a page, or anything to say about the worklog.  Without --fix, it
    writes nothing.
    """
    from sitegen.pipeline.in_memory import check as check_site

    if fix and as_json:
        raise click.UsageError("--fix prints a diff, and --json only JSON: use one of them")
    root = site_root()
    with output_errors():
        # Two runs that mend at once would each change a text at the places where the other has changed it already.
        with locked_folder(root, "content") if fix else nullcontext():
            site = check_site(root, as_of=as_of, redacted=not fix)
            if fix:
                from sitegen.cli.fixing import mend

                if mend(root, site.diagnostics, site.loaded.texts, force=force):
                    site = check_site(root, as_of=as_of, redacted=False)
        dead, misspelt = (
            _dead_links(site.loaded) if external else (),
            _misspelt(site.loaded) if spelling else (),
        )
    diagnostics = (*site.diagnostics, *dead, *misspelt)
    if as_json:
        shown = in_reading_order(errors_of(diagnostics) if errors else diagnostics)
        click.echo(json.dumps([mistake_row(one) for one in shown], indent=1, ensure_ascii=False))
    else:
        report(diagnostics, site.loaded.texts, without_warnings=errors)
    reasons = {
        "the worklog has warnings": site.has_worklog_habits,
        "a figure is typed": site.has_typed_figures,
        "a link to another site is dead": bool(dead),
        "a word is misspelt": bool(misspelt),
    }
    why = " and ".join(reason for reason, holds in reasons.items() if holds)
    if not as_json and not has_errors(diagnostics):
        say(_last_line(diagnostics, why))
    if site.failed or why:
        sys.exit(1)


def _last_line(diagnostics: Collection[Diagnostic], why: str) -> str:
    """Return the line that says how a check without errors ends; `why` is the reason for an exit with 1."""
    if not diagnostics:
        return "no mistakes"
    return f"warnings only, but exit 1: {why}" if why else "warnings only: exit 0"


def mistake_row(one: Diagnostic) -> dict[str, Any]:
    """Return a mistake as a row of `check --json`; `fix` is the text that mends the marked one, or null."""
    place = {"file": one.span.path, "line": one.span.line, "column": one.span.col, "length": one.span.length}
    words = {"message": printable(one.message), "hint": printable(one.hint), "fix": one.fix}
    return {"code": one.code, "severity": one.severity.value, **place, **words}


def _dead_links(loaded: LoadedSite) -> tuple[Diagnostic, ...]:
    """Return a warning for each link to another site that nobody answers."""
    from sitegen.pipeline.external_links import ask, dead_links, external_links
    from sitegen.pipeline.user_cache import cache_of_site

    places = external_links(loaded.site, loaded.documents)
    say(f"asking other sites about {number_of(len(places), 'link')}")
    return dead_links(places, cache_of_site(loaded.root) / "external.json", ask, time.time())


def _misspelt(loaded: LoadedSite) -> tuple[Diagnostic, ...]:
    """Return a warning for each misspelt word of the site's prose."""
    from sitegen.pipeline.spelling import WORDS, misspellings
    from sitegen.read.texts import read_text

    require_installed({"codespell_lib": "spelling"})
    words, unread = read_text(loaded.root, WORDS) if os.path.lexists(loaded.root / WORDS) else ("", ())
    return (*unread, *misspellings(loaded.site.files, words or ""))


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
