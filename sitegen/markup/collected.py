"""Collect slots, ids, headings, cells and mistakes while one text is rendered.

One `Collected` lives as long as one call of `parse_document`; the rules find it in markdown-it's `env`.
Lines count from 0 within the text, as markdown-it's token maps do; a `Span` counts from 1 within the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from sitegen.diagnostics import Diagnostic, Severity, Span, did_you_mean
from sitegen.markup.additions import NOTHING_ADDED, Additions
from sitegen.markup.pieces import Pieces, key_of
from sitegen.model.document import Cell, CiteSlot, DocumentHeading, Slot
from sitegen.model.vocabulary import ENGLISH, Vocabulary

KEY = "sitegen"
"""The key of `env` under which the `Collected` is stored."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference in a text, `@fig-roofline` or `[-@fig-roofline]`."""

    label: str
    span: Span
    words: str | None
    """The author's words before the number, perhaps empty; None for the name of the thing, such as `Figure`."""


@dataclass(frozen=True, slots=True)
class NumberedName:
    """A numbered name, such as `Figure 2`, and its number."""

    whole: str
    number: str


@dataclass(slots=True)
class Collected:
    """The state of one text while it is rendered, and everything that was collected from it so far."""

    parser: MarkdownIt
    """The parser of the text, for Markdown among its options."""
    path: str
    lines: list[str]
    first_line: int = 1
    has_cells: bool = True
    id_prefix: str = ""
    numbered: bool = False
    spoken: Vocabulary = ENGLISH
    """The language of the text."""
    added: Additions = NOTHING_ADDED
    slots: list[Slot] = field(default_factory=list)
    headings: list[DocumentHeading] = field(default_factory=list)
    ids: dict[str, None] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    """The number of figures, tables and other things so far, by kind."""
    names: dict[str, NumberedName] = field(default_factory=dict)
    """The name of each thing that references can name, by its id."""
    references: list[Reference] = field(default_factory=list)
    open_tags: list[tuple[str, Span]] = field(default_factory=list)
    kept: dict[str, list[Any]] = field(default_factory=dict)
    """The values that directives keep of the text for other pages, by the name of the directive."""
    has_math: bool = False
    pieces: Pieces = field(default_factory=Pieces)
    level: int = 1
    """The level of the last heading."""
    _last_numbers: dict[str, int] = field(default_factory=dict)
    """The number behind the last id of each wanted name, from which the next one is sought."""
    _citations: int = 0
    _counted: int = 0
    """Citations among the first `_counted` slots."""

    def slot(self, slot: Slot) -> str:
        """Add a slot, and return the marker that stands for it in the HTML."""
        self.slots.append(slot)
        return f"\0{len(self.slots) - 1}\0"

    def remembered(self, make: Callable[[], str], *source: object) -> str:
        """Return the HTML that `make` makes, or made of the same source before.

        HTML is remembered only if `make` collected nothing beside it.
        """
        key = key_of(*source)
        if (piece := self.pieces.find(key)) is not None:
            return piece
        before = self._effects()
        html = make()
        if self._effects() == before:
            self.pieces.keep(html, key)
        return html

    def _effects(self) -> tuple[int, ...]:
        made = (self.slots, self.ids, self.cells, self.diagnostics, self.open_tags, self.references)
        return *map(len, made), sum(self.numbers.values()), sum(map(len, self.kept.values()))

    def span(self, line: int, col: int = 0, length: int = 1) -> Span:
        return Span(self.path, self.first_line + line, col + 1, max(length, 1))

    def span_of(self, text: str, line: int, until: int | None = None) -> Span:
        """Return the first place of `text` in the lines from `line` on; else the place of that line."""
        wanted = text.split("\n", 1)[0]
        for number in range(line, min(until or line + 1, len(self.lines))):
            if wanted and (col := self.lines[number].find(wanted)) >= 0:
                return self.span(number, col, len(wanted))
        return self.span_of_line(line)

    def within(self, span: Span, word: str) -> Span:
        """Return the place of `word` in the line of `span`, from its column on; without `word`, the whole span."""
        source = self.lines[span.line - self.first_line]
        col = source.find(word, span.col - 1) if word else -1
        return self.span(span.line - self.first_line, col, len(word)) if col >= 0 else span

    def span_of_line(self, line: int) -> Span:
        source = self.lines[line] if line < len(self.lines) else ""
        col = len(source) - len(source.lstrip())
        return self.span(line, col, len(source.strip()))

    def error(self, code: str, message: str, span: Span, hint: str = "") -> None:
        self.diagnostics.append(Diagnostic(code, message, span, hint))

    def warning(self, code: str, message: str, span: Span, hint: str = "") -> None:
        self.diagnostics.append(Diagnostic(code, message, span, hint, Severity.WARNING))

    def unknown(self, code: str, what: str, name: str, known: Iterable[str], span: Span) -> None:
        names = sorted(known)
        hint = did_you_mean(name, names) or f"known: {', '.join(f'`{n}`' for n in names)}"
        self.error(code, f"unknown {what} `{name}`", span, hint)

    def new_id(self, wanted: str) -> str:
        """Return an id that nothing on the page has yet: `wanted`, `wanted-2`, …"""
        base = unique = self.id_prefix + (wanted or "section")
        number = self._last_numbers.get(base, 1)
        while unique in self.ids:
            number += 1
            unique = f"{base}-{number}"
        self._last_numbers[base] = number
        self.ids[unique] = None
        return unique

    def count_citations(self) -> int:
        """Return the number of citations among the slots; of those since the last call, each is looked at once."""
        self._citations += sum(isinstance(slot, CiteSlot) for slot in self.slots[self._counted :])
        self._counted = len(self.slots)
        return self._citations

    def take_id(self, wanted: str, span: Span) -> str:
        """Return the id that an author chose; a second use of it is a mistake."""
        name = self.id_prefix + wanted
        if name in self.ids:
            self.error(
                "SG108",
                f"the label `{wanted}` is used twice",
                span,
                "a label names one thing of a page: give one of the two another name",
            )
        self.ids[name] = None
        return name


RenderRule = Callable[[Sequence[Token], int, Any, Any], str]
"""A function from (tokens, index, options, env) to HTML."""


def add_rules(md: MarkdownIt, rules: Mapping[str, RenderRule]) -> None:
    """Add plain functions that write tokens; the library's `add_render_rule` takes only methods of the renderer."""
    cast(dict[str, RenderRule], cast(RendererHTML, md.renderer).rules).update(rules)


def collected(env: Any) -> Collected:
    """Return the `Collected` of a text's `env`."""
    into = env[KEY]
    assert isinstance(into, Collected)
    return into


_NOT_IN_SLUG = re.compile(r"[^\w\- ]+")


def slug(text: str) -> str:
    """Return the id of a heading: letters and digits of any script in lower case, with hyphens for the rest."""
    words = _NOT_IN_SLUG.sub(" ", text.lower().replace("_", " ")).split()
    return "-".join(words).strip("-")
