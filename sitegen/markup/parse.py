"""Turn a Markdown text into a `Document`, which is HTML with slots, and into its mistakes.

markdown-it-py reads the text into tokens; the modules beside this one add rules to it and write the tokens as HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.attrs import attrs_block_plugin, attrs_plugin
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from sitegen.diagnostics import Diagnostic, in_reading_order
from sitegen.highlight.lines import KEPT, highlighted_lines
from sitegen.markup.additions import NOTHING_ADDED, Additions
from sitegen.markup.annotations import annotations_plugin
from sitegen.markup.autolinks import autolinks_plugin
from sitegen.markup.blocks import blocks_plugin, shift_of
from sitegen.markup.citations import citations_plugin
from sitegen.markup.collected import KEY, Collected, add_rules
from sitegen.markup.containers import containers_plugin
from sitegen.markup.directive import Directive
from sitegen.markup.fast import shortcuts
from sitegen.markup.fences import fence_rule, unopened_fences_plugin
from sitegen.markup.footnotes import footnotes_plugin
from sitegen.markup.half_written import half_written_plugin
from sitegen.markup.inline import inline_plugin
from sitegen.markup.labels import with_references
from sitegen.markup.listings import listings_in
from sitegen.markup.long_rows import long_rows_plugin
from sitegen.markup.math import keep_punctuation, labelled_math_plugin, render_math_block, render_math_inline
from sitegen.markup.pieces import Pieces
from sitegen.markup.rawhtml import render_html, report_open_tags
from sitegen.markup.registry import declared, directives, roles, with_words
from sitegen.markup.tables import tables_plugin
from sitegen.markup.words import count_words
from sitegen.model.document import Document
from sitegen.model.markdown import Markdown
from sitegen.model.vocabulary import ENGLISH, Vocabulary
from sitegen.read.severity import worklog_never_fails

_ATTRIBUTES = ("id", "class")


@dataclass(frozen=True, slots=True)
class ParsedText:
    """A text whose tokens are read and whose HTML is not written yet."""

    into: Collected
    env: dict[str, Any]
    tokens: Sequence[Token]


def parse_document(
    body: Markdown,
    *,
    has_cells: bool = True,
    numbered: bool = False,
    id_prefix: str = "",
    pieces: Pieces | None = None,
    spoken: Vocabulary = ENGLISH,
    added: Additions = NOTHING_ADDED,
) -> tuple[Document, tuple[Diagnostic, ...]]:
    """Return the document of one text and its mistakes, in reading order; `read_text` says what the options do."""
    return document_of(
        read_text(
            body,
            has_cells=has_cells,
            numbered=numbered,
            id_prefix=id_prefix,
            pieces=pieces,
            spoken=spoken,
            added=added,
        )
    )


def read_text(
    body: Markdown,
    *,
    has_cells: bool = True,
    numbered: bool = False,
    id_prefix: str = "",
    pieces: Pieces | None = None,
    spoken: Vocabulary = ENGLISH,
    added: Additions = NOTHING_ADDED,
) -> ParsedText:
    """Read the tokens of a text.

    `has_cells` is False for texts without executable cells: pages, worklog, terms.  The highest heading of the text
    becomes `<h2>`.  `numbered` gives sections their numbers.  `id_prefix` keeps the ids of several texts on one page
    apart.  `pieces` has the listings and formulas that were made of the text before, and takes those that are made now.
    `spoken` is the vocabulary of generated words such as `Figure 1` and `Warning`; `added` is what the site adds.
    """
    text = body.text.replace("\r\n", "\n").replace("\r", "\n")
    parser, said = text_parser(), with_words(spoken)
    into = Collected(parser, body.path, text.split("\n"), body.first_line, has_cells, id_prefix, numbered, said)
    into.added = added
    into.pieces = pieces or into.pieces
    env: dict[str, Any] = {KEY: into}
    return ParsedText(into, env, parser.parse(text, env))


def document_of(text: ParsedText) -> tuple[Document, tuple[Diagnostic, ...]]:
    """Return the document of a text that was read, and its mistakes, in reading order."""
    into, env, tokens = text.into, text.env, text.tokens
    parser = text_parser()
    env["shift"] = shift_of(tokens)
    html = with_references(parser.renderer.render(tokens, parser.options, env), into)
    html = keep_punctuation(html) if into.has_math else html
    report_open_tags(into)
    document = Document(
        html=html,
        slots=tuple(into.slots),
        headings=tuple(into.headings),
        ids=tuple(into.ids),
        cells=tuple(into.cells),
        has_math=into.has_math,
        words=count_words(tokens),
        kept={name: tuple(items) for name, items in into.kept.items()},
    )
    return document, worklog_never_fails(in_reading_order(into.diagnostics))


def highlight_ahead(texts: Iterable[ParsedText]) -> None:
    """Highlight the code of plain fences of new texts, one language after another, so that `document_of` finds it.

    A lexer that continues with the next listing is 20 % faster than one after other code.  The number of listings is
    limited so that all are still remembered when `document_of` needs them.
    """
    new = [text.tokens for text in texts if text.into.pieces.are_new]
    listings = (listing for tokens in new for listing in listings_in(tokens))
    for language, code in sorted(islice(listings, KEPT // 2)):
        highlighted_lines(code, language)


def parse_post_text(
    body: Markdown,
    pieces: Pieces | None = None,
    spoken: Vocabulary = ENGLISH,
    added: Additions = NOTHING_ADDED,
) -> tuple[Document, tuple[Diagnostic, ...]]:
    """Read the text of a post: its sections are numbered."""
    return document_of(read_post_text(body, pieces, spoken, added))


def read_post_text(
    body: Markdown,
    pieces: Pieces | None = None,
    spoken: Vocabulary = ENGLISH,
    added: Additions = NOTHING_ADDED,
) -> ParsedText:
    return read_text(body, numbered=True, pieces=pieces, spoken=spoken, added=added)


@cache
def text_parser(*, fast: bool = True) -> MarkdownIt:
    """Return the parser of all texts; without `fast` it reads the same in the library's own steps."""
    md = MarkdownIt("commonmark", {"linkify": True, "html": True})
    md.enable(["table", "strikethrough"])
    for plugin in (
        autolinks_plugin,
        partial(footnote_plugin, inline=False),
        deflist_plugin,
        partial(dollarmath_plugin, allow_space=False, allow_digits=False),
        labelled_math_plugin,
        partial(attrs_plugin, allowed=_ATTRIBUTES, after=("image", "code_inline", "link_close")),
        partial(attrs_block_plugin, allowed=_ATTRIBUTES),
        partial(containers_plugin, directives=directives()),
        *(one.plugin for one in declared() if isinstance(one, Directive) and one.plugin),
        citations_plugin,
        colon_fence_plugin,  # after the containers, which may be fences of colons
        partial(inline_plugin, roles=roles()),
        partial(half_written_plugin, roles=roles()),
        footnotes_plugin,
        tables_plugin,
        long_rows_plugin,
        blocks_plugin,
        unopened_fences_plugin,
        partial(annotations_plugin, directives=[name for name, one in directives().items() if one.takes_notes]),
    ):
        md.use(plugin)
    render_fence = fence_rule(directives())
    add_rules(md, {**_RENDERERS, "fence": render_fence, "colon_fence": render_fence})
    if fast:
        shortcuts(md)
    return md


_RENDERERS: dict[str, Any] = {
    "html_block": render_html,
    "html_inline": render_html,
    "math_block": render_math_block,
    "math_block_label": render_math_block,
    "math_inline": render_math_inline,
}
