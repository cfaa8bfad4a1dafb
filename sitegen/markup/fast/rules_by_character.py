"""Try each rule of markdown-it only at the characters with which its construct can begin.

markdown-it tries all rules one after another at every place, and the rules that may end a paragraph twice on each of
its lines.  Nearly all rules refuse after a look at one character.

Gain: 9 % of a cold build of the corpus, from the rules for blocks.  The gain of the inline rules is part of `inline`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.ruler import Ruler
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline, text

from sitegen.markup.fast.block import QuickBlock
from sitegen.markup.fast.inline import QuickInline, links_of_words, where_rules_begin
from sitegen.markup.fast.simple_blocks import SimpleBlocks

BLOCK = {
    "attr": "{",
    "blockquote": ">",
    "colon_fence": ":",
    "container": "`~:",
    "fence": "`~",
    "footnote_def": "[",
    "heading": "#",
    "hr": "*-_",
    "html_block": "<",
    "list": "*+-0123456789",
    "math_block": "$",
    "math_labelled": "$",
    "reference": "[",
}
"""The characters with which the construct of a block rule may begin; `ANYWHERE` has the other block rules."""
INLINE = {
    "attr": "{",
    "autolink": "<",
    "backticks": "`",
    "citation": "@[",
    "emphasis": "*_",
    "entity": "&",
    "escape": "\\",
    "footnote_missing": "[",
    "footnote_ref": "[",
    "html_inline": "<",
    "image": "!",
    "link": "[",
    "linkify": ":",
    "math_inline": "$",
    "newline": "\n",
    "role": "{",
    "strikethrough": "~",
}
"""The characters with which the construct of an inline rule may begin; `text` reads all characters between."""
ANYWHERE = frozenset({"code", "deflist", "lheading", "paragraph", "table"})
"""The block rules whose constructs may begin with any character; `BLOCK` names every other rule."""

_UNDERLINES = "-="
_BELOW_A_HEAD = ("|", "-", ":")
"""The characters with which the second line of a table begins."""
_LOOKED_AHEAD = 40
"""Lines in which an underline is looked for before the rule itself is asked.  The rule stops at the next item of a list
and this look does not, so that it would take time by the square of the list's length."""
_DEFINES = (":", "~")
_CHAINS = ("", "paragraph", "reference", "blockquote", "list", "table", "footnote_def")
"""The chains of rules that markdown-it and its plugins ask for: all rules, and those that may end a certain block."""
_WITH_THE_NEXT = {"!": r"!(?=\[)", ":": ":(?=//)", "_": r"_(?:(?<![^\W_]_)|(?![^\W_]))"}
"""The stricter beginnings of constructs whose first character is common in prose; a `_` within a word begins none."""
_CHARACTERS = "".join(sorted(set("".join(INLINE.values()))))
_PLACES = where_rules_begin(_CHARACTERS, _WITH_THE_NEXT)
_LINKS = links_of_words(_CHARACTERS, _WITH_THE_NEXT)
_MARKS = (*sorted({*"".join(INLINE.values())} - {"!", ":", "\n", "`"}), "![", "//", " \n", "\n ", "\n\t")
"""The beginnings of all constructs but code, also of an address, which a rule for whole texts reads."""

ParserRule = Callable[..., bool]


def rules_by_first_character(md: MarkdownIt) -> None:
    """Replace the rules of a parser that has all of them; a later change of its rules undoes the replacement."""
    inline, inline_rest = _by_character(md.inline.ruler, INLINE)
    chains = [(md.block.ruler.getRules(chain), *_by_character(md.block.ruler, BLOCK, chain)) for chain in _CHAINS]

    def at_character(state: StateInline, silent: bool) -> bool:
        for rule in inline.get(state.src[state.pos], inline_rest):  # noqa: SIM110, a generator would be slower
            if rule(state, silent):
                return True
        return False

    md.inline.ruler.getRules("")[:] = [at_character]
    md.inline = QuickInline(
        md.inline, _PLACES, _LINKS, {mark: [r for r in rules if r is not text] for mark, rules in inline.items()}
    )
    md.block = QuickBlock(md.block, SimpleBlocks("".join(BLOCK.values()), _MARKS))
    for chain, known, anywhere in chains:
        chain[:] = [_at_line(known, anywhere)] if chain else []


def _at_line(known: Mapping[str, Sequence[ParserRule]], anywhere: Sequence[ParserRule]) -> ParserRule:
    def at_line(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        for rule in known.get(_first(state, start), anywhere):  # noqa: SIM110, a generator would be slower
            if rule(state, start, end, silent):
                return True
        return False

    return at_line


def _first(state: StateBlock, line: int) -> str:
    at = state.bMarks[line] + state.tShift[line]
    return state.src[at] if at < state.eMarks[line] else ""


def _table(rule: ParserRule) -> ParserRule:
    """Return the rule for tables, tried only if the second line begins as that of a table does."""

    def table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        return start + 1 < end and _first(state, start + 1) in _BELOW_A_HEAD and rule(state, start, end, silent)

    return table


def _underlined(rule: ParserRule) -> ParserRule:
    """Return the rule for underlined headings, tried only if a line of the paragraph could be the underline."""

    def lheading(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        for line in range(start + 1, min(end, start + 1 + _LOOKED_AHEAD)):
            first = _first(state, line)
            if not first:
                return False
            if first in _UNDERLINES:
                return rule(state, start, end, silent)
        return start + 1 + _LOOKED_AHEAD < end and rule(state, start, end, silent)

    return lheading


def _defined(rule: ParserRule) -> ParserRule:
    """Return the rule for definitions, tried only if one may stand below, right there or after a blank line."""

    def deflist(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        if silent:  # asks for the next definition of the list that we are in
            return state.ddIndent >= 0 and rule(state, start, end, silent)
        below = start + 1 if start + 1 < end and _first(state, start + 1) else start + 2
        return below < end and _first(state, below) in _DEFINES and rule(state, start, end, silent)

    return deflist


_CHECKED: Mapping[str, Callable[[ParserRule], ParserRule]] = {
    "deflist": _defined,
    "lheading": _underlined,
    "table": _table,
}
"""Wrappers of rules that may begin anywhere, each with a cheap look at the lines below."""


def _by_character(
    ruler: Ruler[Any], starts: Mapping[str, str], chain: str = ""
) -> tuple[dict[str, list[ParserRule]], list[ParserRule]]:
    """Return the rules for each first character, in their order, and the rules for every other character."""
    enabled = [rule for rule in ruler.__rules__ if rule.enabled and (not chain or chain in rule.alt)]
    rules = [(rule.name, _CHECKED.get(rule.name, _unchanged)(rule.fn)) for rule in enabled]
    anywhere = [rule for name, rule in rules if name not in starts]
    characters = sorted(set("".join(starts.values())))
    known = {each: [rule for name, rule in rules if each in starts.get(name, each)] for each in characters}
    return known, anywhere


def _unchanged(rule: ParserRule) -> ParserRule:
    return rule
