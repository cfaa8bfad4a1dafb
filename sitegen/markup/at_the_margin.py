"""Blocks of a text that no other contains → their tokens at once: paragraphs, headings, fences, lists of one line
an item, and tables of nothing but words and code, which are one token.

One character says of each line how it begins: so one match says where a block ends that is what it seems to be.  What
may be anything else is left to the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from markdown_it.common.utils import mdTrim
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from sitegen.markup.plain import are_plain

EMPTY = "\n"
"""How a line without words begins."""
_INDENTED = " \t"
_AHEAD = rf"(?={EMPTY}(?![:~{_INDENTED}])|\Z)"
"""An empty line ends a block, unless a definition may follow it."""
_FENCED = re.compile(
    r"(?P<marks>(?P<mark>[`~])(?P=mark){2,}+)(?P<info>[^`\n]*)\n(?P<code>(?:.*\n)*?) {0,3}(?P=marks)(?P=mark)*[ \t]*$",
    re.MULTILINE,
)
_HEADING = re.compile(rf"#{_AHEAD}")
_TITLE = re.compile(r"(#{1,6}) +([^\s#](?:[^\n#]*[^\s#])?) *(?:\n|\Z)")
_TABLE = re.compile(rf"\|\|+(?={EMPTY}|\Z)")
_RULES = re.compile(r"[-:| \t]+")
_RULE = re.compile(r"(:?)-+(:?)")
_ALIGNED = {("", ""): "", (":", ""): "left", ("", ":"): "right", (":", ":"): "center"}
_ITEMS = re.compile(rf"(?P<items>(?P<marker>[-*+])(?P=marker)*)(?:{EMPTY}+(?![-*+:~{_INDENTED}{EMPTY}])|\Z)")
"""With the empty lines behind it, which belong to the last item."""


class Made(Token):
    """A token whose attributes are a dictionary: nothing about them must be asked."""

    __slots__ = ()

    def __post_init__(self) -> None:
        pass


def firsts_of(lines: Sequence[str], shifts: Sequence[int]) -> str:
    """A character for each line: its first, or `EMPTY`.  `shifts` are the characters before the first word of each."""
    return "".join([line[0] if shift != len(line) else EMPTY for line, shift in zip(lines, shifts, strict=True)])


class AtTheMargin:
    """What is read at once.

    `special` are the characters with which something else than a paragraph may begin, `marks` begin what is not words.
    """

    def __init__(self, special: str, marks: Sequence[str]) -> None:
        self._marks = marks
        known = re.escape("".join(sorted({*special, *_INDENTED, *"|:-=~"})))
        self._paragraph = re.compile(rf"[^{known}{EMPTY}]+{_AHEAD}")
        self._item = re.compile(rf"[-*+] [^{known}{EMPTY}]")
        self._ways: dict[str, Callable[[StateBlock, str, int], bool]] = {
            "#": _read_heading,
            "|": self._table,
            **dict.fromkeys("-*+", self._list),
        }

    def read(self, state: StateBlock, firsts: str, line: int) -> bool:
        """Whether the block that begins on `line` was read."""
        way = self._ways.get(firsts[line])
        if way is not None:
            return way(state, firsts, line)
        if found := self._paragraph.match(firsts, line):
            self._push_paragraph(state, line, found.end(), 0)
            state.line = found.end()
            return True
        return False

    def _list(self, state: StateBlock, firsts: str, line: int) -> bool:
        found = _ITEMS.match(firsts, line)
        if not found or not all(self._item.match(state.src, at) for at in state.bMarks[line : found.end("items")]):
            return False
        marker, last = found["marker"], found.end("items") - 1
        state.tokens.append(_open("bullet_list_open", "ul", 0, [line, found.end()], marker))
        for at in range(line, last + 1):
            state.tokens.append(_open("list_item_open", "li", 1, [at, found.end() if at == last else at + 1], marker))
            self._push_paragraph(state, at, at + 1, 2, hidden=True)
            state.tokens.append(_close("list_item_close", "li", 1, marker))
        state.tokens.append(_close("bullet_list_close", "ul", 0, marker))
        state.line = found.end()
        return True

    def _push_paragraph(self, state: StateBlock, line: int, end: int, level: int, hidden: bool = False) -> None:
        """The lines before `end`; those of an item begin behind its mark."""
        source = mdTrim(state.src[state.bMarks[line] + level : state.eMarks[end - 1]])
        lines = [line, end]
        if are_plain(source, self._marks):
            state.tokens.append(Made("words", "p", 0, {}, lines, level, None, source, "", "", {}, True, hidden))
            return
        state.tokens += (
            Made("paragraph_open", "p", 1, {}, lines, level, None, "", "", "", {}, True, hidden),
            Made("inline", "", 0, {}, [*lines], level + 1, [], source, "", "", {}, True),
            Made("paragraph_close", "p", -1, {}, None, level, None, "", "", "", {}, True, hidden),
        )

    def _table(self, state: StateBlock, firsts: str, line: int) -> bool:
        """One of words and code, of which each row begins with its bar and has as many cells as the first."""
        found = _TABLE.match(firsts, line)
        text = state.src[state.bMarks[line] : state.eMarks[found.end() - 1]] if found else "\\"
        if not found or "\\" in text:
            return False
        rules, rows = _rules_and_rows(text)
        if not rules or not all(rules) or any(len(row) != len(rules) for row in rows):
            return False
        if not self._is_plain(text, rows):
            return False
        styles = [f"text-align:{side}" if rule and (side := _ALIGNED[rule[1], rule[2]]) else "" for rule in rules]
        state.tokens.append(_open("table_open", "table", 0, [line, found.end()]))
        _push_rows(state.tokens, rows, styles, line)
        state.tokens.append(_close("table_close", "table", 0))
        state.line = found.end()
        return True

    def _is_plain(self, text: str, rows: Sequence[Sequence[str]]) -> bool:
        """Whether each cell is words and code: no code goes from one to the next."""
        if not are_plain("-".join(text.split("`")[::2]), self._marks):
            return False
        return all(are_plain(cell, ()) for row in rows for cell in row if "`" in cell)


def _read_heading(state: StateBlock, firsts: str, line: int) -> bool:
    found = _HEADING.match(firsts, line) and _TITLE.match(state.src, state.bMarks[line])
    if not found:
        return False
    marks, title = found.groups()
    tag, lines = f"h{len(marks)}", [line, line + 1]
    state.tokens += (
        Made("heading_open", tag, 1, {}, lines, 0, None, "", marks, "", {}, True),
        Made("inline", "", 0, {}, [*lines], 1, [], title, "", "", {}, True),
        Made("heading_close", tag, -1, {}, None, 0, None, "", marks, "", {}, True),
    )
    state.line = line + 1
    return True


def _open(kind: str, tag: str, level: int, lines: list[int], markup: str = "", style: str = "") -> Token:
    return Made(kind, tag, 1, {"style": style} if style else {}, lines, level, None, "", markup, "", {}, True)


def _close(kind: str, tag: str, level: int, markup: str = "") -> Token:
    return Made(kind, tag, -1, {}, None, level, None, "", markup, "", {}, True)


def read_fence(state: StateBlock, start: int, end: int) -> bool:
    """Whether the fence of backticks or tildes that opens on line `start`, at the margin, was read."""
    if state.level or state.sCount[start] or state.tShift[start]:
        return False
    found = _FENCED.match(state.src, state.bMarks[start], state.eMarks[end - 1])
    if not found:
        return False
    state.line = start + found["code"].count("\n") + 2
    lines, (code, marks, info) = [start, state.line], found.group("code", "marks", "info")
    state.tokens.append(Made("fence", "code", 0, {}, lines, 0, None, code, marks, info, {}, True))
    return True


def _rules_and_rows(text: str) -> tuple[list[re.Match[str] | None], list[list[str]]]:
    """The rules below the header, none where that line has something else, and the cells of all other lines."""
    lines = text.split("\n")
    rules = lines.pop(1)
    found = [_RULE.fullmatch(cell) for cell in _cells(rules)] if _RULES.fullmatch(rules) else []
    return found, [_cells(row) for row in lines]


def _cells(row: str) -> list[str]:
    """What stands between bars; nothing after the last is no cell."""
    cells = mdTrim(row).split("|")
    return [mdTrim(cell) for cell in cells[1 : None if cells[-1] else -1]]


def _push_rows(tokens: list[Token], rows: Sequence[Sequence[str]], styles: Sequence[str], line: int) -> None:
    words, meta = " ".join([cell for row in rows for cell in row]), {"rows": rows, "styles": styles}
    tokens.append(Made("table_rows", "", 0, {}, [line, line + len(rows) + 1], 1, None, words, "", "", meta, True))
