"""markdown-it's own loops → the same HTML, with fewer steps for what nearly every text consists of: words, lines that
go on, simple emphasis, and tags without attributes.  They are most of what a cold build does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, repeat
from operator import add, sub
from typing import Any

from markdown_it.common.utils import escapeHtml
from markdown_it.parser_block import ParserBlock
from markdown_it.parser_inline import ParserInline
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from sitegen.markup.at_the_margin import EMPTY, AtTheMargin, Made, firsts_of

_SIMPLE = re.compile(
    r"`(?P<code>[^`\s](?:[^`\n]*[^`\s])?)`(?!`)"
    r"|\*(?<![^\s(]\*)(?P<strong>\*?)(?P<stressed>[^\W_]+(?:[ ,.-]+[^\W_]+)*)\*(?P=strong)(?=[\s.,;:)]|\Z)"
)
"""Code, and words between marks of which the first can only open and the last only close."""
_LINK = re.compile(r"\[((?:[^\W_]|[ ,.;/+%()?'’–-])+)\]\(((?!//)[A-Za-z0-9_./#-]+)\)")
"""Words, and an address that needs no other spelling."""
_HARD_OR_TRIMMED = r"\n(?:(?<= \n)|(?=[ \t]))"
"""The ends of lines that say more than that the text goes on."""

Rule = Callable[[StateInline, bool], bool]


def where_rules_begin(characters: str, certain: Mapping[str, str]) -> re.Pattern[str]:
    """The places of a text at which a rule may begin; `certain` says more of a character than itself.

    Every branch begins with a character of its own: so `re` skips whatever is none of them three times as fast.
    """
    alone = [re.escape(each) for each in characters if each != "\n" and each not in certain]
    return re.compile("|".join([*alone, *certain.values(), _HARD_OR_TRIMMED]))


class Inline(ParserInline):
    """Goes from one place at which a rule may begin to the next.  A line that goes on is a part of its text: there is
    no `softbreak`, which would become the same line end.
    """

    def __init__(self, whole: ParserInline, places: re.Pattern[str], rules: Mapping[str, Sequence[Rule]]) -> None:
        self.__dict__.update(whole.__dict__)
        self.places, self.rules_of = places, rules

    def parse(self, src: str, md: Any, env: Any, tokens: list[Token]) -> list[Token]:
        state = StateInline(src, md, env, tokens)
        self.tokenize(state)
        if any(state.tokens_meta) or state.delimiters:
            for rule in self.ruler2.getRules(""):
                rule(state)
        return state.tokens

    def tokenize(self, state: StateInline) -> None:
        src, end, most = state.src, state.posMax, state.md.options["maxNesting"]
        while (at := state.pos) < end:
            found = self.places.search(src, at, end)
            state.pos = found.start() if found else end
            if state.pos > at:
                state.append_pending(src[at : state.pos])
            if found and not (state.level < most and self._read(state)):
                state.append_pending(src[state.pos])
                state.pos += 1
        if state.pending:
            state.pushPending()

    def _read(self, state: StateInline) -> bool:
        mark = state.src[state.pos]
        if (way := _WAYS.get(mark)) and way(state):
            return True
        for rule in self.rules_of[mark]:  # noqa: SIM110, a generator costs more than it spares
            if rule(state, False):
                return True
        return False


def _push(state: StateInline, end: int, *tokens: Token) -> bool:
    if state.pending:
        state.pushPending()
    state.tokens += tokens
    state.pendingLevel = state.level
    state.pos = end
    return True


def _simple(state: StateInline) -> bool:
    """Nothing else could this mark have opened, and no other mark have closed it."""
    found = _SIMPLE.match(state.src, state.pos)
    if not found or found.end() > state.posMax:
        return False
    level = state.level
    if found["code"]:
        return _push(state, found.end(), Made("code_inline", "code", 0, {}, None, level, None, found["code"], "`"))
    name, mark = ("strong", "**") if found["strong"] else ("em", "*")
    return _push(
        state,
        found.end(),
        Made(f"{name}_open", name, 1, {}, None, level, None, "", mark),
        Made("text", "", 0, {}, None, level + 1, None, found["stressed"]),
        Made(f"{name}_close", name, -1, {}, None, level, None, "", mark),
    )


def _link(state: StateInline) -> bool:
    found = _LINK.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    level, meta = state.level, {"offset": state.pos}
    return _push(
        state,
        found.end(),
        Made("link_open", "a", 1, {"href": found[2]}, None, level, None, "", "", "", meta),
        Made("text", "", 0, {}, None, level + 1, None, found[1]),
        Made("link_close", "a", -1, {}, None, level),
    )


_WAYS: Mapping[str, Callable[[StateInline], bool]] = {"*": _simple, "`": _simple, "[": _link}


class Block(ParserBlock):
    """Knows the beginning, the end and the indent of every line with less work, and reads at once what it can."""

    def __init__(self, whole: ParserBlock, at_the_margin: AtTheMargin) -> None:
        self.__dict__.update(whole.__dict__)
        self.at_the_margin = at_the_margin

    def parse(self, src: str, md: Any, env: Any, outTokens: list[Token]) -> list[Token] | None:
        if not src:
            return None
        state = _Lines(src, md, env, outTokens)
        read, firsts, line = self.at_the_margin.read, state.firsts, 0
        while line < state.lineMax:
            if firsts[line] == EMPTY:
                line += 1
                continue
            state.line = line
            if not read(state, firsts, line):
                self._by_rules(state, line)
            line = state.line
        return state.tokens

    def _by_rules(self, state: StateBlock, line: int) -> None:
        for rule in self.ruler.getRules(""):
            if rule(state, line, state.lineMax, False):
                return


class _Lines(StateBlock):
    """The last entry of each list is of no line: markdown-it looks one line ahead.

    There are hundreds of lines in a text: what is done for each is done without a loop of Python's own.
    """

    def __init__(self, src: str, md: Any, env: Any, tokens: list[Token]) -> None:
        super().__init__("", md, env, tokens)
        self.src = src
        lines = _lines_of(src)
        lengths = [*map(len, lines)]
        self.bMarks = [*accumulate(map((1).__add__, lengths), initial=0)]
        self.eMarks = [*map(add, self.bMarks, lengths)]
        self.bMarks[-1] = len(src)
        self.tShift = [*map(sub, lengths, map(len, map(str.lstrip, lines, repeat(" \t"))))]
        self.sCount = [*self.tShift]
        if "\t" in src:
            self.sCount = [len(line[:shift].expandtabs(4)) for line, shift in zip(lines, self.tShift, strict=True)]
        self.firsts = firsts_of(lines, self.tShift)
        for each, last in ((self.eMarks, len(src)), (self.tShift, 0), (self.sCount, 0)):
            each.append(last)
        self.bsCount = [0] * len(self.bMarks)
        self.lineMax = len(lines)


def _lines_of(src: str) -> list[str]:
    """Without a last one of nothing but spaces, of which markdown-it knows nothing."""
    lines = src.split("\n")
    if not lines[-1].strip(" \t"):
        del lines[-1]
    return lines


class Renderer(RendererHTML):
    """Words, paragraphs and tags without attributes, which are most tokens, are written without asking anybody."""

    def render(self, tokens: Sequence[Token], options: Any, env: Any) -> str:
        parts: list[str] = []
        rules = self.rules
        before: Token | None = None
        for at, token in enumerate(tokens):
            kind = token.type
            if kind == "inline":
                parts.append(self.renderInline(token.children or (), options, env))
            elif kind in rules:
                parts.append(rules[kind](tokens, at, options, env))
            elif kind == "paragraph_close" and not token.hidden:
                parts.append("</p>\n")
            elif kind == "paragraph_open" and not token.attrs and not token.hidden and not (before and before.hidden):
                parts.append("<p>")
            else:
                parts.append(self.renderToken(tokens, at, options, env))
            before = token
        return "".join(parts)

    def renderInline(self, tokens: Sequence[Token], options: Any, env: Any) -> str:
        parts: list[str] = []
        rules = self.rules
        for at, token in enumerate(tokens):
            kind = token.type
            if kind == "text":
                parts.append(escapeHtml(token.content))
            elif kind in rules:
                parts.append(rules[kind](tokens, at, options, env))
            elif token.nesting and not token.attrs and not token.block and not token.hidden:
                parts.append(f"<{token.tag}>" if token.nesting > 0 else f"</{token.tag}>")
            else:
                parts.append(self.renderToken(tokens, at, options, env))
        return "".join(parts)
