"""Define the command `verify`: judge the records of a site, and trace each figure of its built pages to a record."""

from __future__ import annotations

import datetime as dt
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sitegen.cli.common import fail, number_of, output_errors, report, say, site_root
from sitegen.cli.site import NEW_FOLDER, Day

if TYPE_CHECKING:
    from sitegen.pipeline.verify_pages import PageDoubt, VerifiedPages

MOST_DOUBTS = 20
"""The most doubts that are printed; `--json` has all."""


@click.command()
@click.option("--out", type=NEW_FOLDER, help="Verify the pages in this folder (default: public/ in the site).")
@click.option("--as-of", type=Day(), help="The day for which the pages were built (default: today).")
@click.option("--strict", is_flag=True, help="Exit with 1 also if a figure has no record, or there is a warning.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts and every doubt as JSON on stdout.")
def verify(out: Path | None, as_of: dt.date | None, strict: bool, as_json: bool) -> None:
    """Check that every record matches its schema, its key and the site, and that every figure of the built pages comes
    from a record.  The site is printed again from its records and compared with the folder, figure by figure.
    """
    from sitegen.pipeline.in_memory import build_in_memory
    from sitegen.pipeline.request import OUTPUT
    from sitegen.pipeline.verify_pages import verify_pages
    from sitegen.results.verify_keys import key_contradictions

    root = site_root()
    folder = out or root / OUTPUT
    if not folder.is_dir():
        raise click.UsageError(f"there is no folder {folder}; `sitegen build` writes it")
    with output_errors():
        printed = build_in_memory(root, as_of=as_of, with_forms=False)
    loaded = printed.loaded
    report(printed.diagnostics, loaded.texts)
    if printed.failed:
        fail("the site has errors, no page was verified")
    contradictions = [
        sentence
        for kernel in loaded.site.kernels
        for record in loaded.records.of_kernel(kernel.name).values()
        for sentence in key_contradictions(kernel, record, loaded.site.files)
    ]
    verified = verify_pages(folder, printed)
    for sentence in contradictions:
        say(sentence)
    if as_json:
        click.echo(json.dumps(_as_json(verified, contradictions), indent=1, ensure_ascii=False))
    else:
        _print(verified, folder, len(loaded.records.kernels), len(loaded.records.cells))
    if contradictions or verified.wrong or (strict and (verified.doubts or printed.diagnostics)):
        sys.exit(1)


def _print(verified: VerifiedPages, folder: Path, kernels: int, cells: int) -> None:
    for doubt in verified.doubts[:MOST_DOUBTS]:
        say(f"{folder / doubt.path}{_place(doubt)}: {doubt.message}")
    if (rest := len(verified.doubts) - MOST_DOUBTS) > 0:
        say(f"and {rest} more; `--json` has all")
    click.echo(f"records: {number_of(kernels, 'record')} of kernels, {cells} of cells")
    click.echo(
        f"figures: {verified.found} found on {number_of(verified.pages, 'page')}, {verified.traced} traced, "
        f"{verified.untraced} untraced"
    )


def _place(doubt: PageDoubt) -> str:
    figure = doubt.figure
    if figure is None:
        return ""
    return f":{figure.line}:{figure.col}{f' (#{figure.id})' if figure.id else ''}"


def _as_json(verified: VerifiedPages, contradictions: list[str]) -> dict[str, Any]:
    return {
        "pages": verified.pages,
        "found": verified.found,
        "traced": verified.traced,
        "untraced": verified.untraced,
        "records": contradictions,
        "doubts": [
            {
                "kind": doubt.kind,
                "page": doubt.path,
                "message": doubt.message,
                "line": doubt.figure.line if doubt.figure else None,
                "column": doubt.figure.col if doubt.figure else None,
                "id": doubt.figure.id if doubt.figure else "",
                "record": doubt.figure.record if doubt.figure else "",
            }
            for doubt in verified.doubts
        ],
    }
