"""Turn citations such as `[@dao2022, p. 3; @other]` and `@dao2022` into slots, and `@fig-roofline` into a reference.

Citations have the syntax of Pandoc.  A key that begins with a kind of label (`fig-`, `tbl-`, `eq-`, `lst-`, `sec-`)
names a thing of this text, and any other key names a work of the bibliography.  The works are known only when the site
is linked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from sitegen.markup.collected import Collected, add_rules, collected
from sitegen.markup.labels import kind_of, reference
from sitegen.markup.places import span_within
from sitegen.model.document import CitedWork, CiteSlot

_KEY = r"\w(?:[\w:.#$%&+?<>~/-]*\w)?"
_BARE = re.compile(rf"@(?P<key>{_KEY})(?:[ \n]\[(?P<suffix>[^\]\[^@][^\]\[@]*)\](?![(\[:]))?")
_PARTICLE = re.compile("(?<=[A-Za-z0-9])[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+$")
"""Pattern of a Korean or Japanese particle right behind a word: `@fig-plot에서` is `fig-plot` and a particle."""
_BRACKET = re.compile(r"\[([^\[\]]*@[^\[\]]*)\](?![(\[])")
_ITEM = re.compile(
    rf"\s*(?P<prefix>(?:[^@]*\s)?)(?P<minus>-?)@(?:(?P<key>{_KEY})|\{{(?P<braced>[^{{}}\s]+)\}})(?P<suffix>.*)",
    re.DOTALL,
)


def citations_plugin(md: MarkdownIt) -> None:
    md.inline.ruler.before("link", "citation", _citation)
    add_rules(md, {"citation": _render})


def _citation(state: StateInline, silent: bool) -> bool:
    if state.linkLevel:
        return False
    if state.src[state.pos] == "[":
        return _bracket(state, silent)
    if state.src[state.pos] != "@" or (state.pos and state.src[state.pos - 1].isalnum()):
        return False
    match = _BARE.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    key = _PARTICLE.sub("", match["key"])
    alone = kind_of(key) or len(key) < len(match["key"])
    stop = match.start("key") + len(key) if alone else match.end()
    if not silent:
        suffix = "" if alone else match["suffix"] or ""
        _push(state, [CitedWork(key, suffix=suffix.strip())], stop, narrative=True)
    state.pos = stop
    return True


def _bracket(state: StateInline, silent: bool) -> bool:
    match = _BRACKET.match(state.src, state.pos, state.posMax)
    items = list(_items(match[1])) if match else []
    if not match or not all(items):
        return False
    if not silent:
        _push(state, [item for item in items if item], match.end(), narrative=False)
    state.pos = match.end()
    return True


def _items(text: str) -> Iterator[CitedWork | None]:
    """Yield each citation of a bracket; None for a part that is no citation, which makes the bracket plain text."""
    for part in text.split(";"):
        match = _ITEM.fullmatch(part)
        key = match and (match["key"] or match["braced"])
        yield (
            CitedWork(
                key, _words(match["prefix"]), _words(match["suffix"]).removeprefix(",").strip(), bool(match["minus"])
            )
            if match and key
            else None
        )


def _words(text: str) -> str:
    return " ".join(text.split())


def _push(state: StateInline, items: Sequence[CitedWork], stop: int, *, narrative: bool) -> None:
    token = state.push("citation", "", 0)
    token.content = state.src[state.pos : stop]
    token.meta = {"items": items, "narrative": narrative}


def _render(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    token, into = tokens[idx], collected(env)
    items: Sequence[CitedWork] = token.meta["items"]
    if all(kind_of(item.key) for item in items):
        return "; ".join(_reference(token, item, into) for item in items)
    if mixed := next((item for item in items if kind_of(item.key)), None):
        span = span_within(token, f"@{mixed.key}", into)
        into.error(
            "SG122",
            f"`@{mixed.key}` is a part of this text, beside works of others",
            span,
            "give it a bracket of its own",
        )
        return escape(token.content)
    cited = tuple(_with_id(item, into) for item in items)
    written = " ".join(token.content.split())
    span = span_within(token, token.content.split("\n")[0], into)
    return into.slot(CiteSlot(cited, written, span, token.meta["narrative"], into.id_prefix))


def _reference(token: Token, item: CitedWork, into: Collected) -> str:
    words = "" if item.bare else item.prefix or None
    suffix = f" {escape(item.suffix)}" if item.suffix else ""
    return reference(item.key, span_within(token, f"@{item.key}", into), words, into) + suffix


def _with_id(item: CitedWork, into: Collected) -> CitedWork:
    into.ids.setdefault(f"{into.id_prefix}bib-{item.key}")
    wanted = f"cite-{into.count_citations() + 1}"
    return CitedWork(item.key, item.prefix, item.suffix, item.bare, into.new_id(wanted))
