"""Keep stretches of a text aside while the rest is changed: code, formulas, finished blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sitegen.importing.mending.places import FENCE

_SPAN = re.compile(r"(?<!`)(`++)((?:[^`\n]|\n(?![ \t]*\n)|(?!(?<!`)\1(?!`))`)+?)(?<!`)\1(?!`)")
_FORMULA = re.compile(
    r"\$\$(?:(?!\$\$).)+\$\$|(?<![\\$\w])\$(?![\s\d])(?:\\.|[^$\\\n]|\n(?![ \t]*\n))+?(?<!\s)\$(?![\d\w])", re.DOTALL
)
_OF_ITEM = re.compile(r"(?P<item>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+)(?P<marks>`{3,}|~{3,})[^\n`]*")
_ANY_OF_ITEM = re.compile(f"^{_OF_ITEM.pattern}", re.MULTILINE)
_ALONE = re.compile(r"[ \t>]*(?P<marks>`{3,}|~{3,})(?P<info>[^\n`]*)")
_MARK = re.compile("\ue000(\\d+)\ue001")
_LINE = re.compile("^(?P<indent>[ \t>]*)\ue000(?P<number>\\d+)\ue001", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fence:
    """A fence of backquotes or tildes, without the indentation of its lines."""

    info: str
    code: str
    """The lines between, each with its line feed."""
    marks: str = "```"

    def __str__(self) -> str:
        return f"{self.marks}{self.info}\n{self.code}{self.marks}"


def code_span(code: str) -> str:
    """Return code within a line, between as many backquotes as it needs."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    return f"{'`' * (longest + 1)} {code} {'`' * (longest + 1)}" if longest else f"`{code}`"


def _end_of_fence(lines: Sequence[str], begin: int, marks: str) -> int:
    """Return the index of the line that ends a fence; that of its first line where none does."""
    for at in range(begin + 1, len(lines)):
        alone = _ALONE.fullmatch(lines[at])
        if alone and alone["marks"].startswith(marks) and not alone["info"].strip():
            return at
    return begin


@dataclass(slots=True)
class Kept:
    """The stretches that were kept aside, each behind a mark that no other change touches."""

    stretches: list[str] = field(default_factory=list)

    def keep(self, text: str) -> str:
        """Return the mark that stands for a stretch."""
        self.stretches.append(text)
        return f"\ue000{len(self.stretches) - 1}\ue001"

    def fences(self, text: str, change: Callable[[Fence], str | None]) -> str:
        """Return the text with a mark for each fence; `change` gives its new form, or None where it stays."""

        def kept(match: re.Match[str]) -> str:
            indent = match["indent"]
            lines = [line.removeprefix(indent) for line in match["code"].split("\n")]
            fence = Fence(match["info"].strip(), "\n".join(lines), match["marks"])
            new = change(fence)
            return indent + self.keep(str(fence) if new is None else new)

        return FENCE.sub(kept, self._fences_of_items(text))

    def _fences_of_items(self, text: str) -> str:
        """Return the text with a mark for each fence that begins behind the sign of a list item; it stays as it is.

        Its last line, which stands alone, would begin another fence.
        """
        if not _ANY_OF_ITEM.search(text):
            return text
        lines, out, at, unclosed = text.split("\n"), list[str](), 0, set[str]()
        while at < len(lines):
            item, alone = _OF_ITEM.fullmatch(lines[at]), _ALONE.fullmatch(lines[at])
            marks = item["marks"] if item else alone["marks"] if alone else ""
            end = _end_of_fence(lines, at, marks) if marks and marks not in unclosed else at
            unclosed |= {marks} if end == at else set()
            stretch = "\n".join(lines[at : end + 1])
            out.append(item["item"] + self.keep(stretch[len(item["item"]) :]) if item and end > at else stretch)
            at = end + 1
        return "\n".join(out)

    def spans(self, text: str, change: Callable[[str, str], str | None] = lambda marks, code: None) -> str:
        """Return the text with a mark for each stretch of code within a line."""

        def kept(match: re.Match[str]) -> str:
            new = change(match[1], match[2])
            return self.keep(match[0] if new is None else new)

        return _SPAN.sub(kept, text)

    def formulas(self, text: str) -> str:
        """Return the text with a mark for each formula between dollar signs; a displayed one gets a line of its own."""
        return _FORMULA.sub(self._formula, text)

    def _formula(self, match: re.Match[str]) -> str:
        text, begin = match.string, match.string.rfind("\n", 0, match.start()) + 1
        above = text[text.rfind("\n", 0, max(begin - 1, 0)) + 1 : begin].strip(" \t\n>")
        indent = text[begin : match.start()]
        if indent.strip(" \t>"):
            return self.keep(match[0])
        mark = self.keep(match[0].replace(f"\n{indent}", "\n"))
        displayed = match[0].startswith("$$") and text[match.end() : match.end() + 1] in "\n {("
        return f"\n{indent}{mark}" if displayed and above else mark

    def restored(self, text: str) -> str:
        """Return the text with the stretches in place of their marks, indented as their marks are."""
        while _MARK.search(text):
            text = _LINE.sub(self._indented, text)
            text = _MARK.sub(lambda match: self.stretches[int(match[1])], text)
        return text

    def _indented(self, match: re.Match[str]) -> str:
        indent = match["indent"]
        return indent + self.stretches[int(match["number"])].replace("\n", f"\n{indent}")
