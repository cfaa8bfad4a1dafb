"""Turn a table of nothing but words and code into one token, and that token into the HTML of its rows.

Gain: 5 % of a cold build of the corpus, which has one table a post.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from markdown_it.common.utils import mdTrim
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from sitegen.markup.fast.quick_token import QuickToken
from sitegen.markup.fast.words_and_code import are_plain, html_of, said
from sitegen.markup.tables import RIGHT, cell_closed, cell_opened, spaces_behind

_RULES = re.compile(r"[-:| \t]+")
_RULE = re.compile(r"(:?)-+(:?)")
_ALIGNED = {("", ""): "", (":", ""): "left", ("", ":"): "right", (":", ":"): "center"}


def read_table(state: StateBlock, line: int, end: int, marks: Sequence[str]) -> bool:
    """Read the table before line `end` if each row has as many cells as the first; return whether it was read."""
    text = state.src[state.bMarks[line] : state.eMarks[end - 1]]
    if "\\" in text:
        return False
    rules, rows = _rules_and_rows(text)
    if not rules or not all(rules) or any(len(row) != len(rules) for row in rows):
        return False
    if not _is_plain(text, rows, marks):
        return False
    styles = [f"text-align:{side}" if rule and (side := _ALIGNED[rule[1], rule[2]]) else "" for rule in rules]
    state.tokens.append(QuickToken("table_open", "table", 1, 0, "", "", [line, end], block=True))
    _push_rows(state.tokens, rows, styles, line)
    state.tokens.append(QuickToken("table_close", "table", -1, block=True))
    state.line = end
    return True


def _is_plain(text: str, rows: Sequence[Sequence[str]], marks: Sequence[str]) -> bool:
    """Return whether each cell is words and code, and no code continues in the next cell."""
    if not are_plain("-".join(text.split("`")[::2]), marks):
        return False
    return all(are_plain(cell, ()) for row in rows for cell in row if "`" in cell)


def _rules_and_rows(text: str) -> tuple[list[re.Match[str] | None], list[list[str]]]:
    """Return a match for each rule below the header, and the cells of all other lines; no match if it is no rule."""
    lines = text.split("\n")
    rules = lines.pop(1)
    match = [_RULE.fullmatch(cell) for cell in _cells(rules)] if _RULES.fullmatch(rules) else []
    return match, [_cells(row) for row in lines]


def _cells(row: str) -> list[str]:
    """Return the cells of a row that begins with a bar; a bar at its end begins no cell."""
    cells = mdTrim(row).split("|")
    return [mdTrim(cell) for cell in cells[1 : None if cells[-1] else -1]]


def _push_rows(tokens: list[Token], rows: Sequence[Sequence[str]], styles: Sequence[str], line: int) -> None:
    words = said(" ".join([cell for row in rows for cell in row]))
    meta = {"rows": rows, "styles": styles, "names": [*map(said, rows[0])]}
    lines = [line, line + len(rows) + 1]
    tokens.append(QuickToken("table_rows", "", 0, 1, words, "", lines, meta=meta, block=True))


def render_rows(tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
    """Return the HTML of all rows."""
    head, *body = tokens[idx].meta["rows"]
    styles = tokens[idx].meta["styles"]
    columns = [[said(cell).strip() for cell in column] for column in zip(*body, strict=True)]
    spaces = [spaces_behind(column) for column in columns] or [None] * len(head)
    styles = [style or ("" if space is None else RIGHT) for style, space in zip(styles, spaces, strict=True)]
    pads = [
        space if space and style == RIGHT else [""] * len(body) for style, space in zip(styles, spaces, strict=True)
    ]
    above = _row("th", head, styles, [""] * len(head))
    rows = [_row("td", row, styles, pad) for row, pad in zip(body, zip(*pads, strict=True), strict=True)]
    below = f"<tbody>\n{''.join(rows)}</tbody>\n" if rows else ""
    return f"<thead>\n{above}</thead>\n{below}"


def _row(tag: str, cells: Sequence[str], styles: Sequence[str], pads: Sequence[str]) -> str:
    written = [
        f"{cell_opened(tag, cell, style)}{html_of(cell)}{cell_closed(tag, cell, pad)}"
        for cell, style, pad in zip(cells, styles, pads, strict=True)
    ]
    return f"<tr>\n{''.join(written)}</tr>\n"
