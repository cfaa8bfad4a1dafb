"""What stands within a line: roles, links and images as slots, footnote marks, all with their places."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, cast

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from sitegen.diagnostics import did_you_mean
from sitegen.markup.collected import KEY, Collected, add_rules, collected
from sitegen.markup.images import markdown_image
from sitegen.markup.math import inline_math
from sitegen.markup.places import span_within, target_of
from sitegen.markup.words import are_words
from sitegen.model.document import LinkSlot, TermSlot

_ROLE = re.compile(r"\{([A-Za-z][\w-]*)\}(`+)(?!`)(.+?)(?<!`)\2(?!`)", re.DOTALL)
_OTHER_WORDS = re.compile(r"(.*\S)\s*<([^<>]+)>")
_MARK = re.compile(r"\[\^([^\]\s]+)\]")
_PLACED = ("link_open", "image", "role", "citation", "footnote_missing", "math_inline", "html_inline", "link_close")
NOT_YET = frozenset({"value", "claim"})


def inline_plugin(md: MarkdownIt) -> None:
    """Rules for roles and lost footnotes; every link, image, role and formula learns its offset in its text."""
    md.inline.ruler.before("backticks", "role", _role)
    md.inline.ruler.after("footnote_ref", "footnote_missing", _footnote_missing)
    for name in ("link", "image", "autolink", "html_inline", "math_inline", "role", "footnote_missing", "citation"):
        _remember_offsets(md, name)
    md.core.ruler.after("inline", "places", _places)
    add_rules(
        md,
        {
            "link_open": _render_link,
            "image": _render_image,
            "role": _render_role,
            "footnote_missing": _render_footnote_missing,
        },
    )


def _role(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "{":
        return False
    found = _ROLE.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        token = state.push("role", "", 0)
        token.info, token.content = found[1], found[3].strip().replace("\n", " ")
    state.pos = found.end()
    return True


def _footnote_missing(state: StateInline, silent: bool) -> bool:
    found = _MARK.match(state.src, state.pos, state.posMax) if state.src[state.pos] == "[" else None
    if not found:
        return False
    if not silent:
        state.push("footnote_missing", "", 0).content = found[1]
    state.pos = found.end()
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


def _places(state: StateCore) -> None:
    """Offsets within a block's text become lines and columns of the document."""
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


def inline_html(text: str, line: int, md: MarkdownIt, into: Collected) -> str:
    """The HTML of Markdown within one line, such as a caption among options; `line` counts from 0."""
    block = Token("inline", "", 0, map=[line, line + 1], content=text, children=[])
    env = {KEY: into}
    md.inline.parse(text, md, env, cast(list[Token], block.children))
    _place(block, line, into)
    return str(md.renderer.render([block], md.options, env))


def _line_starts(block: Token, into: Collected) -> list[int]:
    """The column at which each line of a block's text stands in the file: behind quotes, bullets and hashes."""
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


def _render_role(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    token, into = tokens[idx], collected(env)
    if token.info in ROLES:
        return ROLES[token.info](token, into)
    span = span_within(token, "{" + token.info + "}", into)
    if token.info in NOT_YET:
        into.error("SG112", f"the role `{{{token.info}}}` is not known yet", span, "values are bound to records later")
    else:
        into.unknown("SG102", "role", token.info, ROLES, span)
    return f"<code>{escape(token.content, quote=False)}</code>"


def _render_footnote_missing(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    into, name = collected(env), tokens[idx].content
    known = [label[1:] for label in env.get("footnotes", {}).get("refs", {})]
    hint = did_you_mean(name, known) or f"add a line `[^{name}]: …`"
    into.error("SG118", f"footnote `{name}` is not defined", span_within(tokens[idx], f"[^{name}]", into), hint)
    return escape(f"[^{name}]")


def _spec(token: Token, into: Collected) -> str:
    title = escape(into.spoken.say("the vendor’s figure"))
    return f'<span class="spec" title="{title}">{escape(token.content, quote=False)}</span>'


def _math(token: Token, into: Collected) -> str:
    return inline_math(token.content, token.meta.get("line", 0), into)


def _kernel(token: Token, into: Collected) -> str:
    kernel = token.content.split("/")[0]
    href = into.slot(LinkSlot(f"/kernels/{kernel}/", span_within(token, token.content, into)))
    return f'<a href="{href}"><code>{escape(token.content, quote=False)}</code></a>'


def _term(token: Token, into: Collected) -> str:
    """`warp`, or other words for it: `warps <warp>`.  The first use in a text is a link."""
    found = _OTHER_WORDS.fullmatch(token.content)
    words, name = (found[1], found[2]) if found else (token.content, token.content)
    shown = escape(words, quote=False)
    if any(isinstance(slot, TermSlot) and slot.name.lower() == name.lower() for slot in into.slots):
        return shown
    return f'<a href="{into.slot(TermSlot(name, span_within(token, name, into)))}">{shown}</a>'


def _element(name: str) -> Callable[[Token, Collected], str]:
    return lambda token, _into: f"<{name}>{escape(token.content, quote=False)}</{name}>"


ROLES: dict[str, Callable[[Token, Collected], str]] = {
    "spec": _spec,
    "math": _math,
    "kernel": _kernel,
    "term": _term,
    "kbd": _element("kbd"),
    "sub": _element("sub"),
    "sup": _element("sup"),
}
