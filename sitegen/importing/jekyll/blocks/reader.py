"""Turn the lines of a kramdown text and the readers of its blocks into lines of MyST."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from sitegen.importing.jekyll.blocks.patterns import ATTRIBUTES
from sitegen.importing.jekyll.conversion import Conversion
from sitegen.importing.jekyll.headings import Headings
from sitegen.importing.jekyll.inline import convert_paragraph

DEEPEST = 50
"""Most quotes and elements around a block."""


@dataclass(slots=True)
class BlockReader:
    """The state of the conversion of one text: its lines, the current one, and the lines that were written."""

    lines: Sequence[str]
    numbers: Sequence[int]
    """The line in the file that each of `lines` came from."""
    conversion: Conversion
    notes: frozenset[str]
    """The labels of the footnotes that the text defines."""
    headings: Headings
    readers: Sequence[Callable[[BlockReader], bool]]
    """The readers of blocks, in the order in which they are tried."""
    out: list[str] = field(default_factory=list)
    at: int = 0
    """The index of the current line."""
    start: int = 0
    """The index in `out` at which the last block begins."""
    kind: str = ""
    """The kind of the last block, to which an attribute list on the current line belongs; empty below a blank line."""
    column: int | None = None
    """The column at which the text of the last list item begins; None outside of a list."""
    text: str = field(init=False)
    """The lines as one text."""
    offsets: Sequence[int] = field(init=False)
    """The index in `text` at which each of `lines` begins."""
    depth: int = 1
    """The number of texts, such as quotes, that this one stands in, and one."""
    closings: dict[str, int] = field(default_factory=dict)
    """The index of the line that was found last for each pattern of `closing_line`."""

    def __post_init__(self) -> None:
        self.text = "\n".join(self.lines)
        self.offsets = [0, *accumulate(len(line) + 1 for line in self.lines)]

    def run(self) -> list[str]:
        """Read every block, and return the lines that were written."""
        while self.at < len(self.lines):
            begin = self.at
            next(read for read in self.readers if read(self))
            assert self.at > begin
        return self.out

    def nested(self, lines: Sequence[str], numbers: Sequence[int]) -> list[str]:
        """Return the MyST of lines within a block, such as a quote, without the blank lines at both ends."""
        inner = BlockReader(
            lines, numbers, self.conversion, self.notes, self.headings, self.readers, depth=self.depth + 1
        )
        return "\n".join(inner.run()).strip("\n").split("\n")

    def may_nest(self) -> bool:
        """Tell whether a text within this one is read; below `DEEPEST` texts it is not, which is reported."""
        if self.depth > DEEPEST:
            self.warn("SG605", f"a block within {DEEPEST} others", self.line, "its text stays, without its form")
        return self.depth <= DEEPEST

    @property
    def line(self) -> str:
        return self.lines[self.at]

    @property
    def number(self) -> int:
        """The number of the current line in its file."""
        return self.number_of(self.at)

    @property
    def offset(self) -> int:
        """The index in `text` at which the current line begins."""
        return self.offsets[self.at]

    @property
    def after_blank(self) -> bool:
        return self.at == 0 or not self.lines[self.at - 1].strip() or not self.out or not self.out[-1].strip()

    def number_of(self, at: int) -> int:
        return self.numbers[min(at, len(self.numbers) - 1)]

    def put(self, kind: str, written: Sequence[str], upto: int) -> bool:
        """Write a block of this kind that replaces the lines before index `upto`.  Return True: the block was read."""
        if written and not written[0]:
            self.gap()
            written = written[1:]
        self.start, self.kind = len(self.out), kind
        self.out += written
        self.at = upto
        return True

    def gap(self) -> None:
        """Write a blank line unless the last line is one."""
        if self.out and self.out[-1].strip():
            self.out.append("")

    def inline(self, text: str, at: int | None = None) -> str:
        """Return the MyST of a paragraph's text, which begins on the line at index `at` or on the current one."""
        return convert_paragraph(text, self.number_of(self.at if at is None else at), self.conversion, self.notes)

    def verbatim(self, begin: int, end: int) -> list[str]:
        """Return the lines from `begin` to before `end` with their pieces of Liquid as they were written."""
        return [self.conversion.inserts.verbatim(line) for line in self.lines[begin:end]]

    def first_line(self, begin: int, holds: Callable[[str], object]) -> int | None:
        """Return the index of the first line from `begin` on for which `holds` is true; None where there is none."""
        return next((at for at in range(begin, len(self.lines)) if holds(self.lines[at])), None)

    def closing_line(self, begin: int, pattern: str) -> int | None:
        """Return the index of the first line from `begin` on in which the pattern is found; None where there is none.

        Later calls with the pattern never have a smaller `begin`, so that no line is searched twice.
        """
        at = self.closings.get(pattern, -1)
        if at < begin:
            found = self.first_line(begin, re.compile(pattern).search)
            at = self.closings[pattern] = len(self.lines) if found is None else found
        return at if at < len(self.lines) else None

    def end_of_text(self) -> int:
        """Return the index of the first blank line or attribute list from the current line on."""
        end = self.first_line(self.at, lambda line: not line.strip() or ATTRIBUTES.fullmatch(line))
        return len(self.lines) if end is None else end

    def ends_block(self, at: int) -> bool:
        """Return whether no block goes on at this index: it is past the last line, blank, or an attribute list."""
        return at >= len(self.lines) or not self.lines[at].strip() or ATTRIBUTES.fullmatch(self.lines[at]) is not None

    def warn(self, code: str, message: str, words: str, hint: str) -> None:
        self.conversion.warn(code, message, words, self.number, hint)


def dedented(lines: Sequence[str]) -> str:
    """Return the lines without the indentation that all of them have, as kramdown reads what is in an element."""
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    least = min(indents, default=0)
    return "\n".join(line[least:] if line.strip() else "" for line in lines)
