"""Patch the own pages of edited posts and days in the output, when no other page shows anything new of these texts.

An author makes such edits all day, so they do not wait for the site to be linked: the module finds the old HTML of the
text in its page, and replaces it with the new HTML.  The words of a day also count in the sums of its week, its month
and its year, which are replaced on their pages (`word_sums`).  Any other edit, and any edit that is not surely of this
kind, is left to the other steps of the build.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sitegen import inside
from sitegen.model.document import fill_slots, has_formula
from sitegen.model.linked import document_key
from sitegen.model.urls import SEARCH_PAGES, search_text_path, twin_path
from sitegen.pipeline.build_state import BuildState, PrintedSheet, save_state, stamp_of, trusted_signatures
from sitegen.pipeline.edited_post import EditedText, edited_post
from sitegen.pipeline.patchable_pages import PatchablePage, load_patchable_pages, save_patchable_pages
from sitegen.pipeline.read_files import SiteFiles
from sitegen.pipeline.request import BuildRequest, BuildResult
from sitegen.read.load import WORKLOG
from sitegen.render.outputs.search_text import page_text, text_as_json
from sitegen.render.outputs.twin_lines import twin_of_plain_text
from sitegen.render.rules.dependencies import FOUND_PAGES, TEXT, VIEW, Dependency, digest_of_dependency, key_of_digests
from sitegen.write.fragments import FragmentFiles, LostFragmentError
from sitegen.write.output import WriteCounts, differs, replace_files
from sitegen.write.scan import digest_of

if TYPE_CHECKING:
    from sitegen.pipeline.patched_days import PatchedDays

MOST_TEXTS = 8
"""The most texts that are patched at a time.  More edits come from another branch, and all cores parse them."""
_STORE_FILE = "patched"
"""The file of the `FragmentFiles` that holds the new HTML."""


@dataclass(frozen=True, slots=True)
class PatchedPage:
    """A page with the new text."""

    path: str
    """The path of the text."""
    digest: bytes
    """The digest of the text's file."""
    key: str
    """The `document_key` of a day; the path of a post."""
    files: dict[str, bytes]
    """The page and what is made of it: its Markdown twin and its text for search, by path in the output."""
    page: PatchablePage
    printed: PrintedSheet


def patch_pages(files: SiteFiles, previous: BuildState, edited: Sequence[str]) -> BuildResult | None:
    """Patch the pages of the edited texts; the output must be as `previous` left it.

    Returns None, and writes nothing, when other pages may have to change.
    """
    if len(edited) > MOST_TEXTS:
        return None
    request, patched = files.request, list[PatchedPage]()
    pages, days = load_patchable_pages(request.state_file, request.version), _days(request, previous, edited)
    store = FragmentFiles(request.cache / "fragments")
    with request.steps.step("patch", len(edited)) as tick:
        for path in edited:
            one = _patched(request, previous, pages, days, path, store)
            if one is None:
                return None
            patched.append(one)
            tick(1)
        index = _changed_index(request, previous, patched)
        sums = days.pages_with_sums() if days else {}
    return None if index is None or sums is None else _publish(files, previous, pages, patched, days, index, sums)


def _changed_index(
    request: BuildRequest, previous: BuildState, patched: Sequence[PatchedPage]
) -> dict[str, bytes] | None:
    """Return the files of the search index that may be different now; None when the whole index must be made."""
    sheets = {search_text_path(one.page.sheet): one.page.sheet for one in patched}
    texts = {sheets[path]: data for one in patched for path, data in one.files.items() if path in sheets}
    if SEARCH_PAGES not in previous.sheets or not texts:
        return {}
    from sitegen.pipeline.search_files import index_with_texts

    changed = index_with_texts(request.output, texts)
    return changed and {path: data for path, data in changed.items() if differs(request.output, path, data)}


def _days(request: BuildRequest, previous: BuildState, edited: Iterable[str]) -> PatchedDays | None:
    """Return the days of the worklog; None when none of its files was edited."""
    if not any(path.startswith(WORKLOG) for path in edited):
        return None
    from sitegen.pipeline.patched_days import PatchedDays

    return PatchedDays(request, previous)


def _publish(
    files: SiteFiles,
    previous: BuildState,
    pages: dict[str, PatchablePage],
    patched: Sequence[PatchedPage],
    days: PatchedDays | None,
    index: dict[str, bytes],
    sums: dict[str, bytes],
) -> BuildResult:
    """Write the pages, the files of the search index, the pages with new sums, and the state for the next build."""
    request = files.request
    with request.steps.step("publish"):
        written = {path: data for one in patched for path, data in one.files.items()} | index | sums
        replace_files(request.output, written)
        now = pages | {one.key: one.page for one in patched}
        save_patchable_pages(request.state_file, request.version, now)
        if days:
            days.save()
        state = _state(files, previous, patched, sums, written)
        save_state(request.state_file, request.version, state)
    counts = WriteCounts(0, len(written), 0, len(previous.outputs) - len(written))
    printed = (*(one.page.sheet for one in patched), *([SEARCH_PAGES] if index else []), *sums)
    return BuildResult(previous.report, False, counts, printed, state.sheets, state.waiting)


