"""A block of a text that no other contains → its tokens at once: a paragraph, or a table of words and code.

One character says of each line how it begins, so that one match says where a block ends that is what it seems to be.
Whatever may be anything else is left to the rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it.common.utils import mdTrim
from markdown_it.rules_block import StateBlock

from sitegen.markup.fast.made import Made
from sitegen.markup.fast.tables import read_table

EMPTY = "\n"
"""How a line without words begins."""
_INDENTED = " \t"
_AHEAD = rf"(?={EMPTY}(?![:~{_INDENTED}])|\Z)"
"""An empty line ends a block, unless a definition may follow it."""
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

    def read(self, state: StateBlock, firsts: str, line: int) -> bool:
        """Whether the block that begins on `line` was read."""
        if firsts[line] == "|":
            found = _TABLE.match(firsts, line)
            return found is not None and read_table(state, line, found.end(), self._marks)
        if found := self._paragraph.match(firsts, line):
            _push_paragraph(state, line, found.end())
            return True
        return False


def _push_paragraph(state: StateBlock, line: int, end: int) -> None:
    source, lines = mdTrim(state.src[state.bMarks[line] : state.eMarks[end - 1]]), [line, end]
    state.tokens += (
        Made("paragraph_open", "p", 1, {}, lines, 0, None, "", "", "", {}, True),
        Made("inline", "", 0, {}, [*lines], 1, [], source, "", "", {}, True),
        Made("paragraph_close", "p", -1, {}, None, 0, None, "", "", "", {}, True),
    )
    state.line = end
