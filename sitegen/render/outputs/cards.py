"""Draw the card of a page: the picture that other sites show with a link to the page, 1200×630 pixels.

The card of a post with measurements has bars, because the letters of a chart would be too small.  The template is
`card.svg`.  The fonts come from packages, so that a card is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from sitegen.model.record import Record
from sitegen.model.site import Post
from sitegen.model.urls import card_url
from sitegen.render.inputs.rows import Group, Row, headline, newest_run
from sitegen.render.inputs.sources import Sources
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Printer

FONTS = ("IBM Plex Sans", "Noto Sans CJK KR")
_PACKAGES = ("fontpkg_ibm_plex_sans", "manimgx_fonts_cjk")
_SUFFIXES = (".ttf", ".otf", ".ttc")
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
    fonts: str
    site: str
    title: tuple[CardLine, ...]
    size: int
    lede: tuple[CardLine, ...]
    bars: tuple[Bar, ...]
    top: int
    """The y of the upper end of the ceiling's mark."""
    foot: str


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
    svg = printer.text("card.svg", card_url(url), card)[1]
    return card_url(url), printer.sources.drawn(f"{svg}<!-- {_made_with()} -->", draw)


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
    fonts = ", ".join(f"'{name}'" for name in FONTS)
    return SocialCard(
        fonts=fonts,
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


@lru_cache
def _made_with() -> str:
    """Return the versions of the packages that draw a card."""
    from importlib.metadata import PackageNotFoundError, version

    def known(name: str) -> str:
        try:
            return f"{name} {version(name)}"
        except PackageNotFoundError:
            return f"no {name}"

    return ", ".join(known(name) for name in ("resvg-py", *(package.replace("_", "-") for package in _PACKAGES)))


def draw(svg: str) -> bytes:
    """Return an SVG as PNG."""
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, font_files=list(_fonts(svg)), skip_system_fonts=True))


def _fonts(svg: str) -> Iterator[str]:
    """Yield the font files of the packages.  The package with East Asian letters is large, so it is opened only for a
    text that has some.
    """
    yield from _files(_PACKAGES[0])
    if any(ord(letter) >= _LATIN for letter in svg):
        yield from _files(_PACKAGES[1])


@lru_cache
def _files(package: str) -> Sequence[str]:
    spec = find_spec(package)
    folder = Path(spec.origin).parent if spec and spec.origin else None
    files = sorted(folder.rglob("*")) if folder else []
    return tuple(str(path) for path in files if path.suffix in _SUFFIXES and "Italic" not in path.name)
