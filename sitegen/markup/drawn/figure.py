"""Write the common parts of drawn figures: a picture that scrolls, computed facts, a caption, a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any

from markupsafe import Markup

from sitegen.diagnostics import Span
from sitegen.markup import options as o
from sitegen.markup.captions import caption
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Fence
from sitegen.markup.inline import inline_html
from sitegen.markup.labels import named
from sitegen.markup.svg import join, tag

MEASURE = 640
"""Pixels of the column of text."""
_WIDTH = re.compile(r'<svg [^>]*? width="([\d.]+)"')


@dataclass(frozen=True, slots=True)
class FigureSource:
    """A figure's fence, its options as the author wrote them, and their values."""

    fence: Fence
    options: o.Options
    values: Mapping[str, Any]
    """The options, checked."""

    def span(self, name: str) -> Span:
        """Return the place of an option's value, or of the directive."""
        return self.options.span(name, self.fence.span)


@dataclass(frozen=True, slots=True)
class FigureKind:
    """A kind of figure: how its data are read, drawn and written as text."""

    read: Callable[[FigureSource, Collected], Any]
    """Returns the data of the figure, or None after an error."""
    draw: Callable[[Any, str], str]
    """Returns the picture; the second argument is the author's alternative text in place of the computed one."""
    text: Callable[[Any], str]
    """Returns the same as text."""
    facts: Callable[[Any], Sequence[tuple[str, str]]]
    """Returns what is computed, as names and values; `{explore}` compares its states by them."""


def draw(kind: FigureKind, settings: Mapping[str, o.Setting], fence: Fence, into: Collected) -> str:
    """Return the HTML of a figure; it is empty when the data are wrong, which is reported."""
    given = source_of(fence, settings, into)
    if given.options.broken:
        return ""

    @cache
    def data() -> Any:
        return kind.read(given, into)

    def drawn() -> str:
        return kind.draw(data(), given.values.get("fig-alt", "")) if data() is not None else ""

    source = (fence.name, fence.argument, fence.content)
    picture = into.remembered(drawn, "picture", *source)
    text = into.remembered(lambda: kind.text(data()), "text", *source) if picture else ""
    return figure(picture, text, given, into) if picture else ""


def source_of(fence: Fence, settings: Mapping[str, o.Setting], into: Collected) -> FigureSource:
    """Return a figure's fence with its options, checked; mistakes are reported."""
    options = o.read_options(fence.content, fence.line + 1, into)
    return FigureSource(fence, options, o.checked(options, settings, f"`{{{fence.name}}}`", into))


def figure(drawn: str, text: str, given: FigureSource, into: Collected) -> str:
    """Return the HTML of a figure: the picture, its caption, and the same as text; wide if wider than the text."""
    label, words = given.values.get("label", ""), given.values.get("fig-cap", "")
    name, id = named("fig", bool(words), label, given.span("label"), into)
    anchor = f' id="{escape(id)}"' if id else ""
    said = inline_html(words, given.span("fig-cap").line - into.first_line, into) if words else ""
    below = f"<figcaption>{caption(name)}{said}</figcaption>\n" if name else ""
    widest = max(map(float, _WIDTH.findall(drawn)), default=0)
    classes = "drawn wide" if widest > MEASURE else "drawn"
    return f'<div class="{classes}"{anchor}>\n<figure>\n{drawn}{below}</figure>\n{text}</div>\n'


def picture(content: Iterable[str], width: float, height: float, alt: str, name: str, class_: str = "") -> Markup:
    """Return an SVG of this size in pixels, in a scroller that the keyboard reaches; `name` names the scroller."""
    svg = tag(
        "svg",
        join(content),
        class_=f"chart {class_}".strip(),
        viewBox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        role="img",
        aria_label=alt,
    )
    return tag("div", svg, class_="scroll", tabindex="0", role="group", aria_label=name) + "\n"


def facts(pairs: Iterable[tuple[str, str]]) -> Markup:
    """Return computed facts as a list of names and values."""
    cells = (tag("div", tag("dt", name) + tag("dd", value)) for name, value in pairs)
    return tag("dl", join(cells), class_="plate") + "\n"


def note(*parts: str) -> Markup:
    """Return a sentence that says how to read the picture; empty parts are left out."""
    said = "; ".join(filter(None, parts))
    return tag("p", f"{said[:1].upper()}{said[1:]}.", class_="prov") + "\n"


def as_table(title: str, head: Sequence[object], rows: Iterable[Sequence[object]]) -> Markup:
    """Return a folded table; the first cell of a row names the row, and the head of its column stands above it."""
    first, *others = head
    columns = tag("tr", _head(first, "l") + join(_head(name) for name in others))
    lines = (
        tag("tr", tag("th", str(first), scope="row") + join(tag("td", str(cell)) for cell in rest))
        for first, *rest in rows
    )
    table = tag("table", tag("thead", columns) + tag("tbody", join(lines, "\n")), class_="data")
    scroller = tag("div", table, class_="scroll", tabindex="0", role="group", aria_label=title)
    return tag("details", tag("summary", title) + scroller, class_="numbers") + "\n"


def _head(name: object, class_: str | None = None) -> Markup:
    return tag("th", str(name), scope="col", class_=class_) if str(name) else tag("td", " ")


def grouped(number: int) -> str:
    """Return a whole number as texts write it: `1024`, `65,536`."""
    return f"{number:,}" if number >= 10_000 else str(number)


def percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def at_column(span: Span, col: int) -> Span:
    """Return the place of a mistake in column `col`, from 1, of the value at `span`."""
    return Span(span.path, span.line, span.col + col - 1, max(span.length - col + 1, 1) if col > 1 else span.length)
