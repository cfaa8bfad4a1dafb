"""Find rows of tables that have more cells than the header, and tables that are read as text: tokens in, warnings out.

Markdown leaves out the cells behind the last column of the header.  Lines of cells are no table without a line such as
`|---|---|` below the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

from sitegen.diagnostics import Span
from sitegen.markup.collected import Collected, collected

_BAR = re.compile(r"(?<!\\)\|")
_BEFORE = re.compile(r"[ \t>]*\|?")
"""What stands before the first cell of a row, also within a quotation."""

_ROW = re.compile(r"[ \t>]*\|.*\|[ \t]*")
_RULE = re.compile(r"[ \t>]*\|[-:| \t]+\|[ \t]*")


def long_rows_plugin(md: MarkdownIt) -> None:
    md.core.ruler.before("inline", "long_rows", _warn_of_long_rows)


def _warn_of_long_rows(state: StateCore) -> None:
    if "|" not in state.src:
        return
    columns, into = 0, collected(state.env)
    for token in state.tokens:
        if token.type == "paragraph_open" and token.map and token.map[1] - token.map[0] > 1:
            _warn_of_table_as_text(token.map[0], token.map[1], into)
        if token.type == "thead_open":
            columns = 0
        elif token.type == "th_open":
            columns += 1
        elif token.type == "tr_open" and token.map and columns:
            _warn_of_cells_behind(columns, token.map[0], into)


def _warn_of_table_as_text(first: int, stop: int, into: Collected) -> None:
    """Warn of a paragraph of which each line begins and ends with a bar."""
    if not all(_ROW.fullmatch(line) for line in into.lines[first:stop]):
        return
    columns = len([*_cells(first, into)])
    rule = f"|{'---|' * columns}"
    hint = f"write `{rule}` as a line below the first"
    if _RULE.fullmatch(into.lines[first + 1]):
        hint = f"the line below the first has as many cells as it: write `{rule}`"
    into.warning("SG143", "this table is read as text", into.span_of_line(first), hint)


def _warn_of_cells_behind(columns: int, line: int, into: Collected) -> None:
    """Warn of the row in `line` if one of its cells behind the last column has words."""
    cells = [*_cells(line, into)]
    left_out = [cell for cell in cells[columns:] if cell[0]]
    if left_out:
        words, span = left_out[0]
        message = (
            f"the row has {len(cells)} cells, and the table has {columns}: `{words.replace('`', '')}` is not shown"
        )
        into.warning("SG143", message, span, "add a column to the header, or write a bar within a cell as `\\|`")


def _cells(line: int, into: Collected) -> Iterator[tuple[str, Span]]:
    """Yield the words and the place of each cell of a row; an empty cell behind the last bar is none."""
    source = into.lines[line].rstrip()
    before = _BEFORE.match(source)
    start = before.end() if before else 0
    for end in [*(bar.start() for bar in _BAR.finditer(source, start)), len(source)]:
        words = source[start:end].strip()
        if words or end < len(source):
            yield words, into.span(line, source.find(words, start), len(words))
        start = end + 1
