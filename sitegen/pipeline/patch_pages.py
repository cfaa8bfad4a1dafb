"""Patch the own pages of edited posts in the output, when no other page shows anything new of these posts.

An author makes such edits all day, so they do not wait for the site to be linked: the module finds the old HTML of the
text in its page, and replaces it with the new HTML. Any other edit, and any edit that is not surely of this kind, is
left to the other steps of the build.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sitegen import inside
from sitegen.markup.additions import Additions
from sitegen.markup.parse import parse_post_text
from sitegen.markup.pieces import Pieces
from sitegen.model.document import Document, fill_slots, has_formula
from sitegen.model.vocabulary import Vocabulary
from sitegen.pipeline.additions import site_additions
from sitegen.pipeline.build_state import BuildState, PrintedSheet, save_state, stamp_of, trusted_signatures
from sitegen.pipeline.catalogues import vocabulary
from sitegen.pipeline.patchable_pages import PatchablePage, load_patchable_pages, save_patchable_pages
from sitegen.pipeline.read_files import SiteFiles
from sitegen.pipeline.request import BuildRequest, BuildResult
from sitegen.pipeline.text_interface import interface_of_text
from sitegen.read.privacy import Privacy
from sitegen.read.source import decode, split_front_matter
from sitegen.render.rules.dependencies import TEXT, Dependency, digest_of_dependency, key_of_digests
from sitegen.write.fragments import FragmentFiles, LostFragmentError
from sitegen.write.output import WriteCounts, replace_files
from sitegen.write.scan import digest_of

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
    html: bytes
    """The whole page."""
    page: PatchablePage
    printed: PrintedSheet


def patch_pages(files: SiteFiles, previous: BuildState, edited: Sequence[str]) -> BuildResult | None:
    """Patch the pages of the edited texts; the output must be as `previous` left it.

    Returns None, and writes nothing, when other pages may have to change.
    """
    if len(edited) > MOST_TEXTS:
        return None
    request = files.request
    pages = load_patchable_pages(request.state_file, request.version)
    store, patched = FragmentFiles(request.cache / "fragments"), list[PatchedPage]()
    with request.steps.step("patch", len(edited)) as tick:
        for path in edited:
            one = _patched(request, previous, pages[path], path, store) if path in pages else None
            if one is None:
                return None
            patched.append(one)
            tick(1)
    return _publish(files, previous, pages, patched)


def _publish(
    files: SiteFiles, previous: BuildState, pages: dict[str, PatchablePage], patched: Sequence[PatchedPage]
) -> BuildResult:
    request = files.request
    with request.steps.step("publish"):
        replace_files(request.output, {one.page.sheet: one.html for one in patched})
        now = pages | {one.path: one.page for one in patched}
        save_patchable_pages(request.state_file, request.version, now)
        state = _state(files, previous, patched)
        save_state(request.state_file, request.version, state)
    names = tuple(one.page.sheet for one in patched)
    written = WriteCounts(0, len(names), 0, len(previous.outputs) - len(names))
    return BuildResult(previous.report, False, written, names, state.sheets)


def _patched(
    request: BuildRequest, previous: BuildState, page: PatchablePage, path: str, store: FragmentFiles
) -> PatchedPage | None:
    printed = previous.sheets.get(page.sheet)
    if printed is None or printed.key != page.key or printed.files != (page.sheet,) or f"{path}:" in previous.report:
        return None
    try:
        data, before = inside.read_bytes(request.root, path), store.get(page.html)
    except (OSError, LostFragmentError):
        return None
    pieces = Pieces({piece: before[start:end] for piece, start, end in page.pieces})
    spoken, added = vocabulary(page.lang, request.root), site_additions(request.root)[0]
    document = _document(request.privacy, data, path, pieces, spoken, added, page.interface)
    html = _page_with(request, page, before, document.html) if document else None
    if document is None or html is None or request.privacy.publishes(html):
        return None
    digest = digest_of(data)
    now = _printed(printed, path, digest)
    reference, places = store.put(_STORE_FILE, document.html), pieces.places(document.html)
    return PatchedPage(path, digest, html, replace(page, key=now.key, html=reference, pieces=places), now)


def _document(
    privacy: Privacy,
    data: bytes,
    path: str,
    pieces: Pieces,
    spoken: Vocabulary,
    added: Additions,
    interface: bytes,
) -> Document | None:
    """Return the document of the new text; None when it has a mistake, or something new that other pages show."""
    text, unreadable = decode(data, path)
    text = privacy.published(text, path)
    front, broken = split_front_matter(text, path)
    if unreadable or broken:
        return None
    document, mistakes = parse_post_text(front.body, pieces, spoken, added)
    above = text.removesuffix(front.body.text)
    return None if mistakes or interface_of_text(above, document) != interface else document


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


def _printed(before: PrintedSheet, path: str, digest: bytes) -> PrintedSheet:
    new = digest_of_dependency(Dependency(TEXT, digest))
    digests = tuple(new if name == TEXT else old for name, old in zip(before.names, before.digests, strict=True))
    return replace(before, key=key_of_digests(digests), digests=digests, why=(f"{TEXT} changed: {path}",))


def _state(files: SiteFiles, previous: BuildState, patched: Iterable[PatchedPage]) -> BuildState:
    sheets = {one.page.sheet: one for one in patched}
    stamps = {name: stamp for name in sheets if (stamp := stamp_of(f"{files.request.output}/{name}"))}
    return replace(
        previous,
        signatures=trusted_signatures(files.signatures, files.began_ns),
        digests={**previous.digests, **{one.path: one.digest for one in sheets.values()}},
        sheets={**previous.sheets, **{name: one.printed for name, one in sheets.items()}},
        outputs={**previous.outputs, **stamps},
    )
