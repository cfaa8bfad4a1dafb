"""Markdown → HTML with numbered slots (`parse_document`), and slots → addresses within a site (`link_site`).

Codes of parse_document:

SG101 unknown directive · SG102 unknown role · SG103 unknown option · SG104 option twice · SG105 value of an option
SG106 cell without label · SG107 no place for a cell · SG108 label or id twice · SG109 language of a cell
SG110 options that do not go together · SG111 argument of a directive · SG112 not known yet
SG113 refused HTML · SG114 HTML out of balance · SG115 formula · SG116 fence language (a warning)
SG117 image without words (a warning) · SG118 unknown footnote · SG119 YAML of an option

Those of link_site are listed in link.py.
"""

from collections.abc import Callable, Iterator, Mapping

from sitegen.diagnostics import Diagnostic
from sitegen.markup.code import code_figure
from sitegen.markup.highlight import highlight
from sitegen.markup.link import link_site
from sitegen.markup.parse import parse_document
from sitegen.markup.pieces import Pieces
from sitegen.model.document import Document
from sitegen.model.linked import document_key
from sitegen.model.site import Page, Post, Site, Term
from sitegen.read.load import Part, Worklog

__all__ = ["code_figure", "documents_of", "highlight", "link_site", "parse_document", "parse_documents"]


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
            yield key, parse_document(body, numbered=True, pieces=pieces_of(key))
        case Page(body=body) | Term(body=body):
            key = document_key(body)
            yield key, parse_document(body, has_cells=False, pieces=pieces_of(key))
        case Worklog(entries, intro):
            for entry in entries:
                key, prefix = document_key(entry.body), f"{entry.date.isoformat()}-"
                pieces = pieces_of(key)
                yield key, parse_document(entry.body, has_cells=False, top_level=3, id_prefix=prefix, pieces=pieces)
            if intro is not None:
                key = document_key(intro)
                yield key, parse_document(intro, has_cells=False, pieces=pieces_of(key))
