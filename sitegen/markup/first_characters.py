"""Rules of markdown-it → the same rules, each tried only at the characters with which what it reads can begin.

markdown-it tries all of them one after another at every place; nearly all say no after a look at one character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.ruler import Ruler
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_BLOCK = {
    "attr": "{",
    "blockquote": ">",
    "callout": "`~:",
    "colon_fence": ":",
    "fence": "`~",
    "figure": "`~:",
    "footnote_def": "[",
    "heading": "#",
    "hr": "*-_",
    "html_block": "<",
    "list": "*+-0123456789",
    "math_block": "$",
    "math_labelled": "$",
    "reference": "[",
    "tabs": "`~:",
}
_INLINE = {
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
"""A rule that is not named may begin anywhere."""

_ANY_MARK = re.compile(f"[{re.escape(''.join(_INLINE.values()))}]")

Rule = Callable[..., bool]


def rules_by_first_character(md: MarkdownIt) -> None:
    """To be called when `md` has all its rules: a change to them afterwards takes this back."""
    inline, inline_rest = _by_character(md.inline.ruler, _INLINE)
    block, block_rest = _by_character(md.block.ruler, _BLOCK)

    def at_character(state: StateInline, silent: bool) -> bool:
        for rule in inline.get(state.src[state.pos], inline_rest):  # noqa: SIM110, a generator costs more than it spares
            if rule(state, silent):
                return True
        return False

    def at_line(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        first = state.src[state.bMarks[start] + state.tShift[start]]
        for rule in block.get(first, block_rest):  # noqa: SIM110, see above
            if rule(state, start, end, silent):
                return True
        return False

    _put_in_place_of_all(md.inline.ruler, at_character)
    _put_in_place_of_all(md.block.ruler, at_line)
    md.core.ruler.at("inline", _inline)


def _by_character(ruler: Ruler[Any], starts: Mapping[str, str]) -> tuple[dict[str, list[Rule]], list[Rule]]:
    """The rules that may begin with each character, in their order, and those that may begin with any other."""
    rules = [(rule.name, rule.fn) for rule in ruler.__rules__ if rule.enabled]
    anywhere = [rule for name, rule in rules if name not in starts]
    characters = sorted(set("".join(starts.values())))
    known = {each: [rule for name, rule in rules if each in starts.get(name, each)] for each in characters}
    return known, anywhere


def _put_in_place_of_all(ruler: Ruler[Any], rule: Rule) -> None:
    """In the chain with which a text is read; those that ask what ends a paragraph stay as they are."""
    ruler.getRules("")[:] = [rule]


def _inline(state: StateCore) -> None:
    """The rule of this name, which is spared texts without any mark, as most cells of tables are."""
    for token in state.tokens:
        if token.type == "inline":
            token.children = token.children or []
            if token.content and not _ANY_MARK.search(token.content):
                token.children.append(Token("text", "", 0, content=token.content))
            else:
                state.md.inline.parse(token.content, state.md, state.env, token.children)
