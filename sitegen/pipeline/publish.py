"""Move staged pages into the output folder, and save the state for the next build."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sitegen.model.dates import day_of
from sitegen.model.linked import document_key
from sitegen.model.site import Post, WorklogEntry
from sitegen.model.urls import CARD, search_text_path, twin_path
from sitegen.pipeline.build_state import BuildState, save_state, stamp_of, trusted_signatures
from sitegen.pipeline.images import FORMS
from sitegen.pipeline.link_site import CARDS
from sitegen.pipeline.mistakes import report_of
from sitegen.pipeline.patchable_days import days_of, save_patchable_days
from sitegen.pipeline.patchable_pages import PatchablePage, load_patchable_pages, save_patchable_pages
from sitegen.pipeline.print_pages import KEPT_TEXTS, StagedPages
from sitegen.pipeline.request import BuildResult
from sitegen.pipeline.site_templates import shows_texts_unchanged
from sitegen.read.config import zone_of
from sitegen.read.load import WORKLOG
from sitegen.render.inputs.sources import Sources
from sitegen.render.outputs.markdown_twins import head_and_targets
from sitegen.render.rules.dependencies import DAY
from sitegen.render.rules.sheet import Sheet
from sitegen.render.shared.paging import FEED_ENTRIES
from sitegen.write import output
from sitegen.write.drawings import Drawings
from sitegen.write.images import remove_unused_variants


def publish(pages: StagedPages) -> BuildResult:
    """Move the staged files into the output, remove files that no sheet makes any more, and save the state.

    The state is written last and by a rename.  A build that is killed therefore leaves whole pages and a state that is
    true.
    """
    site, request = pages.site, pages.site.request
    with request.steps.step("publish"):
        owners = pages.owners
        staged = {path: name for path, sheet in owners.items() if (name := pages.files[sheet].staged.get(path))}
        written = output.publish(request.output, request.cache, owners.keys(), staged)
        Drawings(request.cache / CARDS, request.version).prune(2 * sum(path.endswith(CARD) for path in owners))
        Drawings(request.cache / KEPT_TEXTS, request.version).prune(2 * _most_texts(site.sources))
        state = _state(pages, owners, staged)
        patchable = _patchable_pages(pages, state)
        save_patchable_pages(request.state_file, request.version, patchable)
        if patchable and site.sources.site.worklog:
            days = days_of(site.sources.site, site.sources.words_by_day)
            save_patchable_days(request.state_file, request.version, days)
        save_state(request.state_file, request.version, state)
        remove_unused_variants(request.cache / FORMS, set(site.parsed.digests.values()))
    return BuildResult(state.report, False, written, pages.printed, state.sheets, state.waiting)


def _most_texts(sources: Sources) -> int:
    """Return how many texts may be kept: HTML and Markdown of the posts of each series, and the texts in feeds."""
    of_series = sum(len(sources.posts_of(series)) for series in sources.site.series)
    return 2 * of_series + len(sources.site.posts) + FEED_ENTRIES


def _state(pages: StagedPages, owners: Mapping[str, str], staged: Mapping[str, str]) -> BuildState:
    """Return the state of the output.  A sheet with a file that another sheet's file replaced gets no key, so that it
    never counts as unchanged.
    """
    site, request, files = pages.site, pages.site.request, pages.site.parsed.files
    before = files.previous.outputs if files.previous else {}
    stamps = {p: before[p] if p in before and p not in staged else stamp_of(f"{request.output}/{p}") for p in owners}
    lost = {name for name, one in pages.files.items() if any(owners[path] != name for path in one.printed.files)}
    config = site.sources.config
    day, zone = site.texts.as_of.toordinal(), zone_of(config)
    days = {(day_of(post.date, zone).toordinal(), post.body.path) for post in site.texts.posts if not post.draft}
    return BuildState(
        signatures=trusted_signatures(files.signatures, files.began_ns),
        digests=dict(site.parsed.digests),
        as_of=day,
        everything=request.everything,
        timezone=config.timezone,
        shows_day=any(DAY in one.printed.names for one in pages.files.values()),
        waiting=() if request.everything else tuple(sorted(later for later in days if later[0] > day)),
        sheets={n: replace(one.printed, key=b"") if n in lost else one.printed for n, one in pages.files.items()},
        outputs={path: stamp for path, stamp in stamps.items() if stamp},
        report=report_of(site.mistakes, files),
    )


def _patchable_pages(pages: StagedPages, state: BuildState) -> dict[str, PatchablePage]:
    """Return the pages that `patch_pages` may patch, by the path of the text."""
    site, request = pages.site, pages.site.request
    if not shows_texts_unchanged(site.theme.templates):
        return {}
    previous = load_patchable_pages(request.state_file, request.version) if site.parsed.files.previous else {}
    shown_elsewhere = frozenset[bytes]().union(*(one.digests for one in pages.files.values()))
    patchable: dict[str, PatchablePage] = {}
    for sheet in pages.sheets.values():
        if isinstance(sheet.text, Post):
            path = sheet.text.body.path
            if site.parsed.digests[path] not in shown_elsewhere and (interface := site.parsed.parts[path].interface):
                page = _patchable_page(pages, state, sheet, sheet.text, interface, previous.get(path))
                patchable |= {path: page} if page else {}
    return patchable | _pages_of_days(pages, state, previous)


def _pages_of_days(
    pages: StagedPages, state: BuildState, previous: Mapping[str, PatchablePage]
) -> dict[str, PatchablePage]:
    """Return the patchable pages of days by `document_key`.  The newest days are left out if a feed shows them."""
    config = pages.site.sources.config
    newest = pages.site.sources.site.worklog[: FEED_ENTRIES if "worklog" in config.feeds else 0]
    fed = {entry.date for entry in newest}
    patchable: dict[str, PatchablePage] = {}
    for sheet in pages.sheets.values():
        if isinstance(sheet.text, WorklogEntry) and sheet.text.date not in fed:
            key = document_key(sheet.text.body)
            if page := _patchable_page(pages, state, sheet, sheet.text, b"", previous.get(key)):
                patchable[key] = page
    return patchable


def _patchable_page(
    pages: StagedPages,
    state: BuildState,
    sheet: Sheet,
    text: Post | WorklogEntry,
    interface: bytes,
    previous: PatchablePage | None,
) -> PatchablePage | None:
    """Return the page of a post or a day; None when it may not be patchable.

    A page that was not printed now has the same contents in its slots as before.
    """
    name, files, printed = sheet.name, pages.files[sheet.name], state.sheets[sheet.name]
    part, key = (
        pages.site.parsed.parts[WORKLOG if isinstance(text, WorklogEntry) else text.body.path],
        document_key(text.body),
    )
    before = previous.slot_contents if previous and previous.key == printed.key else None
    contents = files.slot_contents if files.staged else before
    sources, twins = pages.site.sources, twin_path(name) in printed.files
    if not printed.key or contents is None or not {*printed.files} <= {name, twin_path(name), search_text_path(name)}:
        return None
    lang = (text.lang if isinstance(text, Post) else "") or sources.config.language
    known = previous.twin if previous and previous.key == printed.key else ()
    twin = known or head_and_targets(sources, text) if twins else ()
    pieces = part.pieces.get(key, ())
    return PatchablePage(name, printed.key, interface, lang, part.fragments[key], pieces, contents, twin)
