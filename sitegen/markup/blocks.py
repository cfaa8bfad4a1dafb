"""Turn headings and task lists into the HTML of the theme."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from sitegen.markup.annotations import note_open
from sitegen.markup.code import code_figure
from sitegen.markup.collected import Collected, NumberedName, add_rules, collected, slug
from sitegen.markup.labels import NAMES, kind_of
from sitegen.markup.words import plain_text
from sitegen.model.document import FIGURE, DocumentHeading

_HEADING_ID = re.compile(r"\s*\{#([\w.-]+)\}$")
_FRAME_ID = re.compile(r"(?:fn|ref|callout-|listing-|tabs-)\d[\d-]*|main|toc-h|record|hatch")
"""Ids that footnotes, callouts and the page around the text give themselves."""
_TASK = re.compile(r"\[([ xX~/])\][ \t]+(?=\S)")
FIGURE_ROLES = ("value", "predicted")
"""The roles whose words are known only when the records are read."""
_DONE, _PARTLY = ("done", "Done"), ("partial", "Partly done")
STATES = {" ": ("planned", "Open"), "~": _PARTLY, "/": _PARTLY, "x": _DONE, "X": _DONE}


def blocks_plugin(md: MarkdownIt) -> None:
    md.core.ruler.before("inline", "heading_ids", _heading_ids)
    md.core.ruler.before("inline", "tasks", _tasks)
    md.core.ruler.push("attribute_ids", _attribute_ids)
    add_rules(md, _RULES)


def _heading_ids(state: StateCore) -> None:
    """Give each heading `## Title {#id}` the id that its author chose."""
    if "{#" not in state.src:
        return
    for heading, text in zip(state.tokens, state.tokens[1:], strict=False):
        if heading.type == "heading_open" and (match := _HEADING_ID.search(text.content)):
            text.content = text.content[: match.start()]
            heading.attrSet("id", match[1])


def _attribute_ids(state: StateCore) -> None:
    """Register each id that comes from `{#id}`, like every other id of the page."""
    if "{" not in state.src:
        return
    into = collected(state.env)
    for block in state.tokens:
        line = block.map[0] if block.map else 0
        for token in (block, *block.children) if block.children and "{" in block.content else (block,):
            if token.attrs and (chosen := token.attrs.get("id")):
                at = token.meta.get("line", line)
                token.attrSet("id", into.take_id(str(chosen), into.span_of(str(chosen), max(at - 1, 0), at + 2)))


def shift_of(tokens: Sequence[Token]) -> int:
    """Return the number to add to each heading's level so that the highest is 2; level 1 is the page's title."""
    levels = [int(t.tag[1]) for t in tokens if t.type == "heading_open" and t.level == 0]
    return 2 - min(levels, default=2)


def _heading_open(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    token, into = tokens[idx], collected(env)
    children = tokens[idx + 1].children or []
    text = plain_text(children).strip()
    level = max(2, min(6, int(token.tag[1]) + env["shift"]))
    name = str(token.attrs.get("id") or _free_id(text, into))
    if token.level == 0:
        into.headings.append(DocumentHeading(level, name, _with_figures(children, text), len(into.slots)))
        into.level = level
    number = _number(level, token, into)
    if kind_of(name.removeprefix(into.id_prefix)) == "sec":
        into.names[name] = _section(into) if number else NumberedName(f"“{text}”", f"“{text}”")
    linked = not text or any(t.type in ("link_open", "citation") or t.meta.get("is_link") for t in children)
    token.meta.update(level=level, linked=linked)
    classes = f' class="{escape(str(token.attrs["class"]))}"' if "class" in token.attrs else ""
    anchor = "" if linked else f'<a class="anchor" href="#{escape(name)}">'
    return f'<h{level} id="{escape(name)}"{classes}>{number}{anchor}'


def _with_figures(children: Sequence[Token], text: str) -> str:
    """Return the text of a heading with FIGURE in the place of each figure of a record."""
    if not any(token.type == "role" and token.info in FIGURE_ROLES for token in children):
        return text
    words = [FIGURE if token.info in FIGURE_ROLES else plain_text([token]) for token in children]
    return "".join(words).strip()


def _section(into: Collected) -> NumberedName:
    number = into.numbers["sec"]
    return NumberedName(into.spoken.say(NAMES["sec"], n=number), str(number))


def _heading_close(tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
    meta = tokens[idx - 2].meta
    return f"{'' if meta['linked'] else '</a>'}</h{meta['level']}>\n"


def _free_id(text: str, into: Collected) -> str:
    name = slug(text)
    return into.new_id(f"section-{name}" if _FRAME_ID.fullmatch(name) else name)


def _number(level: int, token: Token, into: Collected) -> str:
    if not into.numbered or level != 2 or token.level:
        return ""
    into.numbers["sec"] = into.numbers.get("sec", 0) + 1
    return f'<span class="no">{into.numbers["sec"]}</span>'


def _tasks(state: StateCore) -> None:
    """Turn the mark of `- [x] done` into a state; a list that has only tasks gets the layout of tasks."""
    if not _TASK.search(state.src):
        return
    lists: list[list[Token]] = []
    for at, token in enumerate(state.tokens):
        if token.type == "bullet_list_open":
            lists.append([token])
        elif token.type == "list_item_open" and lists:
            lists[-1].append(token)
            _take_task(token, state.tokens[at + 1 : at + 3])
        elif token.type == "bullet_list_close":
            whole, *items = lists.pop()
            if all("task" in item.meta for item in items):
                whole.attrSet("class", "tasks")
        elif token.type == "ordered_list_open":
            lists.append([token])
        elif token.type == "ordered_list_close":
            lists.pop()


def _take_task(item: Token, following: Sequence[Token]) -> None:
    if [t.type for t in following] == ["paragraph_open", "inline"] and (match := _TASK.match(following[1].content)):
        following[1].content = following[1].content[match.end() :]
        item.meta["task"] = STATES[match[1]]


def _item_open(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    token = tokens[idx]
    stack = env.setdefault("items", [])
    stack.append("task" in token.meta or "note" in token.meta)
    if "note" in token.meta:
        number, id = token.meta["note"]
        return note_open(number, id, collected(env).spoken)
    if "task" not in token.meta:
        return "<li>"
    kind, state = token.meta["task"]
    word = escape(collected(env).spoken.say(state))
    return f'<li><span class="state {kind}"><span class="vh">{word}:</span></span> <div>'


def _item_close(_tokens: Sequence[Token], _idx: int, _options: Any, env: Any) -> str:
    return "</div></li>\n" if env["items"].pop() else "</li>\n"


def _code_block(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    return code_figure(tokens[idx].content, "", spoken=collected(env).spoken)


_RULES = {
    "code_block": _code_block,
    "heading_close": _heading_close,
    "heading_open": _heading_open,
    "list_item_close": _item_close,
    "list_item_open": _item_open,
}
