"""markdown-it's own loops → the same HTML, with fewer steps for what nearly every text consists of: words, lines that
go on, simple emphasis, and tags without attributes.  They are most of what a cold build does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from markdown_it.common.utils import escapeHtml
from markdown_it.parser_block import ParserBlock
from markdown_it.parser_inline import ParserInline
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_EMPHASIZED = re.compile(r"(?<![^\s(])(\*\*?)([^\W_]+(?:[ ,.-]+[^\W_]+)*)\1(?=[\s.,;:)]|\Z)")
"""Words between marks of which the first can only open and the last only close."""
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
        if state.src[state.pos] == "*" and (found := _EMPHASIZED.match(state.src, state.pos, state.posMax)):
            _push_emphasis(state, found)
            return True
        for rule in self.rules_of[state.src[state.pos]]:  # noqa: SIM110, a generator costs more than it spares
            if rule(state, False):
                return True
        return False


def _push_emphasis(state: StateInline, found: re.Match[str]) -> None:
    """Nothing else could this mark have opened, and no other mark have closed it."""
    if state.pending:
        state.pushPending()
    mark, level = found[1], state.level
    name = "strong" if len(mark) == 2 else "em"
    state.tokens += (
        Token(f"{name}_open", name, 1, level=level, markup=mark),
        Token("text", "", 0, content=found[2], level=level + 1),
        Token(f"{name}_close", name, -1, level=level, markup=mark),
    )
    state.pendingLevel = level
    state.pos = found.end()


class Block(ParserBlock):
    """Knows the beginning, the end and the indent of every line with less work."""

    def __init__(self, whole: ParserBlock) -> None:
        self.__dict__.update(whole.__dict__)

    def parse(self, src: str, md: Any, env: Any, outTokens: list[Token]) -> list[Token] | None:
        if not src:
            return None
        state = _Lines(src, md, env, outTokens)
        self.tokenize(state, state.line, state.lineMax)
        return state.tokens


class _Lines(StateBlock):
    """The last entry of each list is of no line: markdown-it looks one line ahead."""

    def __init__(self, src: str, md: Any, env: Any, tokens: list[Token]) -> None:
        super().__init__("", md, env, tokens)
        self.src = src
        lines = _lines_of(src)
        self.eMarks = [end - 1 for end in accumulate(len(line) + 1 for line in lines)]
        self.bMarks = [0, *(end + 1 for end in self.eMarks[:-1])] if lines else []
        self.tShift = [len(line) - len(line.lstrip(" \t")) for line in lines]
        self.sCount = [*self.tShift]
        if "\t" in src:
            self.sCount = [len(line[:shift].expandtabs(4)) for line, shift in zip(lines, self.tShift, strict=True)]
        for each, last in ((self.bMarks, len(src)), (self.eMarks, len(src)), (self.tShift, 0), (self.sCount, 0)):
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
    """Words and tags without attributes, which are most tokens, are written without asking anybody."""

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
