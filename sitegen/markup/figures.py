"""`{figure} plot.png` with `:alt:`, `:label:` and a caption in Markdown → a figure with a slot for its image."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from sitegen.markup import options as o
from sitegen.markup.callouts import fence, push_contents
from sitegen.markup.collected import add_rules, collected
from sitegen.markup.images import image, warn_without_words

_INFO = re.compile(r"(?:`{3,}|~{3,}|:{3,})\s*\{figure\}[ \t]*(?P<path>.*)$")
_OPTION = re.compile(r"\s*(?::[A-Za-z][\w-]*:|#\||//\|)")


def figures_plugin(md: MarkdownIt) -> None:
    md.block.ruler.before("fence", "figure", _figure, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    add_rules(md, {"figure_open": _render_open, "figure_close": _render_close})


def _figure(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    found = _INFO.match(state.src, state.bMarks[start] + state.tShift[start], state.eMarks[start])
    if not found or not fence(state, start, end, silent):
        return False
    if not silent:
        whole = state.tokens.pop()
        last = (whole.map or [start, end])[1]
        count = len([*option_lines(whole.content)])
        opening = Token("figure_open", "figure", 1, map=[start, last], level=state.level, block=True)
        opening.info, opening.content = found["path"].strip(), whole.content
        closing = Token("figure_close", "figure", -1, level=state.level, block=True, info=opening.info)
        push_contents(state, [opening], closing, start, start + 1 + count, last)
    return True


def option_lines(content: str) -> Sequence[str]:
    """Those at the head of a fence whose text is Markdown."""
    lines = content.split("\n")
    stop = next((at for at, line in enumerate(lines) if not _OPTION.match(line)), len(lines))
    return lines[:stop]


def _render_open(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    token, into = tokens[idx], collected(env)
    line = token.map[0] if token.map else 0
    span = into.span_of(token.info, line) if token.info else into.span_of("{figure}", line)
    options = o.read_options("\n".join(option_lines(token.content)), line + 1, into)
    values = o.checked(options, {"alt": o.text, "label": o.label}, "`{figure}`", into)
    if not token.info:
        into.error("SG111", "the directive `{figure}` needs an image, `{figure} plot.png`", span)
        return "<figure>\n<figcaption>\n"
    if "alt" not in values:
        warn_without_words(span, "add a line `:alt: …`", into)
    label = into.take_id(values["label"], options.span("label", span)) if "label" in values else ""
    anchor = f' id="{escape(label)}"' if label else ""
    shown = image(token.info, span, {"alt": values.get("alt", "")}, into)
    return f"<figure{anchor}>\n{shown}\n<figcaption>\n"


def _render_close(_tokens: Sequence[Token], _idx: int, _options: Any, _env: Any) -> str:
    return "</figcaption>\n</figure>\n"
