"""Turn a site, or a part of it, into the documents of its texts, each read with the options of its kind of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sitegen.diagnostics import Diagnostic
from sitegen.markup.additions import NOTHING_ADDED, Additions
from sitegen.markup.parse import ParsedText, document_of, read_post_text, read_text
from sitegen.markup.pieces import Pieces
from sitegen.model.document import Document
from sitegen.model.linked import document_key, statement_and_hints
from sitegen.model.site import Exercise, Page, Post, Site, Term
from sitegen.model.vocabulary import ENGLISH, Vocabulary
from sitegen.read.load import SitePart, Worklog

Parsed = tuple[Document, tuple[Diagnostic, ...]]


def parse_documents(
    site: Site, spoken: Callable[[str], Vocabulary] = lambda tag: ENGLISH
) -> tuple[Mapping[str, Document], tuple[Diagnostic, ...]]:
    """Return the documents of all texts of a site by `document_key`, and the mistakes in all of them.

    `spoken` returns the vocabulary of a language tag; an empty tag is the site's language.
    """
    worklog = Worklog(site.worklog, site.worklog_intro)
    parts: tuple[SitePart, ...] = (*site.posts, *site.pages, *site.terms, *site.exercises, worklog)
    parsed = dict(pair for part in parts for pair in documents_of(part, spoken))
    return {key: document for key, (document, _) in parsed.items()}, tuple(d for _, ds in parsed.values() for d in ds)


def documents_of(
    part: SitePart, spoken: Callable[[str], Vocabulary], added: Additions = NOTHING_ADDED
) -> Iterator[tuple[str, Parsed]]:
    """Yield the documents of one part of a site by `document_key`, each with its mistakes."""
    return ((key, document_of(text)) for key, text in texts_of(part, spoken, added=added))


def texts_of(
    part: SitePart,
    spoken: Callable[[str], Vocabulary],
    pieces_of: Callable[[str], Pieces] = lambda key: Pieces(),
    added: Additions = NOTHING_ADDED,
) -> Iterator[tuple[str, ParsedText]]:
    """Yield each text of one part of a site with its `document_key`; `document_of` turns a text into its document.

    `pieces_of` returns the pieces that are known of the text of a key; `added` is what the site adds to the markup.
    """
    match part:
        case Post(body=body):
            key = document_key(body)
            yield key, read_post_text(body, pieces_of(key), spoken(part.lang), added)
        case Page(body=body) | Term(body=body):
            key, lang = document_key(body), part.lang if isinstance(part, Page) else ""
            yield key, read_text(body, has_cells=False, pieces=pieces_of(key), spoken=spoken(lang), added=added)
        case Exercise():
            for text, prefix in zip(statement_and_hints(part), ("", "hint-"), strict=False):
                key = document_key(text)
                pieces, said = pieces_of(key), spoken("")
                yield key, read_text(text, has_cells=False, id_prefix=prefix, pieces=pieces, spoken=said, added=added)
        case Worklog(entries, intro):
            for entry in entries:
                key, prefix = document_key(entry.body), f"{entry.date.isoformat()}-"
                pieces, said = pieces_of(key), spoken("")
                yield (
                    key,
                    read_text(entry.body, has_cells=False, id_prefix=prefix, pieces=pieces, spoken=said, added=added),
                )
            if intro is not None:
                key = document_key(intro)
                yield key, read_text(intro, has_cells=False, pieces=pieces_of(key), spoken=spoken(""), added=added)
