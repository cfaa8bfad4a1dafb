"""Turn a simple block that no other block contains into tokens at once.

Simple blocks are paragraphs, headings, plain fences, lists with one line an item, definitions of links, and tables of
words and code.

The lines of a text become a text of their first characters, in which one regex recognises a simple block and its end.
Every block that may be something else is left to the rules of markdown-it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it.common.utils import mdTrim
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from sitegen.markup.fast.definitions import read_definitions
from sitegen.markup.fast.quick_token import QuickToken
from sitegen.markup.fast.tables import read_table

EMPTY = "\n"
"""The character of a blank line, in place of its first character."""
_INDENTED = " \t"
_AHEAD = rf"(?={EMPTY}(?![:~{_INDENTED}])|\Z)"
"""An empty line ends a block, unless a definition may follow it."""
_FENCE = re.compile(
    r"(?P<marks>(?P<mark>[`~])(?P=mark){2,}+)(?P<info>[ \t]*+(?!\{)[^`\n]*)\n"
    r"(?P<code>(?:.*\n)*?) {0,3}(?P=marks)(?P=mark)*[ \t]*$",
    re.MULTILINE,
)
"""A plain fence at the margin, up to the line that closes it.  A fence with braces may be a directive's."""
_HEADING = re.compile(rf"#{_AHEAD}")
_TITLE = re.compile(r"(#{1,6}) +([^\s#](?:[^\n#]*[^\s#])?) *(?:\n|\Z)")
_ITEMS = re.compile(rf"(?P<items>(?P<marker>[-*+])(?P=marker)*)(?:{EMPTY}+(?![-*+:~{_INDENTED}{EMPTY}])|\Z)")
"""A list and the empty lines behind it, which belong to its last item."""
_TABLE = re.compile(rf"\|\|+(?={EMPTY}|\Z)")


def firsts_of(lines: Sequence[str], shifts: Sequence[int]) -> str:
    """Return the first character of each line, or `EMPTY`; `shifts` are the numbers of blanks that lines begin with."""
    return "".join([line[0] if shift != len(line) else EMPTY for line, shift in zip(lines, shifts, strict=True)])


class SimpleBlocks:
    """A reader of simple blocks.

    `special` are the characters with which a block may begin that is no paragraph.  `marks` are the beginnings of all
    constructs within a line that are neither words nor code.
    """

    def __init__(self, special: str, marks: Sequence[str]) -> None:
        self._marks = marks
        known = re.escape("".join(sorted({*special, *_INDENTED, *"|:-=~"})))
        self._paragraph = re.compile(rf"[^{known}{EMPTY}]+{_AHEAD}")
        self._item = re.compile(rf"[-*+] [^{known}{EMPTY}]")

    def read(self, state: StateBlock, firsts: str, line: int) -> bool:
        """Read the block that begins on `line`, if it is simple, and return whether it was."""
        first = firsts[line]
        if first == "|":
            table = _TABLE.match(firsts, line)
            return table is not None and read_table(state, line, table.end(), self._marks)
        if first == "#":
            return _HEADING.match(firsts, line) is not None and _read_heading(state, line)
        if first in "-*+":
            items = _ITEMS.match(firsts, line)
            return items is not None and self._read_list(state, line, items)
        if first in "`~":
            return _read_fence(state, line)
        if first == "[":
            return read_definitions(state, firsts, line)
        if paragraph := self._paragraph.match(firsts, line):
            _push_paragraph(state, line, paragraph.end())
            state.line = paragraph.end()
            return True
        return False

    def _read_list(self, state: StateBlock, line: int, items: re.Match[str]) -> bool:
        end, marker = items.end("items"), items["marker"]
        if not all(self._item.match(state.src, begin) for begin in state.bMarks[line:end]):
            return False
        state.line = items.end()
        state.tokens.append(_open("bullet_list_open", "ul", 0, [line, state.line], marker))
        for at in range(line, end):
            lines = [at, state.line if at == end - 1 else at + 1]
            state.tokens.append(_open("list_item_open", "li", 1, lines, marker))
            _push_paragraph(state, at, at + 1, level=2, hidden=True)
            state.tokens.append(_close("list_item_close", "li", 1, marker))
        state.tokens.append(_close("bullet_list_close", "ul", 0, marker))
        return True


def _push_paragraph(state: StateBlock, line: int, end: int, level: int = 0, hidden: bool = False) -> None:
    """Write a paragraph whose text begins `level` characters from the margin, as behind the mark of a list's item."""
    source, lines = mdTrim(state.src[state.bMarks[line] + level : state.eMarks[end - 1]]), [line, end]
    state.tokens += (
        QuickToken("paragraph_open", "p", 1, level, "", "", lines, block=True, hidden=hidden),
        QuickToken("inline", "", 0, level + 1, source, "", [*lines], children=[], block=True),
        QuickToken("paragraph_close", "p", -1, level, block=True, hidden=hidden),
    )


def _read_heading(state: StateBlock, line: int) -> bool:
    match = _TITLE.match(state.src, state.bMarks[line])
    if not match:
        return False
    marks, title = match.groups()
    tag, lines = f"h{len(marks)}", [line, line + 1]
    state.tokens += (
        _open("heading_open", tag, 0, lines, marks),
        QuickToken("inline", "", 0, 1, title, "", [*lines], children=[], block=True),
        _close("heading_close", tag, 0, marks),
    )
    state.line = line + 1
    return True


def _read_fence(state: StateBlock, line: int) -> bool:
    match = _FENCE.match(state.src, state.bMarks[line], state.eMarks[state.lineMax - 1])
    if not match:
        return False
    marks, info, code = match.group("marks", "info", "code")
    state.line = line + code.count("\n") + 2
    state.tokens.append(QuickToken("fence", "code", 0, 0, code, marks, [line, state.line], info=info, block=True))
    return True


def _open(kind: str, tag: str, level: int, lines: list[int], markup: str) -> Token:
    return QuickToken(kind, tag, 1, level, "", markup, lines, block=True)


def _close(kind: str, tag: str, level: int, markup: str) -> Token:
    return QuickToken(kind, tag, -1, level, "", markup, block=True)
