"""Define the command that makes files of a site: new."""

from __future__ import annotations

import datetime as dt
import os.path
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from sitegen.cli.common import say, site_root, write_new

FOLDER = click.Path(path_type=Path, file_okay=False)


@click.group()
def new() -> None:
    """Make a new site, or the files of a post, a kernel, a series, an exercise, a day of the worklog."""


@new.command("site")
@click.argument("folder", type=FOLDER)
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
    from sitegen.write.scaffold import new_post_file

    _make(lambda: dict([new_post_file(title, dt.date.today())]))


@new.command("kernel")
@click.argument("name")
def new_kernel(name: str) -> None:
    """Make a kernel with the name NAME, and print the paths of its files.  It can be measured at once: a vector times a
    number, plus a vector, with a wrong variant that the checker must reject.
    """
    from sitegen.write.starters import new_kernel_files

    _make(lambda: new_kernel_files(name))


@new.command("series")
@click.argument("title")
def new_series(title: str) -> None:
    """Make a series with the title TITLE, and print its path."""
    from sitegen.write.starters import new_series_file

    _make(lambda: new_series_file(title))


@new.command("exercise")
@click.argument("title")
@click.option("--kernel", required=True, help="Let this kernel of the site judge what readers write.")
def new_exercise(title: str, kernel: str) -> None:
    """Make an exercise with the title TITLE, and print the paths of its text and of its starter."""
    from sitegen.diagnostics import did_you_mean
    from sitegen.read.load import load_site
    from sitegen.write.starters import new_exercise_files

    site, _ = load_site(site_root())
    known = {one.name: one for one in site.kernels}
    if kernel not in known:
        hint = did_you_mean(kernel, known) or f"known: {', '.join(known) or 'none'}"
        raise click.UsageError(f"no kernel `{kernel}`; {hint}")
    _make(lambda: new_exercise_files(title, known[kernel], site.files))


@new.command("worklog")
def new_worklog() -> None:
    """Make today's entry of the worklog with an example of each of its forms, and print its path."""
    from sitegen.write.starters import new_worklog_file

    _make(lambda: new_worklog_file(dt.date.today()))


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


def _make(files: Callable[[], Mapping[str, str]]) -> None:
    """Write new files of the site, and print their paths."""
    from sitegen.write.scaffold import create

    root = site_root()

    def write() -> None:
        texts = files()
        create(root, texts)
        for path in texts:
            click.echo(os.path.relpath(root / path))  # relative to the author's folder, which may be below the root

    write_new(write)
