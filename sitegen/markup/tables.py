"""Tables: a scroller that the keyboard reaches, a caption with a number, figures that stand under one another.

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
    tokens, opened = state.tokens, 0
    at = 0
    while at < len(tokens):
        if tokens[at].type == "table_open":
            opened = at
        elif tokens[at].type == "table_close" and (found := _caption_at(tokens, at + 1)):
            _take_caption(tokens, opened, at, found)
        at += 1


def _caption_at(tokens: Sequence[Token], at: int) -> re.Match[str] | None:
    is_paragraph = at + 1 < len(tokens) and tokens[at].type == "paragraph_open"
    return _CAPTION.match(tokens[at + 1].content) if is_paragraph else None


def _take_caption(tokens: list[Token], opened: int, closed: int, found: re.Match[str]) -> None:
    begin, text, end = tokens[closed + 1 : closed + 4]
    if found["label"]:
        tokens[opened].attrs.pop("id", None)
        tokens[opened].meta["label"] = found["label"], text.map[1] - 1 if text.map else 0
    tokens[opened].meta["captioned"] = True
    text.content = found["text"]
    begin.type, end.type = "table_caption_open", "table_caption_close"
    del tokens[closed + 1 : closed + 4]
    tokens[opened + 1 : opened + 1] = [begin, text, end]


def _figures(state: StateCore) -> None:
    """Which columns hold figures, and what those lack that have fewer decimals."""
    for at, token in enumerate(state.tokens):
        if token.type == "table_open":
            for column in _columns(state.tokens, at):
                _align(column)


def _columns(tokens: Sequence[Token], idx: int) -> list[list[tuple[Token, Token]]]:
    """Of each column of a table its cells: what opens each, and its text."""
    columns: list[list[tuple[Token, Token]]] = []
    at = 0
    for number in range(idx, len(tokens)):
        token = tokens[number]
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            at = 0
        elif token.type in ("th_open", "td_open"):
            columns.extend([] for _ in range(at + 1 - len(columns)))
            columns[at].append((token, tokens[number + 1]))
            at += 1
    return columns


def _align(column: list[tuple[Token, Token]]) -> None:
    body = [(cell, plain_text(text.children or ()).strip(), text) for cell, text in column if cell.tag == "td"]
    found = [(_FIGURE.fullmatch(words), text) for _, words, text in body if words not in _EMPTY]
    if not found or not all(match for match, _ in found):
        return
    for cell, _ in column:
        cell.attrs.setdefault("style", "text-align:right")
    if not all(cell.attrs["style"] == "text-align:right" for cell, _ in column):
        return
    figures = [(match, text) for match, text in found if match]
    if len({match["unit"] for match, _ in figures}) == 1:
        most = max(len(match["decimals"] or "") for match, _ in figures)
        for match, text in figures:
            lacks = most - len(match["decimals"] or "")
            point = _POINT if lacks and not match["decimals"] else ""
            text.meta["pad"] = point + _DIGIT * lacks


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
        if tokens[at].type == "inline" and tokens[at - 1].type == "th_open":
            yield plain_text(tokens[at].children or ())


def _table_close(_tokens: Sequence[Token], _idx: int, _options: Any, _env: Any) -> str:
    return "</table>\n</div>\n</div>\n"


def _cell_open(tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
    token = tokens[idx]
    align = str(token.attrs.get("style", "")).partition(":")[2]
    kind = "" if align == "right" else "t" if len(tokens[idx + 1].content) > _LONG else "l"
    classes = f' class="{kind}"' if kind else ""
    if token.tag == "th" and not tokens[idx + 1].content:
        return f"<td{classes}>"
    scope = ' scope="col"' if token.tag == "th" else ""
    return f"<{token.tag}{scope}{classes}>"


def _cell_close(tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
    empty_header = tokens[idx].tag == "th" and not tokens[idx - 1].content
    pad = str(tokens[idx - 1].meta.get("pad", ""))
    return pad + ("</td>\n" if empty_header else f"</{tokens[idx].tag}>\n")
