"""A block of a text that no other contains → its tokens at once.

It is a paragraph, a heading, a list of one line an item, or a table of words and code.

One character says of each line how it begins, so that one match says where a block ends that is what it seems to be.
Whatever may be anything else is left to the rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it.common.utils import mdTrim
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from sitegen.markup.fast.made import Made
from sitegen.markup.fast.tables import read_table

EMPTY = "\n"
"""How a line without words begins."""
_INDENTED = " \t"
_AHEAD = rf"(?={EMPTY}(?![:~{_INDENTED}])|\Z)"
"""An empty line ends a block, unless a definition may follow it."""
_HEADING = re.compile(rf"#{_AHEAD}")
_TITLE = re.compile(r"(#{1,6}) +([^\s#](?:[^\n#]*[^\s#])?) *(?:\n|\Z)")
_ITEMS = re.compile(rf"(?P<items>(?P<marker>[-*+])(?P=marker)*)(?:{EMPTY}+(?![-*+:~{_INDENTED}{EMPTY}])|\Z)")
"""A list and the empty lines behind it, which belong to its last item."""
_TABLE = re.compile(rf"\|\|+(?={EMPTY}|\Z)")


def firsts_of(lines: Sequence[str], shifts: Sequence[int]) -> str:
    """A character for each line: its first, or `EMPTY`.  `shifts` are the characters before the first word of each."""
    return "".join([line[0] if shift != len(line) else EMPTY for line, shift in zip(lines, shifts, strict=True)])


class AtTheMargin:
    """Reads simple blocks.

    `special` are the characters with which something else than a paragraph may begin, `marks` begin what is not words.
    """

    def __init__(self, special: str, marks: Sequence[str]) -> None:
        self._marks = marks
        known = re.escape("".join(sorted({*special, *_INDENTED, *"|:-=~"})))
        self._paragraph = re.compile(rf"[^{known}{EMPTY}]+{_AHEAD}")
        self._item = re.compile(rf"[-*+] [^{known}{EMPTY}]")

    def read(self, state: StateBlock, firsts: str, line: int) -> bool:
        """Whether the block that begins on `line` was read."""
        first = firsts[line]
        if first == "|":
            table = _TABLE.match(firsts, line)
            return table is not None and read_table(state, line, table.end(), self._marks)
        if first == "#":
            return _HEADING.match(firsts, line) is not None and _read_heading(state, line)
        if first in "-*+":
            items = _ITEMS.match(firsts, line)
            return items is not None and self._read_list(state, line, items)
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
    """The text of an item begins behind its mark, `level` characters from the margin."""
    source, lines = mdTrim(state.src[state.bMarks[line] + level : state.eMarks[end - 1]]), [line, end]
    state.tokens += (
        Made("paragraph_open", "p", 1, {}, lines, level, None, "", "", "", {}, True, hidden),
        Made("inline", "", 0, {}, [*lines], level + 1, [], source, "", "", {}, True),
        Made("paragraph_close", "p", -1, {}, None, level, None, "", "", "", {}, True, hidden),
    )


def _read_heading(state: StateBlock, line: int) -> bool:
    match = _TITLE.match(state.src, state.bMarks[line])
    if not match:
        return False
    marks, title = match.groups()
    tag, lines = f"h{len(marks)}", [line, line + 1]
    state.tokens += (
        _open("heading_open", tag, 0, lines, marks),
        Made("inline", "", 0, {}, [*lines], 1, [], title, "", "", {}, True),
        _close("heading_close", tag, 0, marks),
    )
    state.line = line + 1
    return True


def _open(kind: str, tag: str, level: int, lines: list[int], markup: str) -> Token:
    return Made(kind, tag, 1, {}, lines, level, None, "", markup, "", {}, True)


def _close(kind: str, tag: str, level: int, markup: str) -> Token:
    return Made(kind, tag, -1, {}, None, level, None, "", markup, "", {}, True)
