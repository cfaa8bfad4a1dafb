"""Read the figures of a built page from its HTML: each with its place, and the record that its element names.

An element with `data-record` holds figures of a record: `softmax`, `softmax nvidia-h200`, `ceilings nvidia-h200`.
Every number within it is one.  An element with `data-given`, or with one of the classes `_GIVEN`, holds figures
that are an author's or a vendor's.  Elsewhere a number with a unit of measurement, such as `4.04 TB/s`, has no known
source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser

from sitegen.markup.typed_figures import typed_in_line

_UNREAD = frozenset({"script", "style", "head", "math", "code", "pre"})
"""Elements without figures of records: their numbers are program text, formulas, or outputs of cells."""
_VOID = frozenset({"br", "img", "hr", "meta", "link", "input", "col", "wbr", "source"})
_GIVEN = frozenset({"given", "spec", "drawn"})
"""Classes of figures that an author or a vendor gives, and of drawings computed from an author's numbers."""
_SPOKEN = ("aria-label", "alt", "data-from")
"""Attributes whose text a reader sees or hears."""
_NUMBER = re.compile(r"\d+(?:[.,\u00a0]\d+)*(?:e-?\d+)?")


@dataclass(frozen=True, slots=True)
class PageFigure:
    """A figure on a page; lines count from 1, columns too."""

    text: str
    """The number, with its unit where it has no record."""
    words: str
    """The text around it, without the numbers of the page's layout: a text node or an attribute."""
    line: int
    col: int
    id: str
    """The nearest id before it on the page; empty without one."""
    record: str = ""
    """The record that its element names; empty when no element does."""


def figures_of_page(html: str) -> tuple[PageFigure, ...]:
    """Return the figures of a page in reading order."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return tuple(reader.figures)


@dataclass(frozen=True, slots=True)
class _Element:
    tag: str
    record: str
    is_read: bool


class _Reader(HTMLParser):
    """A parser that knows the record of the element that it is in."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.figures: list[PageFigure] = []
        self._open = [_Element("", "", True)]
        self._id = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._id = given.get("id", self._id)
        element = self._element(tag, given)
        if element.is_read:
            for name in _SPOKEN:
                self._take(given.get(name, ""), element.record, self.getpos())
        if tag not in _VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        while len(self._open) > 1 and self._open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open[-1].is_read:
            self._take(data, self._open[-1].record, self.getpos())

    def _element(self, tag: str, given: dict[str, str]) -> _Element:
        around = self._open[-1]
        is_given = "data-given" in given or not _GIVEN.isdisjoint(given.get("class", "").split())
        is_read = around.is_read and tag not in _UNREAD and not is_given
        return _Element(tag, given.get("data-record", around.record), is_read)

    def _take(self, words: str, record: str, place: tuple[int, int]) -> None:
        line, col = place
        for number, text in enumerate(words.split("\n")):
            start = col + 1 if number == 0 else 1
            self.figures += (
                PageFigure(found, text.strip(), line + number, start + at, self._id, record)
                for found, at in _figures_in(text, record)
            )


def _figures_in(text: str, record: str) -> list[tuple[str, int]]:
    """Return the figures of a line of text with their offsets."""
    if record:
        return [(match[0], match.start()) for match in _NUMBER.finditer(text)]
    return [(typed.text, typed.col) for typed in typed_in_line(0, text)]
