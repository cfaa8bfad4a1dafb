"""Read constructs within a line, with their places: roles, links and images as slots, footnote marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, cast

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from sitegen.diagnostics import did_you_mean
from sitegen.markup.collected import KEY, Collected, RenderRule, add_rules, collected
from sitegen.markup.directive import InlineRole
from sitegen.markup.images import markdown_image
from sitegen.markup.places import span_within, target_of
from sitegen.markup.words import are_words, join_units
from sitegen.model.document import LinkSlot

_ROLE = re.compile(r"\{([A-Za-z][\w-]*)\}(`+)(?!`)(.+?)(?<!`)\2(?!`)", re.DOTALL)
_MARK = re.compile(r"\[\^([^\]\s]{1,999})\]")
"""A mention of a footnote.  Without a bound on its name, the end of each `[^` would be looked for in the whole text."""
_PLACED = ("link_open", "image", "role", "citation", "footnote_missing", "math_inline", "html_inline", "link_close")


def inline_plugin(md: MarkdownIt, roles: Mapping[str, InlineRole]) -> None:
    """Add rules for roles and undefined footnotes; links, images, roles and formulas get their offset in their text."""
    md.inline.ruler.before("backticks", "role", _role_reader(roles))
    _bound_footnotes(md)
    md.inline.ruler.after("footnote_ref", "footnote_missing", _footnote_missing)
    for name in ("link", "image", "autolink", "html_inline", "math_inline", "role", "footnote_missing", "citation"):
        _remember_offsets(md, name)
    md.core.ruler.after("inline", "places", _places)
    add_rules(
        md,
        {
            "text": lambda tokens, idx, *_: join_units(escapeHtml(tokens[idx].content)),
            "link_open": _render_link,
            "image": _render_image,
            "role": _role_rule(roles),
            "footnote_missing": _render_footnote_missing,
        },
    )


def _role_reader(roles: Mapping[str, InlineRole]) -> Callable[[StateInline, bool], bool]:
    def read_role(state: StateInline, silent: bool) -> bool:
        if state.src[state.pos] != "{":
            return False
        match = _ROLE.match(state.src, state.pos, state.posMax)
        if not match:
            return False
        if not silent:
            token = state.push("role", "", 0)
            token.info, token.content = match[1], match[3].strip().replace("\n", " ")
            if role := roles.get(token.info):
                linked = bool(state.linkLevel)
                token.meta = {"said": role.said(token.content), "is_link": role.is_link, "within_link": linked}
        state.pos = match.end()
        return True

    return read_role


def _footnote_missing(state: StateInline, silent: bool) -> bool:
    match = _MARK.match(state.src, state.pos, state.posMax) if state.src[state.pos] == "[" else None
    if not match:
        return False
    if not silent:
        state.push("footnote_missing", "", 0).content = match[1]
    state.pos = match.end()
    return True


def _remember_offsets(md: MarkdownIt, name: str) -> None:
    rule = next(r for r in md.inline.ruler.__rules__ if r.name == name)
    inner: Callable[[StateInline, bool], bool] = rule.fn

    def placed(state: StateInline, silent: bool) -> bool:
        start, count = state.pos, len(state.tokens)
        if not inner(state, silent):
            return False
        for token in state.tokens[count:]:
            if token.type in _PLACED and "offset" not in token.meta:
                token.meta = {**token.meta, "offset": start}
                break
        return True

    md.inline.ruler.at(name, placed)


def _bound_footnotes(md: MarkdownIt) -> None:
    """Let the plugin read a mention only where there is a whole one: it looks for the end of each without a bound."""
    rule = next(r for r in md.inline.ruler.__rules__ if r.name == "footnote_ref")
    inner: Callable[[StateInline, bool], bool] = rule.fn

    def mention(state: StateInline, silent: bool) -> bool:
        return bool(_MARK.match(state.src, state.pos, state.posMax)) and inner(state, silent)

    md.inline.ruler.at("footnote_ref", mention)


def _places(state: StateCore) -> None:
    """Turn offsets within a block's text into lines and columns of the document."""
    into = collected(state.env)
    for block in state.tokens:
        if block.type == "inline" and block.map and block.children and not are_words(block.children):
            _place(block, block.map[0], into)


def _place(block: Token, first: int, into: Collected) -> None:
    placed = [token for token in block.children or () if "offset" in token.meta]
    starts = _line_starts(block, into) if placed else []
    for token in placed:
        line, col = _at(token.meta["offset"], block.content, starts, first)
        token.meta.update(line=line, col=col)


def inline_html(text: str, line: int, into: Collected) -> str:
    """Return the HTML of Markdown within one line, such as a caption among options; `line` counts from 0."""
    md = into.parser
    block = Token("inline", "", 0, map=[line, line + 1], content=text, children=[])
    env = {KEY: into}
    md.inline.parse(text, md, env, cast(list[Token], block.children))
    _place(block, line, into)
    return str(md.renderer.render([block], md.options, env))


def _line_starts(block: Token, into: Collected) -> list[int]:
    """Return the column of the file at which each line of a block's text begins: behind quotes, bullets and hashes."""
    first = block.map[0] if block.map else 0
    starts = []
    for number, text in enumerate(block.content.split("\n"), start=first):
        source = into.lines[number] if number < len(into.lines) else ""
        starts.append(max(source.find(text.strip()), 0) - (len(text) - len(text.lstrip())))
    return starts


def _at(offset: int, text: str, starts: list[int], first: int) -> tuple[int, int]:
    row = text.count("\n", 0, offset)
    col = offset - (text.rfind("\n", 0, offset) + 1)
    return first + row, max(col + starts[min(row, len(starts) - 1)], 0)


def _render_link(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    token, into = tokens[idx], collected(env)
    target = target_of(token, "href")
    token.attrSet("href", into.slot(LinkSlot(target, span_within(token, target, into))))
    return f"<a{_attributes(token, into)}>"


def _render_image(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    return markdown_image(tokens[idx], collected(env))


def _attributes(token: Token, into: Collected) -> str:
    return "".join(f' {escape(name)}="{escape(str(value))}"' for name, value in token.attrs.items())


def _role_rule(roles: Mapping[str, InlineRole]) -> RenderRule:
    offered = [name for name, role in roles.items() if role.is_offered]

    def render_role(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
        token, into = tokens[idx], collected(env)
        if token.info in roles:
            return roles[token.info].show(token, into)
        into.unknown("SG102", "role", token.info, offered, span_within(token, "{" + token.info + "}", into))
        return f"<code>{escape(token.content, quote=False)}</code>"

    return render_role


def _render_footnote_missing(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    into, name = collected(env), tokens[idx].content
    known = [label[1:] for label in env.get("footnotes", {}).get("refs", {})]
    hint = did_you_mean(name, known) or f"add a line `[^{name}]: …`"
    into.error("SG118", f"footnote `{name}` is not defined", span_within(tokens[idx], f"[^{name}]", into), hint)
    return escape(f"[^{name}]")
