"""Print the sheets of a plan: on all cores into the staging folder of the output, or in this process into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import jinja2

from sitegen.diagnostics import Diagnostic, in_reading_order
from sitegen.model.site import Post, WorklogEntry
from sitegen.pipeline.link_site import LinkedSite
from sitegen.pipeline.mistakes import mistakes_error
from sitegen.pipeline.plan import FullPlan, SheetFiles, UpdatePlan
from sitegen.pipeline.private_words import PrivateWordError
from sitegen.pipeline.search_sheet import found_pages, index_files, index_sheet, with_search_texts
from sitegen.pipeline.site_templates import template_mistake
from sitegen.pipeline.user_cache import compiled_templates
from sitegen.pipeline.workers import in_batches, map_batches
from sitegen.render.rules.discovery_rules import sitemap
from sitegen.render.rules.sheet import Files, Sheet
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.theme import environment
from sitegen.write.drawings import Drawings
from sitegen.write.output import checked_output_path, differs, encoded, stage

T = TypeVar("T")

KEPT_TEXTS = "texts"
"""The folder of the cache that keeps what the pages of all posts of a series make of each post."""


@dataclass(frozen=True, slots=True)
class StagedPages:
    """The files of all sheets of a site.  The new ones are in the staging folder."""

    plan: UpdatePlan
    sheets: Mapping[str, Sheet]
    """All sheets by name, including those that are made from pages."""
    files: Mapping[str, SheetFiles]
    """The files of each sheet, by the sheet's name."""
    printed: tuple[str, ...]
    """The names of the sheets that were printed now."""

    @property
    def site(self) -> LinkedSite:
        return self.plan.site

    @property
    def owners(self) -> dict[str, str]:
        """The name of the sheet that makes each file, by path; when two sheets make a file, the later one."""
        return _owners({name: self.files[name] for name in self.sheets})


def new_printer(site: LinkedSite) -> Printer:
    """Return the printer of a site; compiled templates are kept for the user."""
    compiled = compiled_templates(site.request.root, site.request.version)
    return Printer(site.sources, environment(site.theme, compiled))


def print_to_stage(plan: UpdatePlan) -> StagedPages:
    """Print the pages of a plan into the staging folder, and then the sheets that are made from pages.

    Raises MistakesError when one of the site's own templates fails, or a page has a word of the redaction list.
    """
    site, sheets = plan.site, dict(plan.sheets)
    kept = Drawings(site.request.cache / KEPT_TEXTS, site.request.version + plan.comparison.common_key)
    printer = replace(new_printer(site), kept_texts=kept)
    files, printed = dict(plan.unchanged), [sheet.name for sheet in plan.sheets_to_print]
    try:
        with site.request.steps.step("print", len(printed)) as tick:
            files |= _stage_sheets(plan, plan.sheets_to_print, printer, tick)
            for last, stage_files in _sheets_of_pages(plan, sheets, files, printer):
                sheets[last.name] = last
                if unchanged := plan.comparison.unchanged(last):
                    files[last.name] = unchanged
                else:
                    printed.append(last.name)
                    files[last.name] = plan.comparison.printed(last, stage_files(), None)
                    tick(1)
    except jinja2.TemplateError as error:
        mistake = template_mistake(error, site.request.root, site.theme.templates)
        raise mistakes_error((*site.mistakes, mistake), site.parsed.files) from error
    except PrivateWordError as error:
        raise mistakes_error((*site.mistakes, *error.mistakes), site.parsed.files) from error
    return StagedPages(plan, sheets, {name: files[name] for name in sheets}, tuple(printed))


@dataclass(frozen=True, slots=True)
class PagesInMemory:
    """The content of the files of a site, by path in the output."""

    site: LinkedSite
    files: Mapping[str, str | bytes]
    """The content by path; empty when one of the site's own templates fails, or a page has a private word."""
    mistakes: tuple[Diagnostic, ...]
    """All mistakes of the site, including those in its templates."""


