"""Make the card of a page: the picture that other sites show with a link to the page, 1200×630 pixels.

The card of a post with measurements has bars, because the letters of a chart would be too small.  The template is
`card.svg`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitegen.model.record import Record
from sitegen.model.site import Post
from sitegen.model.urls import card_url
from sitegen.render.inputs.rows import Group, Row, headline, newest_run
from sitegen.render.inputs.sources import Sources
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.templates import TemplateFailure

_TEMPLATE = "card.svg"
_LATIN = 0x2E80
"""The first code point whose letters are as wide as they are high."""
_WIDTH = 1056
_BARS = 5
_BAR_PX = 670
"""The length of the bar of a program that reaches its ceiling, in pixels."""
_NARROW, _WIDE = frozenset("iIjlft.,:;|!'()[]r "), frozenset("mwMW@—")


@dataclass(frozen=True, slots=True)
class CardLine:
    text: str
    y: int


@dataclass(frozen=True, slots=True)
class Bar:
    name: str
    y: int
    width: int
    share: str
    ours: bool
    best: bool
    stale: bool


@dataclass(frozen=True, slots=True)
class SocialCard:
    site: str
    """The title of the site."""
    title: tuple[CardLine, ...]
    """The lines of the title.  A line has its `text` and `y`, its base line."""
    size: int
    """The size of the letters of the title, which fits into 1056 pixels in at most three lines."""
    lede: tuple[CardLine, ...]
    """The lines of the description, in letters of 34 pixels; none if there are bars."""
    bars: tuple[Bar, ...]
    """The bars of the fastest programs.  A bar has `name`, `y`, `width` and `share`, and is `ours`, `best` or `stale`.
    """
    top: int
    """The y of the upper end of the ceiling's mark."""
    foot: str
    """The date, the minutes and the tags of a post; with bars, where the numbers come from."""


def post_card(printer: Printer, post: Post) -> tuple[str, bytes]:
    """Return (output path, PNG) of the card of a post."""
    sources, spoken = printer.sources, printer.language(post.lang)
    group, record = _measured(sources, post)
    facts = [spoken.day(sources.day_of(post.date)), spoken.minutes(sources.document(post.body).words)]
    foot = "  ·  ".join([*facts, *(ref.name for ref in post.tags[:4])])
    if group and record:
        stale = any(row.stale for row in _rows(group))
        foot = _provenance(group, record) + (f", {spoken.say('stale: measured by older code')}" if stale else "")
    return _drawn(printer, sources.post_url(post), post.title, post.description, group, foot)


def page_card(printer: Printer, url: str, title: str, lede: str, foot: str = "") -> tuple[str, bytes]:
    """Return (output path, PNG) of the card of a page without measurements."""
    return _drawn(printer, url, title, lede, None, foot)


def _drawn(printer: Printer, url: str, title: str, lede: str, group: Group | None, foot: str) -> tuple[str, bytes]:
    card = _card(printer.sources.config.title, title, lede, group, foot)
    svg = printer.text(_TEMPLATE, card_url(url), card)[1]
    return card_url(url), printer.sources.drawn(svg, draw)


def draw(svg: str) -> bytes:
    """Return a drawing as PNG.  Raises TemplateFailure."""
    from sitegen.render.outputs.card_picture import draw_png  # late, because most builds draw no card
    from sitegen.render.outputs.card_shapes import DrawingError

    try:
        return draw_png(svg)
    except DrawingError as error:
        raise TemplateFailure(str(error), _TEMPLATE, 1) from None


def _card(site: str, title: str, lede: str, group: Group | None, foot: str) -> SocialCard:
    rows = _rows(group) if group else []
    size, lines = _fitting(title, (1, 2) if rows else (3,))
    lead = size * 6 // 5
    y = 116 + lead
    titles = tuple(CardLine(line, y + at * lead) for at, line in enumerate(lines))
    below = y + len(lines) * lead - 10
    room = 0 if rows else (540 - below) // 46
    ledes = tuple(CardLine(line, below + 10 + at * 46) for at, line in enumerate(_shortened(wrapped(lede, 34), room)))
    top = 548 - 44 * len(rows)
    bars = tuple(_bar(row, top + 44 * at) for at, row in enumerate(rows))
    return SocialCard(
        site=site,
        title=titles,
        size=size,
        lede=ledes,
        bars=bars,
        top=top - 8,
        foot=foot,
    )


def _fitting(title: str, lines: Sequence[int]) -> tuple[int, list[str]]:
    """Return the largest of three letter sizes for a title, and its lines.

    `lines` are the allowed numbers of lines, the preferred one first.
    """
    for most in lines:
        for size in (72, 62, 54):
            if len(fitting := wrapped(title, size)) <= most:
                return size, fitting
    return 54, _shortened(wrapped(title, 54), lines[-1])


def wrapped(text: str, size: int) -> list[str]:
    """Return a text as lines in letters of `size` pixels.  Widths are estimated, and a card has room for the error."""
    lines: list[str] = []
    for word in text.split():
        if lines and _width(f"{lines[-1]} {word}") * size <= _WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _width(text: str) -> float:
    """Return the width of a text in units of the size of its letters."""
    return sum(map(_letter, text))


def _letter(letter: str) -> float:
    if ord(letter) >= _LATIN:
        return 0.92
    if letter in _NARROW:
        return 0.32
    return 0.88 if letter in _WIDE else 0.66 if letter.isupper() else 0.57


def _shortened(lines: list[str], most: int) -> list[str]:
    return (
        lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1].rstrip('.,')} …"] if most > 0 else []
    )


def _measured(sources: Sources, post: Post) -> tuple[Group | None, Record | None]:
    """Return the headline group and the record of the first kernel of the post that has both a record and a ceiling."""
    for name in sources.kernels_of.get(post.body.path, ()):
        for record in sources.records(name)[:1]:
            group = headline(sources.groups(record))
            if group and group.can_be_drawn and group.best:
                return group, record
    return None, None


def _rows(group: Group) -> list[Row]:
    """Return the fastest of our programs and the fastest baseline, by their share of the ceiling."""
    timed = sorted(
        (row for row in group.rows if row.share("of-ceiling")), key=lambda row: -(row.share("of-ceiling") or 0)
    )
    ours = [row for row in timed if row.ours]
    others = [row for row in timed if row.role.value == "baseline"]
    shown = [*others[:1], *ours[: _BARS - len(others[:1])]]
    return [row for row in timed if row in shown]


def _bar(row: Row, y: int) -> Bar:
    share = row.share("of-ceiling") or 0.0
    width = round(min(share, 1.0) * _BAR_PX)
    return Bar(
        name=row.name,
        y=y,
        width=width,
        share=numbers.percent(share, 0),
        ours=row.ours,
        best=row.best,
        stale=bool(row.stale),
    )


def _provenance(group: Group, record: Record) -> str:
    """Return the line that says on which GPU, when and with which commit the numbers were measured."""
    run = newest_run(record, group)
    shape = f"{numbers.shape(group.workload.name)} {group.dtype}, of ceiling"
    return f"{record.kernel} {shape}  ·  {run.environment.gpu}, {run.date}, {run.commit}" if run else shape
