"""Import the files of another program into a site with `sitegen import`.  It loses no line of a file."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sitegen.cli.common import OldFile, number_of, output_errors, report, say, write_new
from sitegen.diagnostics import has_errors
from sitegen.read.root import find_root

if TYPE_CHECKING:
    from sitegen.importing.folders.convert import Dialect
    from sitegen.importing.plan import ImportPlan

FOLDER = click.Path(path_type=Path, file_okay=False)
FOLDER_THERE = click.Path(path_type=Path, file_okay=False, exists=True)
FILE = OldFile()
INTO = click.option(
    "--into",
    type=FOLDER,
    help="Write into the site in this folder (default: the site around the working folder).",
)


@click.group("import")
def import_() -> None:
    """Import a site or a folder of another program, a diary or a notebook.  The import loses no line of a file that is
    there.
    """


@import_.command("jekyll")
@click.argument("folder", type=FOLDER_THERE)
@INTO
def jekyll(folder: Path, into: Path | None) -> None:
    """Turn the Jekyll site in FOLDER into posts, pages and a worklog.  The old addresses stay valid."""
    from sitegen.importing.jekyll.convert import import_jekyll

    root = _root_outside(folder, into)
    _write_mended(root, import_jekyll(folder))


@import_.command("hugo")
@click.argument("folder", type=FOLDER_THERE)
@INTO
def hugo(folder: Path, into: Path | None) -> None:
    """Turn the Hugo site in FOLDER into posts and pages.  The old addresses stay valid."""
    from sitegen.importing.folders.hugo import HUGO

    _import_folder(folder, into, HUGO)


@import_.command("myst")
@click.argument("folder", type=FOLDER_THERE)
@INTO
def myst(folder: Path, into: Path | None) -> None:
    """Turn the book of MyST or Jupyter Book in FOLDER into posts, and its table of contents into a series."""
    from sitegen.importing.folders.myst import MYST

    _import_folder(folder, into, MYST)


@import_.command("quarto")
@click.argument("folder", type=FOLDER_THERE)
@INTO
def quarto(folder: Path, into: Path | None) -> None:
    """Turn the Quarto site in FOLDER into posts and pages.  The old addresses stay valid."""
    from sitegen.importing.folders.quarto import QUARTO

    _import_folder(folder, into, QUARTO)


@import_.command("obsidian")
@click.argument("folder", type=FOLDER_THERE)
@INTO
def obsidian(folder: Path, into: Path | None) -> None:
    """Turn the notes of the Obsidian vault in FOLDER into posts, and its daily notes into days of the worklog."""
    from sitegen.importing.folders.obsidian import OBSIDIAN

    _import_folder(folder, into, OBSIDIAN)


@import_.command("worklog")
@click.argument("file", type=FILE)
@INTO
@click.option("--dry-run", is_flag=True, help="Only print what each line was taken for, and what would change.")
def worklog(file: Path, into: Path | None, dry_run: bool) -> None:
    """Split the diary in FILE into a file for each day, and merge it with the worklog of the site.

    The command prints what it took each line for.  Where the site has an entry of the same day, it keeps the lines of
    both, and the cleaner one of two that say the same.
    """
    from sitegen.importing.worklog import import_worklog, understood
    from sitegen.read.load import WORKLOG, text_files
    from sitegen.read.source import decode
    from sitegen.read.texts import read_text
    from sitegen.write.fixes import diff

    root = _root(into)
    there = {path: read_text(root, path)[0] or "" for path in text_files(root) if path.startswith(WORKLOG)}
    plan = import_worklog(file, there)
    for line in understood(decode(file.read_bytes(), file.name)[0]):
        click.echo(line)
    for path, text in plan.merged.items():
        click.echo(diff(there[path], text, path), nl=False)
    if dry_run:
        report(plan.diagnostics, plan.texts)
        say(
            f"{number_of(len(plan.files), 'new file')}, {number_of(len(plan.merged), 'file')} to merge; nothing written"
        )
        return
    _write_import(root, plan)


@import_.command("notebook")
@click.argument("file", type=FILE)
@INTO
def notebook(file: Path, into: Path | None) -> None:
    """Turn the Jupyter notebook in FILE into a draft.  Its cells are executable; `sitegen run` makes their outputs."""
    from sitegen.importing.notebook import import_notebook

    _write_mended(_root(into), import_notebook(file, dt.date.today()))


@import_.command("plugin")
@click.argument("importer")
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@INTO
def plugin(importer: str, source: Path, into: Path | None) -> None:
    """Turn SOURCE into files of a site by IMPORTER, which a plugin of the site offers."""
    from sitegen.diagnostics import did_you_mean
    from sitegen.importing.plan import ImportPlan
    from sitegen.pipeline.plugins import load_plugins
    from sitegen.read.load import load_site

    root = _root(into)
    plugins, mistakes = load_plugins(load_site(root)[0].config.plugins)
    report(mistakes, {})
    known = {name: make for one in plugins for name, make in one.plugin.importers.items()}
    if importer not in known:
        hint = did_you_mean(importer, known) or f"known: {', '.join(known) or 'none'}"
        raise click.UsageError(f"no plugin of the site has an importer `{importer}`; {hint}")
    _write_import(root, ImportPlan(known[importer](source)))


def _root(into: Path | None) -> Path:
    return into or find_root(Path.cwd()) or Path.cwd()


def _root_outside(folder: Path, into: Path | None) -> Path:
    """Return the root of the site.  Exits when it stands in the folder that is read."""
    root = _root(into)
    if root.resolve().is_relative_to(folder.resolve()):
        raise click.UsageError(f"the site cannot stand in {folder}, which is read; name another folder with `--into`")
    return root


def _import_folder(folder: Path, into: Path | None, dialect: Dialect) -> None:
    """Import a folder by the rules of its dialect."""
    from sitegen.importing.folders.convert import import_folder

    _write_mended(_root_outside(folder, into), import_folder(folder, dialect, dt.date.today()))


def _write_mended(root: Path, plan: ImportPlan) -> None:
    """Mend the texts until they build, write them, and report how much came over."""
    from sitegen.importing.counts import compared, report_lines
    from sitegen.pipeline.mend_import import mend_plan

    with output_errors():
        mended = mend_plan(plan, root)
    for line in report_lines(compared(mended.sources, mended.files)):
        say(line)
    _write_import(root, mended)


def _write_import(root: Path, plan: ImportPlan) -> None:
    """Write the missing files and report the import.  Exits with 1 when something could not be imported."""
    from sitegen.importing.plan import ImportResult, write_merged, write_missing

    results: list[ImportResult] = []
    write_new(lambda: results.append(write_missing(root, plan.files)))
    write_new(lambda: write_merged(root, plan.merged))
    report(plan.diagnostics, plan.texts)
    for path in plan.merged:
        say(f"{path} was merged")
    for result in results:
        for path in result.written:
            click.echo(path)
        for path in result.kept:
            say(f"{path} exists already and was left as it is")
        counts = f"{number_of(len(result.written), 'file')} written, {len(result.same)} there already"
        say(
            f"{counts}, {len(result.kept)} with other content left alone; `sitegen check` lists the mistakes to correct"
        )
    for note in plan.notes:
        say(note)
    if has_errors(plan.diagnostics):
        sys.exit(1)
