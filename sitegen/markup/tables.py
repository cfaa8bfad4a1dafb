"""Give tables a scroller that the keyboard reaches, a caption with a number, and figures aligned at the decimal point.

`: Its caption {#tbl-times}` in a paragraph of its own behind a table is its caption, as in Pandoc.  A column that holds
nothing but figures is set to the right, and figures with fewer decimals than others of their column end in spaces as
wide as what they lack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from sitegen.markup.captions import caption
from sitegen.markup.collected import add_rules, collected
from sitegen.markup.labels import numbered
from sitegen.markup.words import plain_text

_CAPTION = re.compile(r":[ \t]+(?P<text>.*?)(?:[ \t]*\{#(?P<label>[\w.-]+)\})?$", re.DOTALL)
_FIGURE = re.compile(r"[+\-−±<>≤≥~≈]?[ ]?\d[\d,  ]*(?:\.(?P<decimals>\d+))?(?P<unit>[^\d]{0,12})")
_EMPTY = frozenset({"", "-", "–", "—", "n/a"})
_DIGIT, _POINT = "\u2007", "\u2008"
"""Spaces as wide as a figure and as a full stop."""
RIGHT = "text-align:right"
_CELLS = ("th_open", "td_open")
_LONG = 32
"""Characters from which on a cell is text that may wrap."""


def tables_plugin(md: MarkdownIt) -> None:
    md.core.ruler.before("inline", "table_captions", _captions)
    md.core.ruler.after("inline", "table_figures", _figures)
    add_rules(
        md,
        {
            "table_caption_open": _caption_open,
            "table_caption_close": _caption_close,
            "table_close": _table_close,
            "table_open": _table_open,
            "td_close": _cell_close,
            "td_open": _cell_open,
            "th_close": _cell_close,
            "th_open": _cell_open,
        },
    )


def _captions(state: StateCore) -> None:
    """Move each caption to the front of its table, without a change of the positions of other tokens."""
    tokens, opened = state.tokens, 0
    for at, kind in [
        (at, token.type) for at, token in enumerate(tokens) if token.type in ("table_open", "table_close")
    ]:
        if kind == "table_open":
            opened = at
        elif match := _caption_at(tokens, at + 1):
            _take_caption(tokens, opened, at, match)


def _caption_at(tokens: Sequence[Token], at: int) -> re.Match[str] | None:
    is_paragraph = at + 1 < len(tokens) and tokens[at].type == "paragraph_open"
    return _CAPTION.match(tokens[at + 1].content) if is_paragraph else None


def _take_caption(tokens: list[Token], opened: int, closed: int, match: re.Match[str]) -> None:
    begin, text, end = tokens[closed + 1 : closed + 4]
    if match["label"]:
        tokens[opened].attrs.pop("id", None)
        tokens[opened].meta["label"] = match["label"], text.map[1] - 1 if text.map else 0
    tokens[opened].meta["captioned"] = True
    text.content = match["text"]
    begin.type, end.type = "table_caption_open", "table_caption_close"
    del tokens[closed + 1 : closed + 4]
    tokens[opened + 1 : opened + 1] = [begin, text, end]


def _figures(state: StateCore) -> None:
    """Align the columns of figures at their decimal points."""
    for at, token in enumerate(state.tokens):
        if token.type == "table_open":
            for column in _columns(state.tokens, at):
                _align(column)


def _columns(tokens: Sequence[Token], idx: int) -> list[list[tuple[Token, Token]]]:
    """Return the cells of each column of a table: what opens each, and its text.  All rows are as long as the first."""
    end = next(at for at in range(idx, len(tokens)) if tokens[at].type == "table_close")
    cells = [(tokens[at], tokens[at + 1]) for at in range(idx, end) if tokens[at].type in _CELLS]
    count = sum(cell.tag == "th" for cell, _ in cells)
    return [cells[column::count] for column in range(count)]


def _align(column: list[tuple[Token, Token]]) -> None:
    body = [text for cell, text in column if cell.tag == "td"]
    spaces = spaces_behind([plain_text(text.children or ()).strip() for text in body])
    if spaces is None:
        return
    for cell, _ in column:
        cell.attrs.setdefault("style", RIGHT)
    if all(cell.attrs["style"] == RIGHT for cell, _ in column):
        for text, space in zip(body, spaces, strict=True):
            text.meta["pad"] = space


def spaces_behind(words: Sequence[str]) -> list[str] | None:
    """Return the space behind each figure that aligns a column at the decimal points; None if a cell is no figure."""
    shown = {each for each in words if each not in _EMPTY}
    figures = {each: match for each in shown if (match := _FIGURE.fullmatch(each))}
    if not shown or len(figures) < len(shown):
        return None
    if len({figure["unit"] for figure in figures.values()}) > 1:
        return [""] * len(words)
    most = max(len(figure["decimals"] or "") for figure in figures.values())
    return [_space(figures[each]["decimals"] or "", most) if each in figures else "" for each in words]


def _space(decimals: str, most: int) -> str:
    lacks = most - len(decimals)
    return ("" if decimals or not lacks else _POINT) + _DIGIT * lacks


def _table_open(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    token, into = tokens[idx], collected(env)
    label, line = token.meta.get("label", ("", 0))
    classes = " ".join(filter(None, ["tbl", str(token.attrs.get("class", ""))]))
    id, captioned = str(token.attrs.get("id", "")), token.meta.get("captioned", False)
    if captioned:
        token.meta["name"], id = (
            numbered("tbl", into, label, into.span_of(label, line))
            if label
            else (
                numbered("tbl", into)[0],
                id,
            )
        )
    anchor = f' id="{escape(id)}"' if id else ""
    names = ", ".join(filter(None, _header(tokens, idx)))
    say = into.spoken.say
    words = escape(token.meta["name"] if captioned else say("Table of {names}", names=names) if names else say("Table"))
    return (
        f'<div class="{escape(classes)}"{anchor}>\n'
        f'<div class="scroll" tabindex="0" role="group" aria-label="{words}">\n<table class="data">\n'
    )


def _caption_open(tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
    return f'<caption><span class="stick">{caption(tokens[idx - 1].meta["name"])}'


def _caption_close(_tokens: Sequence[Token], _idx: int, _options: Any, _env: Any) -> str:
    return "</span></caption>\n"


def _header(tokens: Sequence[Token], idx: int) -> Iterator[str]:
    for at in range(idx, len(tokens)):
        if tokens[at].type == "thead_close":
            return
        if tokens[at].type == "table_rows":
            yield from tokens[at].meta["names"]
            return
        if tokens[at].type == "inline" and tokens[at - 1].type == "th_open":
            yield plain_text(tokens[at].children or ())


def _table_close(_tokens: Sequence[Token], _idx: int, _options: Any, _env: Any) -> str:
    return "</table>\n</div>\n</div>\n"


def _cell_open(tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
    token = tokens[idx]
    return cell_opened(token.tag, tokens[idx + 1].content, str(token.attrs.get("style", "")))


def _cell_close(tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
    text = tokens[idx - 1]
    return cell_closed(tokens[idx].tag, text.content, str(text.meta.get("pad", "")))


def cell_opened(tag: str, source: str, style: str) -> str:
    """Return the opening of a cell; a header without words is an empty cell."""
    kind = "" if style == RIGHT else ' class="t"' if len(source) > _LONG else ' class="l"'
    if tag == "th":
        return f'<th scope="col"{kind}>' if source else f"<td{kind}>"
    return f"<td{kind}>"


def cell_closed(tag: str, source: str, pad: str) -> str:
    return f"{pad}</{tag if source else 'td'}>\n"
