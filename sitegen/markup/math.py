"""Turn TeX into MathML at build time, by Temml inside QuickJS; both are loaded for the first formula.

Temml writes `style` attributes, which the site's Content-Security-Policy forbids.  They become MathML's own attributes
or one of the classes in `STYLE_CLASSES`; all others are dropped.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from sitegen.diagnostics import Span, did_you_mean
from sitegen.markup.collected import Collected, collected
from sitegen.markup.labels import numbered

STYLE_CLASSES = {
    "border-bottom:0.06em solid": "tml-bb",
    "border-left:0.06em solid": "tml-bl",
    "border-right:0.06em solid": "tml-br",
    "border-top:0.06em solid": "tml-bt",
    "border:1px solid": "tml-box",
    "padding-left:0em": "tml-pl0",
    "padding-left:0pt": "tml-pl0",
    "padding-left:1em": "tml-pl1",
    "padding-right:0em": "tml-pr0",
    "padding-right:0pt": "tml-pr0",
}
"""The class of the theme for each style rule; other paddings are left to MathML, whose own are near enough."""
_ATTRIBUTES = {"color": "mathcolor", "background-color": "mathbackground"}
_NEEDLESS = frozenset({"tml-display"})
_PUNCTUATED = re.compile("(<math[ >](?:(?!</math>).)*</math>[,.;:!?)\\]\u2019\u201d])", re.DOTALL)
_TAG = re.compile(r"<([a-zA-Z]+)((?:\s+[\w:-]+=(?:\"[^\"]*\"|'[^']*'))*)\s*(/?)>")
_ATTRIBUTE = re.compile(r"([\w:-]+)=(?:\"([^\"]*)\"|'([^']*)')")
_LABELLED = re.compile(r"\$\$(?:(?!\$\$|\n[ \t]*\n).)+\$\$[ \t]*\{#([\w.-]+)\}[ \t]*(?=\n|$)", re.DOTALL)
_UNKNOWN = re.compile(r"(?:Unsupported function name|Undefined control sequence|Unknown)\S*\s*(\\[A-Za-z]+)")
_POSITION = re.compile(r"\s*at (?:position (\d+)|end of input)\b.*", re.DOTALL)
_JOIN = "(s, d) => JSON.stringify(temml.renderToString(s, {displayMode: d, throwOnError: true, maxExpand: 1000}))"
"""The function in JavaScript.  It returns JSON, because the binding does not know the ropes that joined strings are."""
_engines = threading.local()
"""The QuickJS context of each thread: a context belongs to the thread that made it."""


class MathError(ValueError):
    """A mistake in a formula; `offset` counts the formula's characters from 0."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@lru_cache(maxsize=4096)
def mathml(source: str, display: bool) -> str:
    """Return the `<math>` element of a formula.  Raises MathError."""
    from quickjs import JSException

    try:
        shown: str = json.loads(_engine()(source.strip(), display))
    except JSException as mistake:
        raise _math_error(str(mistake), source) from None
    if "tml-ref" in shown or "tml-label" in shown:
        raise MathError("`\\label` and `\\ref` are not known here; label the formula: `$$ … $$ (name)`", 0)
    return _TAG.sub(_without_style, shown)


def block_math(source: str, line: int, text_line: int, label: str, into: Collected) -> str:
    """Return a displayed formula in its scroller, with a number if it has a label; the TeX begins on `text_line`."""
    shown = _shown(source, True, text_line, into)
    if not label:
        name = escape(into.spoken.say("Formula"))
        return f'<div class="eq" tabindex="0" role="group" aria-label="{name}">{shown}</div>\n'
    span = into.span_of(label, line, text_line + source.count("\n") + 2)
    name, id = numbered("eq", into, label, span)
    number = f'<span class="no">({into.numbers["eq"]})</span>'
    opening = f'<div class="eq" tabindex="0" role="group" aria-label="{escape(name)}" id="{escape(id)}">'
    return f"{opening}{shown}{number}</div>\n"


def inline_math(source: str, line: int, into: Collected) -> str:
    return _shown(source, False, line, into)


def labelled_math_plugin(md: MarkdownIt) -> None:
    """Add the form `$$ … $$ {#eq-name}` to `$$ … $$ (eq-name)`, which the library's plugin reads."""
    md.block.ruler.before("math_block", "math_labelled", _labelled)