def _patched(
    request: BuildRequest,
    previous: BuildState,
    pages: Mapping[str, PatchablePage],
    days: PatchedDays | None,
    path: str,
    store: FragmentFiles,
) -> PatchedPage | None:
    """Return the page of the text in a file, with the new text; None when that is not surely the only change."""
    try:
        data = inside.read_bytes(request.root, path)
    except OSError:
        return None
    is_day, digest = days is not None and path.startswith(WORKLOG), digest_of(data)
    change = days.change(path, data) if days and is_day else None
    key = path if change is None else document_key(change[1].body)
    page = pages.get(key) if change or not is_day else None
    printed = previous.sheets.get(page.sheet) if page else None
    if page is None or printed is None or printed.key != page.key or f"{path}:" in previous.report:
        return None
    try:
        before = store.get(page.html)
    except LostFragmentError:
        return None
    known = {piece: before[start:end] for piece, start, end in page.pieces}
    text = (
        days.text(page, change, digest, known)
        if days and change
        else edited_post(request, page, path, data, digest, known)
    )
    html = _page_with(request, page, before, text.document.html) if text else None
    if text is None or html is None:
        return None
    made = _files(page, printed, html, text)
    if any(request.privacy.publishes(content) for content in made.values()):
        return None
    now = _printed(printed, path, text.content)
    reference = store.put(_STORE_FILE, text.document.html)
    page = replace(page, key=now.key, html=reference, pieces=text.pieces)
    return PatchedPage(path, digest, key, made, page, now)


def _files(page: PatchablePage, printed: PrintedSheet, html: bytes, text: EditedText) -> dict[str, bytes]:
    """Return the page with the new text, and the other files of its sheet."""
    files, search = {page.sheet: html}, search_text_path(page.sheet)
    if page.twin:
        head, *targets = page.twin
        files[twin_path(page.sheet)] = twin_of_plain_text(head, text.body, text.document.slots, targets).encode()
    if search in printed.files:
        files[search] = text_as_json(page_text(html.decode()))
    return files


def _page_with(request: BuildRequest, page: PatchablePage, before: str, after: str) -> bytes | None:
    """Return the page with the new text.

    None when the old text does not stand in the page exactly once.  None also when the first formula was added or the
    last one removed, because the font comes and goes with them.
    """
    if has_formula(before) != has_formula(after):
        return None
    html = inside.read_bytes(request.output, page.sheet).decode()
    old = fill_slots(before, page.slot_contents)
    return html.replace(old, fill_slots(after, page.slot_contents)).encode() if html.count(old) == 1 else None


def _printed(before: PrintedSheet, path: str, content: bytes | str) -> PrintedSheet:
    new = digest_of_dependency(Dependency(TEXT, content))
    return _with_digest(before, TEXT, new, f"{TEXT} changed: {path}")


def _with_digest(before: PrintedSheet, name: str, new: bytes, why: str) -> PrintedSheet:
    digests = tuple(new if one == name else old for one, old in zip(before.names, before.digests, strict=True))
    return replace(before, key=key_of_digests(digests), digests=digests, why=(why,))


def _state(
    files: SiteFiles, previous: BuildState, patched: Iterable[PatchedPage], sums: Iterable[str], written: Iterable[str]
) -> BuildState:
    """Return the state of the output, in which the files `written` are new.  The pages with new sums and the search
    index get a key that no sheet has, because their dependencies are not computed here: the next build that links the
    site prints them again.
    """
    sheets = {one.page.sheet: one.printed for one in patched}
    sheets |= {name: _with_digest(previous.sheets[name], VIEW, b"", f"{VIEW} changed") for name in sums}
    if index := previous.sheets.get(SEARCH_PAGES):
        sheets[SEARCH_PAGES] = _with_digest(index, FOUND_PAGES, b"", f"{FOUND_PAGES} changed")
    stamps = {name: stamp for name in written if (stamp := stamp_of(f"{files.request.output}/{name}"))}
    return replace(
        previous,
        signatures=trusted_signatures(files.signatures, files.began_ns),
        digests={**previous.digests, **{one.path: one.digest for one in patched}},
        sheets={**previous.sheets, **sheets},
        outputs={**previous.outputs, **stamps},
    )
