"""Look up the citations of a site's texts in its bibliographies; an unknown key is a diagnostic at its place.

A text's own bibliography comes first, then `content/references.bib`, the bibliography of the whole site.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from sitegen.diagnostics import Diagnostic, Span, did_you_mean
from sitegen.model.bibliography import Work
from sitegen.model.document import CiteSlot, Document
from sitegen.model.linked import document_key, texts
from sitegen.model.site import Markdown, Ref, Site

SITE_BIBLIOGRAPHY = "content/references.bib"


def works_cited(
    site: Site, documents: Mapping[str, Document], mistakes: list[Diagnostic]
) -> dict[str, tuple[Work, ...]]:
    """Return the works that each text cites, by `document_key`, in the order in which the text first cites them."""
    own = {document_key(post.body): post.bibliography for post in site.posts if post.bibliography}
    cited: dict[str, tuple[Work, ...]] = {}
    shared = _by_key(site, SITE_BIBLIOGRAPHY)
    for text in texts(site):
        key = document_key(text)
        slots = [slot for slot in documents[key].slots if isinstance(slot, CiteSlot)] if key in documents else []
        known, wrong = shared, []
        if ref := own.get(key):
            path = _path(ref, text)
            known = {**shared, **_by_key(site, path)}
            wrong = [*_mistakes_in_path(ref, path, site)]
            mistakes += wrong
        if known and slots:
            cited[key] = tuple(_cited(slots, known, mistakes))
        mistakes += () if known or wrong else _without_bibliography(slots)
    return cited


def _by_key(site: Site, path: str) -> Mapping[str, Work]:
    bibliography = site.bibliographies.get(path)
    return {work.key: work for work in bibliography.works} if bibliography else {}


def _path(ref: Ref, text: Markdown) -> str:
    if ref.name.startswith("/"):
        return posixpath.normpath(f"content{ref.name}")
    return posixpath.normpath(posixpath.join(posixpath.dirname(text.path), ref.name))


def _mistakes_in_path(ref: Ref, path: str, site: Site) -> Iterator[Diagnostic]:
    if path not in site.bibliographies:
        folder = posixpath.dirname(path)
        near = did_you_mean(ref.name, (posixpath.relpath(one, folder) for one in site.bibliographies))
        yield Diagnostic("SG210", f"no bibliography `{ref.name}`", ref.span, near or "a .bib file beside the text")


def _cited(slots: list[CiteSlot], known: Mapping[str, Work], mistakes: list[Diagnostic]) -> Iterator[Work]:
    seen: set[str] = set()
    for slot in slots:
        for item in slot.items:
            if item.key not in known:
                hint = did_you_mean(item.key, known) or r"write `\@` for the sign itself, or put code in backticks"
                mistakes.append(
                    Diagnostic("SG211", f"nothing with the key `{item.key}` to cite", _place(slot, item.key), hint)
                )
            elif item.key not in seen:
                seen.add(item.key)
                yield known[item.key]


def _without_bibliography(slots: list[CiteSlot]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each citation in brackets.  Without a bibliography, an `@` in a sentence begins no
    citation but a name.
    """
    for slot in slots:
        if not slot.narrative:
            hint = "name a .bib file as `bibliography:` in the front matter, or write content/references.bib"
            yield Diagnostic("SG210", "this text has no bibliography to cite from", slot.span, hint)


def _place(slot: CiteSlot, key: str) -> Span:
    """Return the place of the key, or of the citation when the key is not on its first line."""
    at = slot.written.find(f"@{key}")
    if at < 0 or at >= slot.span.length:
        return slot.span
    return Span(slot.span.path, slot.span.line, slot.span.col + at, len(key) + 1)
