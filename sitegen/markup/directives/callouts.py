"""Turn callouts, `{warning} Title` fences and GitHub's `> [!WARNING]` into an aside whose text is Markdown.

`{margin}` is the note beside its paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from sitegen.markup.collected import add_rules, collected
from sitegen.markup.directive import Container, Directive
from sitegen.markup.words import plain_text
from sitegen.model.vocabulary import Vocabulary

KINDS = {
    "note": "Note",
    "tip": "Tip",
    "hint": "Hint",
    "important": "Important",
    "warning": "Warning",
    "caution": "Caution",
    "danger": "Danger",
    "pitfall": "Pitfall",
    "margin": "",
}
_ALERT = re.compile(r"\[!(\w+)\][ \t]*(.*)(?:\n|$)")


def _plugin(md: MarkdownIt) -> None:
    md.core.ruler.before("inline", "alerts", _alerts)
    add_rules(
        md,
        {
            "callout_open": _render_open,
            "callout_title_open": _render_title_open,
            "callout_title_close": _render_title_close,
            "callout_close": _render_close,
        },
    )


def _wrap(callout: Container) -> tuple[list[Token], Token]:
    opening = _opening(callout.name, callout.argument, callout.lines[0], callout.level, callout.into.spoken)
    return opening, _closing(callout.name, callout.level)


def _opening(kind: str, title: str, line: int, level: int, spoken: Vocabulary) -> list[Token]:
    """Return the opening of the aside and its title; a note in the margin may have no title."""
    shown, name = title, spoken.say(KINDS[kind]) if KINDS[kind] else ""
    if kind not in ("margin", "note") and title:
        shown = f"{name}: {title}"
    opening = Token("callout_open", "aside", 1, map=[line, line + 1], level=level, block=True, meta={"kind": kind})
    if not (shown := shown or name):
        return [opening]
    opening.meta["titled"] = True
    text = Token("inline", "", 0, map=[line, line + 1], level=level + 2, content=shown, children=[])
    begin = Token("callout_title_open", "", 1, level=level + 1, meta={"kind": kind}, block=True)
    return [opening, begin, text, Token("callout_title_close", "", -1, level=level + 1, meta={"kind": kind})]


def _closing(kind: str, level: int) -> Token:
    return Token("callout_close", "aside", -1, level=level, block=True, meta={"kind": kind})


def _alerts(state: StateCore) -> None:
    """Turn each quote that begins with a mark such as `[!NOTE]` into a callout."""
    if "[!" not in state.src:
        return
    at = 0
    while at < len(state.tokens) - 3:
        if state.tokens[at].type == "blockquote_open" and state.tokens[at + 1].type == "paragraph_open":
            match = _ALERT.match(state.tokens[at + 2].content)
            if match and match[1].lower() in KINDS:
                _turn_into_callout(state.tokens, at, match, collected(state.env).spoken)
        at += 1


def _turn_into_callout(tokens: list[Token], at: int, match: re.Match[str], spoken: Vocabulary) -> None:
    opening, text, kind = tokens[at], tokens[at + 2], match[1].lower()
    line = opening.map[0] if opening.map else 0
    end = next(i for i in range(at, len(tokens)) if tokens[i].level == opening.level and tokens[i].nesting == -1)
    tokens[end] = _closing(kind, opening.level)
    text.content = text.content[match.end() :]
    text.map = [line + 1, text.map[1]] if text.map else None
    kept = tokens[at + 1 : end] if text.content else tokens[at + 4 : end]
    tokens[at:end] = [*_opening(kind, match[2].strip(), line, opening.level, spoken), *kept]


def _render_open(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    token, into = tokens[idx], collected(env)
    titled = token.meta.get("titled")
    if token.meta["kind"] == "margin":
        name = plain_text(tokens[idx + 2].children or ()) if titled else into.spoken.say("Note")
        return f'<aside class="note" aria-label="{escape(name)}">\n'
    number = sum(name.startswith(f"{into.id_prefix}callout-") for name in into.ids) + 1
    token.meta["id"] = into.new_id(f"callout-{number}")
    return f'<aside class="callout" aria-labelledby="{escape(token.meta["id"])}">\n'


def _render_title_open(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    if tokens[idx].meta["kind"] == "margin":
        return "<p><b>"
    level = 3 if collected(env).level < 3 else 4
    return f'<h{level} id="{escape(tokens[idx - 1].meta["id"])}">'


def _render_title_close(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    if tokens[idx].meta["kind"] != "margin":
        return f"</h{3 if collected(env).level < 3 else 4}>\n"
    following = tokens[idx + 1]
    if following.type == "paragraph_open" and not following.hidden:
        following.hidden = True  # the title begins the paragraph
        return ".</b> "
    return "</b></p>\n"


def _render_close(_tokens: Sequence[Token], _idx: int, _options: Any, _env: Any) -> str:
    return "</aside>\n"


DECLARED = (
    Directive(
        tuple(KINDS),
        "An aside with a title: a note, a tip, a warning; `{margin}` stands beside its paragraph.",
        wrap=_wrap,
        has_options=False,
        plugin=_plugin,
    ),
)
