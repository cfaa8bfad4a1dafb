"""Turn fences into HTML.  A name in braces is a directive; a plain fence is only shown, never executed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from sitegen.markup.code import code_figure
from sitegen.markup.collected import Collected, RenderRule, collected
from sitegen.markup.directive import Directive, Fence, closes, opened_inside, report_swallowed, warn_unclosed
from sitegen.markup.listings import plain_fence

_UNOPENED = re.compile(r"(`{3,})(\{[^{}\s`]+\})(.*`.*)")
"""A line that would open a directive, if it had no backtick behind the name."""
_MATH = re.compile(
    r"\\.|(?P<ticks>`+).+?(?P=ticks)|\$\$.+?\$\$|\$(?!\s)(?:[^$\\]|\\.)+?(?<!\s)\$(?!\d)"
    r"|(?<![\w$])(?P<open>\$\$|\$(?!\d+[kKMBT]\b)(?=\\[A-Za-z]|\d*[A-Za-z](?![A-Za-z])))",
    re.DOTALL,
)
"""An escaped sign, code, a formula, or a `$` that opens a formula without an end; `$PATH` and `$5M` are none."""
_MOST_CHARACTERS = 100_000
"""The longest paragraph in which such signs are looked for."""
_INFO = re.compile(r"\{([^{}\s]*)\}\s*(.*)$")


def unopened_fences_plugin(md: MarkdownIt) -> None:
    """Report each line that would open a directive, if Markdown allowed backticks behind a fence of backticks."""
    md.core.ruler.before("inline", "unopened_fences", _report_unopened)


def _report_unopened(state: StateCore) -> None:
    into = collected(state.env)
    for token in state.tokens:
        if token.type == "inline" and token.map and "$" in token.content and len(token.content) < _MOST_CHARACTERS:
            _report_open_formulas(token.content, token.map[0], into)
        if token.type == "inline" and token.map and "```{" in token.content:
            for line, text in enumerate(token.content.split("\n"), start=token.map[0]):
                match = _UNOPENED.match(text)
                if match and match[1] not in match[3]:
                    _report(match[1], match[2], line, into)


def _report_open_formulas(text: str, line: int, into: Collected) -> None:
    """Warn about each `$` that opens a formula and has no end in its paragraph; prices and variables are none."""
    for match in _MATH.finditer(text):
        if opening := match["open"]:
            at = line + text.count("\n", 0, match.start())
            hint = f"write `{opening}` at its end, in the same paragraph, or `\\$` for a dollar sign"
            written = text[match.start() : match.start() + 20].partition("\n")[0]
            into.warning("SG138", "this formula is never closed", into.span_of(written, at), hint)


def _report(signs: str, name: str, line: int, into: Collected) -> None:
    message = f"the directive `{name}` is not read: a line that opens a fence of backticks can have no other backtick"
    hint = f"open and close the fence with colons: `{':' * len(signs)}{name}`"
    into.error("SG142", message, into.span_of(name, line), hint)


def fence_rule(directives: Mapping[str, Directive]) -> RenderRule:
    """Return the rule of markdown-it that writes fences of backticks, tildes and colons."""
    offered = [name for name, directive in directives.items() if directive.is_offered]

    def render_fence(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
        token, into = tokens[idx], collected(env)
        line, info = token.map[0] if token.map else 0, token.info.strip()
        if not info.startswith("{") and info != "mermaid":
            _warn_unclosed_listing(token, line, into)
            return plain_fence(info, token.content, line, token.meta.get("notes", {}), into)
        fence = _fence(info, token, line, into)
        last = token.map[1] - 1 if token.map else line
        if last == line or not closes(into.lines[last], into.lines[line]):
            warn_unclosed(fence.name, line, into)
        if inner := opened_inside(token.content, into.lines[line]):
            report_swallowed(fence.name, inner[1], line, into)
            return code_figure(token.content, "", spoken=into.spoken)
        directive: Directive | None = directives.get(fence.name) or into.added.directives.get(fence.name)
        if directive and directive.show:
            return directive.show(fence, into)
        into.unknown("SG101", "directive", fence.name, [*offered, *into.added.directives], fence.span)
        return code_figure(token.content, "", spoken=into.spoken)

    return render_fence


def _warn_unclosed_listing(token: Token, line: int, into: Collected) -> None:
    """Warn of a plain fence that no line closes, or whose end is that of another listing which opens in it."""
    last = token.map[1] - 1 if token.map else line
    signs = token.markup
    if not signs or signs.startswith(":"):
        return
    if any(one.code == "SG142" for one in into.diagnostics):
        return  # the end of a directive that does not open is the beginning of this listing
    is_closed = last > line and closes(into.lines[last], into.lines[line])
    inner = re.search(rf"(?m)^{re.escape(signs)}[A-Za-z{{].*$", token.content)
    if is_closed and not inner:
        return
    at = line + 1 + token.content.count("\n", 0, inner.start()) if inner else line
    below = f"the fence on line {into.span_of_line(at).line}" if inner else "everything below"
    hint = f"{below} is part of the listing: write a line with the same signs alone below the code"
    into.warning("SG138", "the fence of this listing is never closed", into.span_of(signs, line), hint)


def _fence(info: str, token: Token, line: int, into: Collected) -> Fence:
    match = _INFO.match(info)
    name, argument = (match[1], match[2].strip()) if match else (info.strip("{} "), "")
    span = into.span_of("{" + name + "}", line)
    argument_span = into.span_of(argument, line) if argument else span
    return Fence(name, argument, token.content, line, span, argument_span, token.meta.get("notes", {}))
