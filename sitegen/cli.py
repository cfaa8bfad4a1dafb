"""The commands.  The only place that prints and exits; each command imports what it needs when it runs.

Data goes to stdout, the rest to stderr.  Exit 0, 1 (the author's mistake or a failed check), 2 (usage).
A bug in sitegen keeps its traceback.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

import sitegen
from sitegen.diagnostics import Diagnostic, Severity, has_errors, render_diagnostics

if TYPE_CHECKING:
    from sitegen.build import Loaded
    from sitegen.execute.plan import Inventory
    from sitegen.execute.progress import Progress
    from sitegen.execute.targets import Target
    from sitegen.model.record import Record
    from sitegen.results.freshness import Freshness

FILE = click.Path(path_type=Path, dir_okay=False)
NEW_FOLDER = click.Path(path_type=Path, file_okay=False)


class Day(click.ParamType[dt.date]):
    """A date as ISO 8601 writes it."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dt.date:
        try:
            return value if isinstance(value, dt.date) else dt.date.fromisoformat(value)
        except ValueError:
            self.fail(f"{value} is no date; write it as 2026-11-21", param, ctx)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(sitegen.__version__, prog_name="sitegen")
def main() -> None:
    """Posts about GPU kernels, measured on a GPU machine, published as a static site."""


# region: build


@main.command()
@click.option("--out", type=NEW_FOLDER, help="Where to write (default: public/ in the site).")
@click.option("--as-of", type=Day(), help="Build as if it were this day (default: today in the site's timezone).")
@click.option("--require-fresh", is_flag=True, help="Fail when a record is stale or missing.")
@click.option("--require-current", is_flag=True, help="Fail when a record is outdated, too.")
def build(out: Path | None, as_of: dt.date | None, require_fresh: bool, require_current: bool) -> None:
    """Build the site from its records: no GPU, no torch, no network."""
    from sitegen.build import build as build_files
    from sitegen.build import publish
    from sitegen.write.output import OutputError

    root = site_root()
    built = build_files(root, as_of=as_of)
    report(built.diagnostics, built.loaded.texts)
    if built.failed:
        fail("nothing was written, the previous output is as it was")
    require(built.loaded, fresh=require_fresh or require_current, current=require_current)
    try:
        written = publish(built, out or root / "public")
    except OutputError as error:
        report([error.diagnostic], {})
        sys.exit(1)
    say(
        f"{len(built.files)} files: {written.added} new, {written.changed} changed, "
        f"{written.unchanged} as they were, {written.removed} removed"
    )


@main.command()
@click.option("--as-of", type=Day(), help="Check as if it were this day.")
def check(as_of: dt.date | None) -> None:
    """Report every mistake of the site; write nothing."""
    from sitegen.build import build as build_files

    built = build_files(site_root(), as_of=as_of)
    report(built.diagnostics, built.loaded.texts)
    if built.failed:
        sys.exit(1)
    say("no mistakes" if not built.diagnostics else "warnings only")


@main.command()
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--as-of", type=Day(), help="Show the site as of this day.")
def serve(port: int, as_of: dt.date | None) -> None:
    """Preview on this machine, drafts too: build on every change, reload the browser, show mistakes over the page."""
    from urllib.parse import urlsplit

    from sitegen.build import build as build_files
    from sitegen.serve.live import Preview
    from sitegen.serve.server import PortTakenError
    from sitegen.serve.server import serve as serve_until_interrupted

    root = site_root()

    def preview() -> Preview:
        built = build_files(root, as_of=as_of, everything=True)
        mistakes = render_diagnostics(built.diagnostics, built.loaded.texts) if built.failed else ""
        path = urlsplit(built.loaded.site.config.base_url).path.strip("/")
        return Preview(built.files, mistakes, f"/{path}/" if path else "/")

    try:
        serve_until_interrupted(root, preview, port, say)
    except PortTakenError as error:
        fail(str(error))


# endregion
# region: measure


@main.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--all", "everything", is_flag=True, help="Repeat what is fresh, too (default: what is stale or missing)."
)
@click.option("--stale", is_flag=True, help="Only what is stale or missing: the default, written out.")
@click.option("--on", "target", default="local", show_default=True, help="A target of site.yaml, or local.")
@click.option("--bundle", "bundle_file", type=FILE, help="Execute a bundle here; needs no site.")
@click.option("-o", "--output", type=FILE, help="With --bundle: where the results go.")
def run(
    names: tuple[str, ...], everything: bool, stale: bool, target: str, bundle_file: Path | None, output: Path | None
) -> None:
    """Measure on a GPU: kernels, cells of posts, ceilings.  NAME is softmax, softmax/fused or posts/softmax."""
    if everything and stale:
        raise click.UsageError("--all and --stale contradict each other")
    if (bundle_file is None) != (output is None):
        raise click.UsageError("--bundle and -o belong together")
    if bundle_file is not None and output is not None:
        run_bundle(bundle_file, output)
    else:
        run_here(names, everything, target)


