"""Markdown → HTML with numbered slots (`parse_document`), and slots → addresses within a site (`link_site`)."""

from sitegen.markup.code import code_figure
from sitegen.markup.highlight import highlight
from sitegen.markup.parse import parse_document

__all__ = ["code_figure", "highlight", "parse_document"]
