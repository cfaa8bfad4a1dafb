"""Turn the blocks of a kramdown text into MyST: listings, formulas, quotes, tables, HTML, headings, attribute lists.

After https://kramdown.gettalong.org/syntax.html and lib/kramdown/parser of gettalong/kramdown, kramdown/parser-gfm.
"""

from __future__ import annotations

from collections.abc import Sequence

from sitegen.importing.jekyll.blocks.attribute_lists import read_attribute_list
from sitegen.importing.jekyll.blocks.elements import read_html, read_item_of_html
from sitegen.importing.jekyll.blocks.equations import read_environment, read_formula
from sitegen.importing.jekyll.blocks.inserts import read_extension, read_insert
from sitegen.importing.jekyll.blocks.listings import read_fence, read_indented
from sitegen.importing.jekyll.blocks.reader import BlockReader
from sitegen.importing.jekyll.blocks.texts import (
    NOTE,
    read_blank,
    read_heading,
    read_line_of_comment,
    read_paragraph,
    read_quote,
    read_table,
)
from sitegen.importing.jekyll.conversion import Conversion
from sitegen.importing.jekyll.headings import Headings
from sitegen.importing.jekyll.html import block_html
from sitegen.importing.jekyll.inline import definitions_from_includes, images_elsewhere, resolve_references

_READERS = (
    read_blank,
    read_fence,
    read_attribute_list,
    read_extension,
    read_insert,
    read_formula,
    read_environment,
    read_html,
    read_item_of_html,
    read_quote,
    read_heading,
    read_indented,
    read_line_of_comment,
    read_table,
    read_paragraph,
)
"""Each reads the block that begins on the current line, or returns False.  `read_paragraph` reads whatever is left."""


def convert_blocks(text: str, numbers: Sequence[int], conversion: Conversion) -> str:
    """Return the MyST of a kramdown text; `numbers` are the lines of the file that the lines of `text` came from."""
    lines = text.split("\n")
    notes = frozenset(match[1] for line in lines if (match := NOTE.match(line)))
    conversion.formulas.read(conversion.inserts.verbatim(text))
    conversion.elsewhere |= images_elsewhere(lines, conversion)
    headings = Headings(conversion.site.config.is_gfm)
    reader = BlockReader(lines, numbers, conversion, notes, headings, _READERS)
    body = "\n".join(reader.run()).rstrip("\n")
    footnotes = ["", *conversion.notes] if conversion.notes else []
    written = "\n".join([body, *footnotes])
    definitions = definitions_from_includes(written, conversion)
    return resolve_references("\n".join([written, *definitions, ""]), conversion)


def convert_html(text: str, numbers: Sequence[int], conversion: Conversion) -> str:
    """Return the text of a document that is HTML: no Markdown is read in it."""
    return block_html(text.strip("\n"), numbers[0], conversion) + "\n"
