"""A site, or a part of it → the documents of its texts.  Which text is read how is said here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sitegen.diagnostics import Diagnostic
from sitegen.markup.parse import parse_document, parse_post_text
from sitegen.markup.pieces import Pieces
from sitegen.model.document import Document
from sitegen.model.linked import document_key
from sitegen.model.site import Page, Post, Site, Term
from sitegen.read.load import Part, Worklog

Parsed = tuple[Document, tuple[Diagnostic, ...]]


def parse_documents(site: Site) -> tuple[Mapping[str, Document], tuple[Diagnostic, ...]]:
    """Every text of a site by `document_key`, and the mistakes in all of them."""
    worklog = Worklog(site.worklog, site.worklog_intro)
    parts: tuple[Part, ...] = (*site.posts, *site.pages, *site.terms, worklog)
    parsed = {key: found for part in parts for key, found in documents_of(part)}
    return {key: document for key, (document, _) in parsed.items()}, tuple(d for _, ds in parsed.values() for d in ds)


def documents_of(part: Part, pieces_of: Callable[[str], Pieces] = lambda key: Pieces()) -> Iterator[tuple[str, Parsed]]:
    """The texts of one part of a site by `document_key`, each with its mistakes.

    `pieces_of` gives what is known of the text of a key.
    """
    match part:
        case Post(body=body):
            key = document_key(body)
            yield key, parse_post_text(body, pieces_of(key))
        case Page(body=body) | Term(body=body):
            key = document_key(body)
            yield key, parse_document(body, has_cells=False, pieces=pieces_of(key))
        case Worklog(entries, intro):
            for entry in entries:
                key, prefix = document_key(entry.body), f"{entry.date.isoformat()}-"
                pieces = pieces_of(key)
                yield key, parse_document(entry.body, has_cells=False, id_prefix=prefix, pieces=pieces)
            if intro is not None:
                key = document_key(intro)
                yield key, parse_document(intro, has_cells=False, pieces=pieces_of(key))
