"""Turn `{tab-set}` with `{tab-item} Triton` (MyST's names) into panels, one of them shown, without a script.

Radio buttons choose the panel.  Sets that have an item of the same name are switched together, on every page.  The name
is `:sync:`, or the title.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from sitegen.diagnostics import Span
from sitegen.markup import options as o
from sitegen.markup.collected import Collected, add_rules, collected, slug
from sitegen.markup.directive import Container, Directive, closes, opened_inside

_COLONS = re.compile(r":{3,}(?=\{)")
OPTIONS_OF_ITEM = {
    "sync": o.Setting(o.label, "The name by which tabs of several sets are chosen together; without it, the title."),
}


def _plugin(md: MarkdownIt) -> None:
    md.core.ruler.before("inline", "tabs", _name_items)
    add_rules(
        md,
        {
            "tab-set_open": _render_set,
            "tab-set_close": lambda *_: "</div>\n",
            "tab-item_open": _render_item,
            "tab-item_close": lambda *_: "</div>\n",
        },
    )


def _wrap(tabs: Container) -> tuple[list[Token], Token]:
    opening = Token(f"{tabs.name}_open", "div", 1, map=[*tabs.lines], level=tabs.level, block=True)
    opening.info, opening.content = tabs.argument, "\n".join(tabs.head)
    first, last = tabs.lines
    lines = tabs.into.lines
    opening.meta["is_closed"] = closes(lines[last - 1], lines[first])
    opening.meta["is_cut"] = opened_inside("\n".join(lines[first + 1 : last]), lines[first]) is not None
    return [opening], Token(f"{tabs.name}_close", "div", -1, level=tabs.level, block=True)


def _name_items(state: StateCore) -> None:
    """Give each set its items, and each item its name and ids; report an item or a set in a wrong place."""
    if "{tab-" not in state.src:
        return
    into = collected(state.env)
    around: list[Token] = []
    outside: list[int] = []
    sets = 0
    for at, token in enumerate(state.tokens):
        inside = around[-1] if around else None
        if token.type in ("tab-set_close", "tab-item_close"):
            around.pop()
            if token.type == "tab-set_close" and inside and not inside.meta["items"] and not inside.meta["is_cut"]:
                into.error("SG124", "a set of tabs without a tab", _span(inside, into), "`{tab-item} Title` in it")
            continue
        in_set = inside is not None and inside.type == "tab-set_open"
        if token.type == "tab-item_open" and inside is not None and in_set:
            _add_item(token, inside, into)
        elif token.type == "tab-item_open":
            outside.append(at)
        elif in_set and inside is not None and token.level == inside.level + 1 and token.nesting >= 0:
            _report_stray(token, inside, into)
        if token.type in ("tab-set_open", "tab-item_open"):
            sets += token.type == "tab-set_open"
            token.meta.update(items=[], name=f"tabs-{sets}")
            around.append(token)
    if any(token.type == "tab-set_open" and token.meta["is_cut"] for token in state.tokens):
        return  # the fence of the set has a message, and the tabs stand outside of the set because of it
    for behind, run in _runs(state.tokens, outside).items():
        _report_run([state.tokens[at] for at in run], state.tokens[behind : behind + 1], into)


def _runs(tokens: Sequence[Token], outside: Sequence[int]) -> dict[int, list[int]]:
    """Return the tabs outside of a set as runs without anything between, each by the index behind it."""
    runs: dict[int, list[int]] = {}
    for first in outside:
        level = tokens[first].level
        ends = (at for at in range(first, len(tokens)) if tokens[at].type == "tab-item_close")
        behind = next(at for at in ends if tokens[at].level == level) + 1
        runs[behind] = [*runs.pop(first, ()), first]
    return runs


def _report_run(items: Sequence[Token], following: Sequence[Token], into: Collected) -> None:
    """Report tabs that one set would mend; a line of colons behind them is the end of a set that does not open."""
    longest = max(len(match[0]) if (match := _COLONS.search(into.lines[_line(item)])) else 0 for item in items)
    end = next((token for token in following if token.type == "colon_fence" and not token.info.strip()), None)
    fits = end is not None and len(end.markup) > longest
    signs = end.markup if end and fits else ":" * max(longest + 1, 4)
    what = "this tab stands" if len(items) == 1 else f"these {len(items)} tabs stand"
    span = _span(items[0], into)
    hint = f"write `{signs}{{tab-set}}` above line {span.line}"
    if end and fits:
        hint += f"; its end stands on line {_span(end, into).line} already"
    elif end:
        hint += f", and `{signs}` in place of line {_span(end, into).line}"
    else:
        hint += f", and `{signs}` below {_last_line(items[-1], into)}"
    into.error("SG124", f"{what} in no `{{tab-set}}`", span, hint)


def _last_line(item: Token, into: Collected) -> str:
    """Return the words for the last line of a tab; an end that nobody wrote has no number."""
    if not item.map or not item.meta["is_closed"]:
        return "the end of the last tab"
    return f"line {into.span_of_line(item.map[1] - 1).line}"


def _report_stray(token: Token, group: Token, into: Collected) -> None:
    """Report the first block of a set that is no tab; of a set without an end, its fence has a warning already."""
    if group.meta["is_closed"]:
        into.error("SG124", "only a `{tab-item}` stands in a `{tab-set}`", _span(token, into), "put one around it")
        group.meta["is_closed"] = False


def _add_item(token: Token, group: Token, into: Collected) -> None:
    items: list[Token] = group.meta["items"]
    options = o.read_options(token.content, _line(token) + 1, into)
    values = o.checked(options, OPTIONS_OF_ITEM, "`{tab-item}`", into)
    if not token.info:
        into.error("SG124", "a tab needs a title", _span(token, into), "`{tab-item} Triton`")
    title = token.info or f"Tab {len(items) + 1}"
    key = slug(values.get("sync", title))
    if any(item.meta["key"] == key for item in items):
        into.error(
            "SG124", f"two tabs of a set are `{key}`", options.span("sync", _span(token, into)), "name one of them"
        )
    name = group.meta["name"]
    id = into.new_id(f"{name}-{len(items) + 1}")
    token.meta.update(key=key, title=title, id=id, group=into.id_prefix + name, first=not items)
    items.append(token)


def _line(token: Token) -> int:
    return token.map[0] if token.map else 0


def _span(token: Token, into: Collected) -> Span:
    return into.span_of_line(_line(token))


def _render_set(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    names = ", ".join(item.meta["title"] for item in tokens[idx].meta["items"]) or collected(env).spoken.say("Tabs")
    return f'<div class="tabs" role="group" aria-label="{escape(names)}">\n'


def _render_item(tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
    """Return the HTML of an item: its button, its name, and its panel."""
    meta = tokens[idx].meta
    if "key" not in meta:
        return '<div class="flow">\n'
    id, group, key = (escape(meta[name]) for name in ("id", "group", "key"))
    checked = " checked" if meta["first"] else ""
    return (
        f'<input class="vh" type="radio" name="{group}" id="{id}" value="{key}"{checked}>\n'
        f'<label for="{id}">{escape(meta["title"])}</label>\n<div class="panel flow">\n'
    )


DECLARED = (
    Directive(("tab-set",), "A set of tabs, of which one is shown.", wrap=_wrap, plugin=_plugin),
    Directive(("tab-item",), "A tab of a set, with its title.", OPTIONS_OF_ITEM, wrap=_wrap),
)