def _labelled(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    begin = state.bMarks[start] + state.tShift[start]
    match = _LABELLED.match(state.src, begin, state.eMarks[end - 1])
    if not match:
        return False
    if not silent:
        stop = start + match[0].count("\n") + 1
        written = state.getLines(start, stop, state.blkIndent, False).strip()
        token = state.push("math_block_label", "math", 0)
        token.content, token.info = written[2 : written.rindex("$$")], match[1]
        token.map, token.block = [start, stop], True
        state.line = stop
    return True


def render_math_block(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    token = tokens[idx]
    line = token.map[0] if token.map else 0
    return block_math(token.content.strip("\n"), line, line, token.info, collected(env))


def render_math_inline(tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
    return inline_math(tokens[idx].content, tokens[idx].meta.get("line", 0), collected(env))


def keep_punctuation(html: str) -> str:
    """Return HTML in which no line begins with the punctuation behind a formula; browsers break lines there."""
    return _PUNCTUATED.sub(r'<span class="nw">\1</span>', html)


def _shown(source: str, display: bool, line: int, into: Collected) -> str:
    into.has_math = True
    return into.remembered(lambda: _checked(source, display, line, into), "formula", source, display)


def _checked(source: str, display: bool, line: int, into: Collected) -> str:
    try:
        return mathml(source, display)
    except MathError as mistake:
        span = _place(source, mistake.offset, line, into)
        into.error("SG115", f"this formula is not TeX: {mistake}", span, _what_to_do(str(mistake)))
        return f"<code>{escape(source, quote=False)}</code>"


def _what_to_do(message: str) -> str:
    if unknown := _UNKNOWN.search(message):
        near = did_you_mean(unknown[1], _commands())
        return f"{near} Commands that are known: temml.org/docs/en/supported".lstrip()
    return "a `{` and its `}` do not pair" if "'}'" in message else "correct the formula here"


@cache
def _commands() -> frozenset[str]:
    """Return the commands that Temml knows."""
    return frozenset("\\" + name for name in re.findall(r"\\\\([A-Za-z]+)", _temml()))


def _place(source: str, offset: int, line: int, into: Collected) -> Span:
    """Return the place of the mistake, or of the formula's first line when Temml does not say where."""
    lines = source.split("\n")
    first = next((n for n, text in enumerate(lines) if text.strip()), 0)
    start = into.span_of(lines[first].strip(), line + first, line + first + 2)
    if not offset:
        return start
    row = source.count("\n", 0, offset)
    at = start.line - into.first_line + row - first
    whole = into.span_of(lines[row].strip(), at)
    col = whole.col - 1 + offset - source.rfind("\n", 0, offset) - 1 - (len(lines[row]) - len(lines[row].lstrip()))
    word = re.match(r"\\?[A-Za-z]+|\\?.", source[offset:])
    return into.span(at, max(col, 0), len(word[0]) if word else 1)


def _engine() -> Callable[[str, bool], str]:
    if not hasattr(_engines, "convert"):
        from quickjs import Context

        context = Context()
        context.eval(_temml())
        context.set_memory_limit(256 * 2**20)
        context.eval(f"globalThis.convert = {_JOIN}")
        _engines.context, _engines.convert = context, context.get("convert")
    convert: Callable[[str, bool], str] = _engines.convert
    return convert


def _temml() -> str:
    from importlib import resources

    return (resources.files("sitegen.markup") / "vendor" / "temml" / "temml.min.js").read_text(encoding="utf-8")


def _math_error(text: str, source: str) -> MathError:
    message = re.sub(r"^\w*Error:\s*", "", text).split("\n", 1)[0].strip()
    match = _POSITION.search(text)
    lead = len(source) - len(source.lstrip())
    offset = lead + int(match[1]) - 1 if match and match[1] else 0
    return MathError(_POSITION.sub("", message).strip(" :") or "it cannot be read", offset)


def _without_style(tag: re.Match[str]) -> str:
    attributes = {name: double or single for name, double, single in _ATTRIBUTE.findall(tag[2])}
    classes = [word for word in attributes.pop("class", "").split() if word not in _NEEDLESS]
    for rule in attributes.pop("style", "").split(";"):
        name, _, value = rule.partition(":")
        if name.strip() in _ATTRIBUTES:
            attributes[_ATTRIBUTES[name.strip()]] = value.strip()
        elif (known := STYLE_CLASSES.get(rule.strip())) and known not in classes:
            classes.append(known)
    if classes:
        attributes["class"] = " ".join(classes)
    written = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<{tag[1]}{written}{tag[3]}>"
