"""Markdown → HTML with numbered slots (`parse_document`), and slots → addresses within a site (`link_site`).

Codes of parse_document:

SG101 unknown directive · SG102 unknown role · SG103 unknown option · SG104 option twice · SG105 value of an option
SG106 cell without label · SG107 no place for a cell · SG108 label or id twice · SG109 language of a cell
SG110 options that do not go together · SG111 argument of a directive · SG112 not known yet
SG113 refused HTML · SG114 HTML out of balance · SG115 formula · SG116 fence language (a warning)
SG117 image without words (a warning) · SG118 unknown footnote · SG119 YAML of an option

Those of link_site are listed in link.py.
"""

from collections.abc import Mapping

from sitegen.diagnostics import Diagnostic
from sitegen.markup.code import code_figure
from sitegen.markup.highlight import highlight
from sitegen.markup.link import link_site
from sitegen.markup.parse import parse_document
from sitegen.model.document import Document
from sitegen.model.linked import document_key
from sitegen.model.site import Site

__all__ = ["code_figure", "highlight", "link_site", "parse_document", "parse_documents"]


def parse_documents(site: Site) -> tuple[Mapping[str, Document], tuple[Diagnostic, ...]]:
    """Every text of a site by `document_key`, and the mistakes in all of them."""
    parsed = {document_key(post.body): parse_document(post.body, numbered=True) for post in site.posts}
    for text in (*(page.body for page in site.pages), *(term.body for term in site.terms)):
        parsed[document_key(text)] = parse_document(text, has_cells=False)
    for entry in site.worklog:
        prefix = f"{entry.date.isoformat()}-"
        parsed[document_key(entry.body)] = parse_document(entry.body, has_cells=False, top_level=3, id_prefix=prefix)
    if site.worklog_intro is not None:
        parsed[document_key(site.worklog_intro)] = parse_document(site.worklog_intro, has_cells=False)
    return {key: document for key, (document, _) in parsed.items()}, tuple(d for _, ds in parsed.values() for d in ds)