def run_bundle(bundle_file: Path, output: Path) -> None:
    """On a GPU machine, which has no pydantic, no YAML reader and no site."""
    from sitegen.execute import bundle as bundles
    from sitegen.execute.archive import BadArchive

    try:
        results = bundles.run_bundle(bundle_file, output, progress=say_progress)
    except (BadArchive, OSError) as error:
        fail(str(error))
    tell(results.results)
    say(f"{len(results.results)} results in {output}")
    if any_failed(results.results):
        sys.exit(1)


def run_here(names: Sequence[str], everything: bool, where: str) -> None:
    from sitegen.execute import session

    loaded = load_site_or_exit()
    target = target_of(loaded, where)
    with usage_errors():
        outcome = session.run(
            loaded.root, inventory_of(loaded), target, names, everything=everything, progress=say_progress
        )
    if outcome.results is None:
        say("everything is fresh")
        return
    tell(outcome.results.results)
    if outcome.stored is None:
        say("no GPU here: correctness was checked under Triton's interpreter, nothing was timed and nothing is stored")
    if any_failed(outcome.results.results):
        sys.exit(1)


@main.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="Also what is fresh.")
@click.option("-o", "--output", type=FILE, required=True, help="The zip to write.")
def bundle(names: tuple[str, ...], everything: bool, output: Path) -> None:
    """Write one zip with the work for a GPU machine that has no network."""
    from sitegen.execute import session

    loaded = load_site_or_exit()
    with usage_errors():
        jobs = session.bundle(loaded.root, inventory_of(loaded), output, names, everything=everything)
    say(f"{len(jobs)} jobs in {output}" if jobs else "everything is fresh, nothing was written")


@main.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
def accept(file: Path) -> None:
    """Check the results that a GPU machine made of a bundle, and store them as records."""
    from sitegen.execute import session

    loaded = load_site_or_exit()
    outcome = session.accept(loaded.root, inventory_of(loaded), file)
    report(outcome.diagnostics, {})
    if outcome.results is None or outcome.stored is None:
        sys.exit(1)
    tell(outcome.results.results)
    if not outcome.results.complete:
        say("the run was cut short: what it finished is stored, the rest stays as it was")
    stored = outcome.stored
    for line in stored.lost:
        say(f"lost: {line}")
    say(f"stored {len(stored.records)} records and {len(stored.cells)} cells of run {stored.run.id}")


@main.command()
@click.option("--json", "as_json", is_flag=True, help="For programs, on stdout.")
def status(as_json: bool) -> None:
    """What is stale and why, what was never measured, which goals are met."""
    from sitegen.execute.session import goals_by_gpu, status_by_gpu

    loaded = load_site_or_exit()
    states = status_by_gpu(inventory_of(loaded))
    if as_json:
        click.echo(json.dumps({gpu: as_rows(found) for gpu, found in states.items()}, indent=1, ensure_ascii=False))
        return
    for gpu, found in states.items():
        click.echo(f"{gpu or 'no GPU'}: {counted(found)}")
        for title, state in found.items():
            if state.state != "fresh":
                click.echo(f"  {title}  {state.sentence}")
    for gpu, goals in goals_by_gpu(inventory_of(loaded)).items():
        for result in goals:
            value = "" if result.value is None else f" ({result.value:.3f} by {result.name})"
            click.echo(f"{gpu}: goal {result.state}: {result.goal.text}{value}")