def print_in_memory(plan: FullPlan) -> PagesInMemory:
    """Print the pages of a plan, and the sitemap of all of them."""
    site, sheets = plan.site, plan.sheets_to_print
    printer = new_printer(site)
    try:
        files_of = print_sheets(sheets, printer, lambda sheet, files: files)
        listed = [(path, sheet.modified) for sheet in sheets if sheet.listed for path in files_of[sheet.name]]
        last = sitemap(listed).make(printer)
    except jinja2.TemplateError as error:
        mistake = template_mistake(error, site.request.root, site.theme.templates)
        return PagesInMemory(site, {}, in_reading_order((*site.mistakes, mistake)))
    except PrivateWordError as error:
        return PagesInMemory(site, {}, in_reading_order((*site.mistakes, *error.mistakes)))
    in_order = (*(files_of[sheet.name] for sheet in sheets), last)  # the later of two sheets that make a file wins
    files = {path: content for one in in_order for path, content in one.items()}
    return PagesInMemory(site, files, site.mistakes)


def print_sheets(
    sheets: Sequence[Sheet],
    printer: Printer,
    take: Callable[[Sheet, Files], T],
    processes: int = 1,
    tick: Callable[[int], None] = lambda count: None,
) -> dict[str, T]:
    """Print sheets on all cores.  The worker that printed a sheet calls `take` with its files.

    Returns the results of `take`, by the name of the sheet.
    """
    if any(sheet.measured for sheet in sheets):
        _ = printer.sources.evidence  # computed once, and inherited by the workers

    def work(batch: Sequence[Sheet], worker: int) -> list[tuple[str, T]]:
        return [(sheet.name, take(sheet, sheet.make(printer))) for sheet in batch]

    slow = [[sheet] for sheet in sheets if sheet.measured or sheet.slow]
    plain = [sheet for sheet in sheets if not sheet.measured and not sheet.slow]
    taken: dict[str, T] = {}
    for answer in map_batches(work, [*slow, *in_batches(plain, processes)], processes):
        taken.update(answer)
        tick(len(answer))
    return taken


def _stage_sheets(
    plan: UpdatePlan, sheets: Sequence[Sheet], printer: Printer, tick: Callable[[int], None]
) -> dict[str, SheetFiles]:
    request, search = plan.site.request, plan.site.sources.config.search

    def take(sheet: Sheet, files: Files) -> SheetFiles:
        files = with_search_texts(sheet, files) if search else files
        return plan.comparison.printed(sheet, _stage_files(request.output, files), _slot_contents(printer, sheet))

    return print_sheets(sheets, printer, take, request.processes, tick)


def _stage_files(output: Path, files: Files) -> dict[str, str]:
    """Write the files that differ from those in the output into the staging folder, and return their names there."""
    names = {}
    for path, content in files.items():
        data, name = encoded(content), blake2b(path.encode(), digest_size=12).hexdigest()
        names[path] = stage(output, name, data) if differs(output, checked_output_path(path), data) else ""
    return names


def _slot_contents(printer: Printer, sheet: Sheet) -> tuple[str, ...] | None:
    from sitegen.render.texts.filled_slots import plain_contents

    return plain_contents(printer, sheet.text) if isinstance(sheet.text, Post | WorklogEntry) else None


def _sheets_of_pages(
    plan: UpdatePlan, sheets: Mapping[str, Sheet], files: Mapping[str, SheetFiles], printer: Printer
) -> Iterator[tuple[Sheet, Callable[[], dict[str, str]]]]:
    """Yield the sheets that are made from all other pages, the sitemap and the index of search.  The function beside
    each stages its files, and returns their names in the staging folder.
    """
    output = plan.site.request.output
    listed = sitemap(_pages_of_sitemap(sheets, files))
    yield listed, lambda: _stage_files(output, listed.make(printer))
    if plan.site.sources.config.search:
        found = found_pages(plan, sheets, files)
        yield (
            index_sheet(found),
            lambda: dict.fromkeys(found.index, "") | _stage_files(output, index_files(plan, found)),
        )


def _pages_of_sitemap(sheets: Mapping[str, Sheet], files: Mapping[str, SheetFiles]) -> Iterator[tuple[str, str]]:
    """Yield the paths that the sitemap may list, each with the day of its last change."""
    for sheet in sheets.values():
        paths = files[sheet.name].printed.files if sheet.listed else ()
        yield from ((path, sheet.modified) for path in paths)


def _owners(files: Mapping[str, SheetFiles]) -> dict[str, str]:
    return {path: name for name, one in files.items() for path in one.printed.files}
