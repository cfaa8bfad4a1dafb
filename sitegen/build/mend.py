"""Some texts were edited, and nothing changed of them that another page shows → their own pages, mended in place.

That is what an author does all day, so it shall not wait for a site to be linked: the HTML of the text as it was is
found in its page, and the HTML of the text as it is now stands there instead.  Whatever is not sure to be so simple is
left to `anew`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sitegen import inside
from sitegen.build.catalogues import vocabulary
from sitegen.build.elsewhere import face_of_text
from sitegen.build.own_pages import OwnPage, load_own_pages, save_own_pages
from sitegen.build.state import Printed, State, left_of, save, trusted
from sitegen.build.update import Job, Outcome
from sitegen.markup.parse import parse_post_text
from sitegen.markup.pieces import Pieces
from sitegen.model.document import Document, fill_slots
from sitegen.model.vocabulary import Vocabulary
from sitegen.read.source import decode, split_front_matter
from sitegen.render.rules.dependencies import TEXT, Part, digest_of_part, key_of_parts
from sitegen.write.fragments import FragmentFiles, LostFragmentError
from sitegen.write.output import WriteCounts, replace_files
from sitegen.write.scan import digest_of

MOST = 8
"""Texts that are edited at a time; more is another branch, for all cores."""
_SHELF = "mended"


@dataclass(frozen=True, slots=True)
class Mended:
    path: str
    digest: bytes
    own: OwnPage
    page: bytes
    printed: Printed


def mend(job: Job, last: State, edited: Iterable[str]) -> Outcome | None:
    """The output is as `last` left it.  None when there is more to do: then nothing was written."""
    paths = tuple(edited)
    if len(paths) > MOST:
        return None
    own, shelf, mended = (
        load_own_pages(job.remembered, job.version),
        FragmentFiles(job.cache / "fragments"),
        list[Mended](),
    )
    with job.stages.stage("mend", len(paths)) as tick:
        for path in paths:
            one = _mended(job, last, own[path], path, shelf) if path in own else None
            if one is None:
                return None
            mended.append(one)
            tick(1)
    with job.stages.stage("write"):
        replace_files(job.output, {one.own.sheet: one.page for one in mended})
        save_own_pages(job.remembered, job.version, {**own, **{one.path: one.own for one in mended}})
        state = _state(job, last, mended)
        save(job.remembered, job.version, state)
    names = tuple(one.own.sheet for one in mended)
    return Outcome(
        last.report, False, WriteCounts(0, len(names), 0, len(last.outputs) - len(names)), names, state.sheets
    )


def _mended(job: Job, last: State, own: OwnPage, path: str, shelf: FragmentFiles) -> Mended | None:
    printed = last.sheets.get(own.sheet)
    if printed is None or printed.key != own.key or printed.files != (own.sheet,) or f"{path}:" in last.report:
        return None
    try:
        data, html = inside.read_bytes(job.root, path), shelf.get(own.html)
    except (OSError, LostFragmentError):
        return None
    pieces = Pieces({piece: html[start:end] for piece, start, end in own.pieces})
    document = _document(data, path, pieces, vocabulary(own.lang, job.root), own.face)
    page = _in_page(job, own, html, document.html) if document else None
    if document is None or page is None:
        return None
    digest = digest_of(data)
    now = _printed(printed, path, digest)
    new = replace(own, key=now.key, html=shelf.put(_SHELF, document.html), pieces=pieces.places(document.html))
    return Mended(path, digest, new, page, now)


def _document(data: bytes, path: str, pieces: Pieces, spoken: Vocabulary, face: bytes) -> Document | None:
    """The text as it is now, unless there is a mistake in it or something that others show is new."""
    text, unreadable = decode(data, path)
    front, broken = split_front_matter(text, path)
    if unreadable or broken:
        return None
    document, mistakes = parse_post_text(front.body, pieces, spoken)
    above = text.removesuffix(front.body.text)
    return None if mistakes or face_of_text(above, document) != face else document


def _in_page(job: Job, own: OwnPage, before: str, after: str) -> bytes | None:
    """The page with the text as it is now; None when the text as it was does not stand in it exactly once, or when its
    first formula came or its last one went: with it goes the font.
    """
    if ("<math" in before) != ("<math" in after):
        return None
    page = inside.read_bytes(job.output, own.sheet).decode()
    old = fill_slots(before, own.contents)
    return page.replace(old, fill_slots(after, own.contents)).encode() if page.count(old) == 1 else None


def _printed(before: Printed, path: str, digest: bytes) -> Printed:
    new = digest_of_part(Part(TEXT, digest))
    parts = tuple(new if name == TEXT else part for name, part in zip(before.names, before.parts, strict=True))
    return replace(before, key=key_of_parts(parts), parts=parts, why=(f"{TEXT} changed: {path}",))


def _state(job: Job, last: State, mended: Iterable[Mended]) -> State:
    changed = {one.own.sheet: left for one in mended if (left := left_of(f"{job.output}/{one.own.sheet}"))}
    return replace(
        last,
        signatures=trusted(job.seen, job.began_ns),
        digests={**last.digests, **{one.path: one.digest for one in mended}},
        sheets={**last.sheets, **{one.own.sheet: one.printed for one in mended}},
        outputs={**last.outputs, **changed},
    )