@main.command()
@click.argument("before", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.argument("after", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--markdown", is_flag=True, help="A table for a pull request.")
def compare(before: Path, after: Path, markdown: bool) -> None:
    """Compare two records: faster, same, slower or ambiguous, by ratios and of-ceiling, never by microseconds."""
    from sitegen.results.compare import compare_records, render_markdown, render_text

    loaded = load_site_or_exit()
    old, new = read_record(before), read_record(after)
    try:
        rows = compare_records(loaded.site, old, new)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    click.echo(render_markdown(rows) if markdown else render_text(rows))


# endregion
# region: new


@main.group()
def new() -> None:
    """Start a site or a post."""


@new.command("site")
@click.argument("folder", type=NEW_FOLDER)
@click.option("--title", help="Default: the folder's name.")
def new_site(folder: Path, title: str | None) -> None:
    """Make a site in FOLDER that builds as it is."""
    from sitegen.write.scaffold import create, new_site_files

    write_new(lambda: create(folder, new_site_files(title or folder.resolve().name, dt.date.today())))
    say(f"{folder} is a site: `cd {folder}`, `sitegen serve`")


@new.command("post")
@click.argument("title")
def new_post(title: str) -> None:
    """Start a draft called TITLE."""
    from sitegen.write.scaffold import create, new_post_file

    root = site_root()

    def write() -> None:
        path, text = new_post_file(title, dt.date.today())
        create(root, {path: text})
        click.echo(path)

    write_new(write)


# endregion
# region: what the commands share


def site_root() -> Path:
    from sitegen.read import find_root

    root = find_root(Path.cwd())
    if root is None:
        raise click.UsageError("no content/site.yaml here or above; `sitegen new site DIR` makes a site")
    return root


def load_site_or_exit() -> Loaded:
    """The site, when it has no mistakes: a measurement of half a site would be half a truth."""
    from sitegen.build import load

    loaded = load(site_root(), everything=True)
    report(loaded.diagnostics, loaded.texts)
    if has_errors(loaded.diagnostics):
        sys.exit(1)
    return loaded


def inventory_of(loaded: Loaded) -> Inventory:
    from sitegen.execute import session

    return session.inventory_of(loaded.site, loaded.documents, loaded.records)


def require(loaded: Loaded, *, fresh: bool, current: bool) -> None:
    """Exits 1 when a record is not in the required state."""
    refused = ({"stale", "missing"} if fresh else set()) | ({"outdated"} if current else set())
    if not refused:
        return
    from sitegen.execute.session import status_by_gpu

    lines = [
        f"{title} on {gpu}: {state.sentence}"
        for gpu, states in status_by_gpu(inventory_of(loaded)).items()
        for title, state in states.items()
        if state.state in refused
    ]
    if lines:
        say("\n".join(lines))
        fail(f"{len(lines)} records are not as required, nothing was written")


def as_rows(states: Mapping[str, Freshness]) -> list[dict[str, Any]]:
    return [{"name": name, "state": s.state, "reasons": list(s.reasons)} for name, s in states.items()]


def counted(states: Mapping[str, Freshness]) -> str:
    """`41 fresh, 2 stale`."""
    counts: dict[str, int] = {}
    for state in states.values():
        counts[state.state] = counts.get(state.state, 0) + 1
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing to record"


def target_of(loaded: Loaded, name: str) -> Target:
    from sitegen.execute.targets import NoTarget, configured_target

    try:
        return configured_target(name, loaded.site.config.targets)
    except NoTarget as error:
        raise click.UsageError(str(error)) from error


def read_record(path: Path) -> Record:
    """A record in a file, which need not be the site's; exits with its mistakes."""
    from sitegen.model.record import Record
    from sitegen.results.shape import parse

    text = path.read_text(encoding="utf-8", errors="replace")
    record, mistakes = parse(Record, text, str(path))
    report(mistakes, {str(path): text})
    if record is None:
        sys.exit(1)
    return record


@contextlib.contextmanager
def usage_errors() -> Iterator[None]:
    """A name on the command line that the site does not have is a mistake of usage."""
    from sitegen.execute.plan import UnknownName

    try:
        yield
    except UnknownName as error:
        raise click.UsageError(str(error)) from error


def say_progress(progress: Progress) -> None:
    seconds = f" {progress.seconds:.0f} s" if progress.seconds else ""
    say(f"[{progress.done}/{progress.total}] {progress.job} {progress.state}{seconds} {progress.message}".rstrip())


def record_in(file: Path) -> Record:
    """The record in a file, anywhere.  Exits 1 when it is none."""
    from sitegen.model.record import Record
    from sitegen.read.source import decode
    from sitegen.results.shape import parse

    text, undecodable = decode(file.read_bytes(), str(file))
    record, mistakes = parse(Record, text, str(file))
    report([*undecodable, *mistakes], {str(file): text})
    if record is None or undecodable:
        sys.exit(1)
    return record


def any_failed(results: Sequence[Any]) -> bool:
    """Whether a job could not be done.  Without a GPU there are no ceilings to measure, which is no failure."""
    gpu = any(result.environment for result in results)
    return any(result.error for result in results if gpu or result.kind != "ceilings")


def tell(results: Sequence[Any]) -> None:
    """One line for everything that did not pass."""
    for result in results:
        for line in (result.error, *result.warnings):
            if line:
                say(f"{result.id}: {line}")
        for evaluation in result.evaluations:
            if evaluation.status.failed:
                say(f"{result.id} {evaluation.name}: {evaluation.status}: {evaluation.message}")
        for rejection in result.rejections:
            if rejection.status not in (rejection.expected, "not_run"):
                say(f"{result.id} {rejection.name}: {rejection.status}, must be {rejection.expected}")
        for cell in result.cells:
            if cell.status not in ("passed", "not_run"):
                say(f"{result.id}#{cell.label}: {cell.status}")


def report(diagnostics: Collection[Diagnostic], texts: Mapping[str, str]) -> None:
    """All mistakes, with their frames, and their count."""
    if not diagnostics:
        return
    errors = sum(d.severity is Severity.ERROR for d in diagnostics)
    say(render_diagnostics(diagnostics, texts))
    say(f"\n{errors} errors, {len(diagnostics) - errors} warnings")


def write_new(write: Callable[[], None]) -> None:
    from sitegen.write.output import OutputError

    try:
        write()
    except OutputError as error:
        report([error.diagnostic], {})
        sys.exit(1)


def say(text: str) -> None:
    click.echo(text, err=True)


def fail(text: str) -> NoReturn:
    say(f"sitegen: {text}")
    sys.exit(1)


# endregion
