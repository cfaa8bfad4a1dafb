"""Take the text of each printed page for search, and stage the index of all of them behind the pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitegen import inside
from sitegen.model.urls import SEARCH_PAGES, output_path, search_text_path
from sitegen.pipeline.plan import SheetFiles, UpdatePlan
from sitegen.pipeline.search_files import (
    FoundPage,
    WrittenIndex,
    changed_index,
    index_paths,
    url_of,
    whole_index,
    written_index,
)
from sitegen.render.outputs.search_index import number_of_files
from sitegen.render.outputs.search_text import page_text, text_as_json
from sitegen.render.rules.dependencies import FOUND_PAGES, Dependency
from sitegen.render.rules.sheet import Files, Sheet, fixed_dependencies
from sitegen.write.output import STAGE, encoded


def with_search_texts(sheet: Sheet, files: Files) -> Files:
    """Return the files of a sheet, and the text of each of its pages that search finds."""
    pages = {path: encoded(files[path]).decode() for path in sheet.found if path in files}
    return {**files, **{search_text_path(path): text_as_json(page_text(html)) for path, html in pages.items()}}


@dataclass(frozen=True, slots=True)
class FoundPages:
    """The pages that search finds, by URL."""

    pages: Mapping[str, FoundPage]
    staged: Mapping[str, str]
    """The name in the staging folder of each text that is new or was changed."""
    shown: tuple[object, ...]
    """What the index depends on: what search knows of each page, and the key of the page."""

    @property
    def index(self) -> tuple[str, ...]:
        """The paths of all files of the index."""
        return index_paths(number_of_files(len(self.pages)))


def index_sheet(found: FoundPages) -> Sheet:
    """Return the sheet of the index.  Its files are made by `index_files`, because most of them stay after an edit."""
    dependencies = fixed_dependencies(Dependency(FOUND_PAGES, found.shown))
    return Sheet(SEARCH_PAGES, dependencies, lambda printer: {}, listed=False)


def found_pages(plan: UpdatePlan, sheets: Mapping[str, Sheet], files: Mapping[str, SheetFiles]) -> FoundPages:
    """Return the pages that search finds among those of all sheets."""
    language = plan.site.sources.config.language
    pages: dict[str, FoundPage] = {}
    staged: dict[str, str] = {}
    shown: list[tuple[str, ...]] = []
    for name, sheet in sheets.items():
        for path, one in sheet.found.items():
            if (text := search_text_path(path)) in files[name].printed.files:
                url = url_of(path)
                pages[url] = FoundPage(one.kind, one.lang or language, one.names())
                shown.append((path, one.kind, one.lang, *pages[url].names, files[name].printed.key.hex()))
                staged |= {url: new} if (new := files[name].staged.get(text)) else {}
    return FoundPages(pages, staged, tuple(sorted(shown)))


def index_files(plan: UpdatePlan, found: FoundPages) -> dict[str, bytes]:
    """Return the files of the index that may be different now: all of them when the output has none that is whole."""
    request = plan.site.request

    def read(url: str) -> bytes:
        name = found.staged.get(url)
        return inside.read_bytes(request.output, f"{STAGE}/{name}" if name else search_text_path(output_path(url)))

    index = _whole_index_before(plan)
    urls = {page.url for page in index.pages.values()} if index else set()
    new = [url for url in found.pages if url in found.staged or url not in urls]
    changed = changed_index(found.pages, index, new, read) if index else None
    return whole_index(found.pages, read, request.processes) if changed is None else changed


def _whole_index_before(plan: UpdatePlan) -> WrittenIndex | None:
    """Return the index in the output; None unless it and all its texts are as the last build wrote them."""
    if not plan.comparison.left((SEARCH_PAGES,)):
        return None
    index = written_index(plan.site.request.output)
    texts = (search_text_path(output_path(page.url)) for page in index.pages.values())
    return index if plan.comparison.left((*index.paths, *texts)) else None
