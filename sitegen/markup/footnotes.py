"""Turn footnotes into notes in the margin, or below their block where the margin is too narrow: the theme's `.note`.

A note stands behind the block of its first mention.  The style sheet alone can then set it beside the text, and a
screen reader reads it there.  A note that only another note mentions comes after the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from sitegen.markup.collected import Collected, add_rules, collected


def footnotes_plugin(md: MarkdownIt) -> None:
    md.core.ruler.after("footnote_tail", "footnote_places", _move)
    add_rules(
        md,
        {
            "footnote_anchor": _anchor,
            "footnote_close": _close,
            "footnote_number": _number,
            "footnote_open": _open,
            "footnote_ref": _mention,
        },
    )


def _move(state: StateCore) -> None:
    """Move each note behind the block of the text that mentions it first."""
    begin = next((at for at, token in enumerate(state.tokens) if token.type == "footnote_block_open"), None)
    if begin is None:
        return
    text, notes = state.tokens[:begin], _notes(state.tokens[begin + 1 : -1])
    moved: list[Token] = []
    done = 0
    for at in [at for at, token in enumerate(text) if token.children and "[^" in token.content]:
        end = next((i + 1 for i in range(at, begin) if text[i].level == 0 and text[i].nesting <= 0), begin)
        moved += text[done:end]
        done = end
        for child in text[at].children or ():
            moved += notes.pop(child.meta["id"], ()) if child.type == "footnote_ref" else ()
    state.tokens[:] = [*moved, *text[done:], *(part for note in notes.values() for part in note)]


def _notes(tokens: Sequence[Token]) -> dict[int, list[Token]]:
    """Return the tokens of each note by its id, with its number before its first words."""
    by_name: dict[int, list[Token]] = {}
    for token in tokens:
        if token.type == "footnote_open":
            note = by_name[token.meta["id"]] = []
        note.append(token)
    for id, note in by_name.items():
        _put_number(note, Token("footnote_number", "", 0, meta={"id": id}))
    return by_name


def _put_number(note: list[Token], number: Token) -> None:
    if len(note) > 2 and note[1].type == "paragraph_open":
        (note[2].children or []).insert(0, number)
    else:
        note.insert(1, number)


def _mention(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    into, number = collected(env), tokens[idx].meta["id"] + 1
    name = _id_of_mention(tokens[idx], into)
    into.ids[name] = None
    return f'<sup><a class="fnref" href="#{into.id_prefix}fn{number}" id="{name}">{number}</a></sup>'


def _id_of_mention(token: Token, into: Collected) -> str:
    again = f"-{token.meta['subId'] + 1}" if token.meta["subId"] else ""
    return f"{into.id_prefix}ref{token.meta['id'] + 1}{again}"


def _open(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    into, number = collected(env), tokens[idx].meta["id"] + 1
    name = f"{into.id_prefix}fn{number}"
    into.ids[name] = None
    label = escape(into.spoken.say("Note {n}", n=number))
    return f'<aside class="note" role="doc-footnote" id="{escape(name)}" aria-label="{label}">\n'


def _number(tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
    return f"<b>{tokens[idx].meta['id'] + 1}</b> "


def _close(_tokens: Sequence[Token], _idx: int, _options: Any, _env: Any) -> str:
    return "</aside>\n"


def _anchor(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    into, number = collected(env), tokens[idx].meta["id"] + 1
    label = escape(into.spoken.say("Back to reference {n}", n=number))
    return f' <a class="back" href="#{_id_of_mention(tokens[idx], into)}" aria-label="{label}">↩</a>'
