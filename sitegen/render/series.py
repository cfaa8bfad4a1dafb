"""Series → the roadmap pages, and where a post stands in one."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.site import Phase, Post, Series
from sitegen.render import numbers
from sitegen.render.frame import Fact, Link, Printer
from sitegen.render.marks import Square, road, strip
from sitegen.render.paths import post_url, relative
from sitegen.render.sources import Sources


@dataclass(frozen=True, slots=True)
class Part:
    """One line of the route: a post, or a title that is only planned, or an exercise."""

    mark: str
    """Its number, or `Ex`."""
    title: str
    href: str = ""
    description: str = ""
    state: str = "planned"
    state_text: str = "planned"


@dataclass(frozen=True, slots=True)
class PhaseView:
    number: int
    title: str
    goal: str
    topics: tuple[str, ...]
    facts: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class SeriesPage:
    title: str
    tagline: str
    strip: Markup
    published: str
    plate: tuple[Fact, ...]
    audience: str
    prerequisites: str
    outcomes: tuple[str, ...]
    start: Link | None
    phases: tuple[PhaseView, ...]
    has_phases: bool
    """False for the short form, one phase without a title."""


@dataclass(frozen=True, slots=True)
class Course:
    """A series on the home page and in the list of series."""

    title: str
    href: str
    tagline: str
    audience: str
    outcome: str
    road: Markup
    published: int
    planned: int


@dataclass(frozen=True, slots=True)
class SeriesIndex:
    courses: tuple[Course, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """Where a post stands in a series."""

    title: str
    href: str
    phase: str
    part: int
    total: int
    strip: Markup
    previous: Link | None
    next: Link | None
    planned_next: str
    """A title that comes next but is not written yet."""


def series_url(series: Series) -> str:
    return f"series/{series.id}/"


def render_series_pages(printer: Printer) -> dict[str, str]:
    sources = printer.sources
    if not sources.site.series:
        return {}
    index = SeriesIndex(tuple(course(sources, series, "series/") for series in sources.site.series))
    pages = [printer.page("series_index.html", "series/", index, title="Series", section="series/")]
    pages += [_series_page(printer, series) for series in sources.site.series]
    return dict(pages)


def course(sources: Sources, series: Series, here: str) -> Course:
    squares = _squares(sources, series)
    flat = [square for phase in squares for square in phase]
    titles = [phase.title or series.title for phase in series.phases]
    return Course(
        title=series.title,
        href=relative(series_url(series), here),
        tagline=series.tagline,
        audience=series.audience,
        outcome=series.outcomes[0] if series.outcomes else "",
        road=road(list(zip(titles, squares, strict=True))),
        published=sum(square.state != "plan" for square in flat),
        planned=sum(square.state == "plan" for square in flat),
    )


def positions(sources: Sources, post: Post, here: str) -> tuple[Position, ...]:
    """In every series that lists the post."""
    return tuple(_position(sources, s, post, here) for s in sources.site.series if post.slug in _slugs(s))


def _slugs(series: Series) -> tuple[str, ...]:
    return tuple(ref.name for ref in series.posts)


def _entries(sources: Sources, phase: Phase) -> tuple[Post | str, ...]:
    """Its posts in reading order, then titles: those planned, and of posts that are not published yet."""
    posts = [sources.post(ref.name) or _title(sources, ref.name) for ref in phase.posts]
    return (*posts, *phase.planned)


def _title(sources: Sources, slug: str) -> str:
    return next((post.title for post in sources.site.posts if post.slug == slug), slug)


def _squares(sources: Sources, series: Series, here: Post | None = None) -> list[list[Square]]:
    def square(entry: Post | str) -> Square:
        return Square("plan") if isinstance(entry, str) else Square("here" if entry == here else "")

    return [[square(entry) for entry in _entries(sources, phase)] for phase in series.phases]


def _position(sources: Sources, series: Series, post: Post, here: str) -> Position:
    entries = [entry for phase in series.phases for entry in _entries(sources, phase)]
    at = entries.index(post) if post in entries else 0
    number, phase = next((n, p) for n, p in enumerate(series.phases, 1) if post.slug in {r.name for r in p.posts})
    before, after = entries[at - 1] if at else None, entries[at + 1] if at + 1 < len(entries) else None
    return Position(
        title=series.title,
        href=relative(series_url(series), here),
        phase=f"Phase {number}, {phase.title}" if phase.title else "",
        part=at + 1,
        total=len(entries),
        strip=strip(_squares(sources, series, post)),
        previous=_link(before, here),
        next=_link(after, here),
        planned_next=after if isinstance(after, str) else "",
    )


def _link(entry: Post | str | None, here: str) -> Link | None:
    return Link(entry.title, relative(post_url(entry), here)) if isinstance(entry, Post) else None


def _series_page(printer: Printer, series: Series) -> tuple[str, str]:
    sources, here = printer.sources, series_url(series)
    entries = [entry for phase in series.phases for entry in _entries(sources, phase)]
    posts = [entry for entry in entries if isinstance(entry, Post)]
    minutes = numbers.reading_time(sum(sources.document(post.body).words for post in posts))
    topics = sum(len(phase.topics) for phase in series.phases)
    plate = [Fact("posts", f"{len(posts)} of {len(entries)}"), Fact("phases", str(len(series.phases)))]
    plate += [Fact("topics", str(topics))] if topics else []
    plate += [Fact("reading", minutes)] if posts else []
    page = SeriesPage(
        title=series.title,
        tagline=series.tagline,
        strip=strip(_squares(sources, series)),
        published=f"{len(posts)} of {len(entries)} published",
        plate=tuple(plate),
        audience=series.audience,
        prerequisites=series.prerequisites,
        outcomes=series.outcomes,
        start=_link(posts[0], here) if posts else None,
        phases=_phase_views(sources, series, here),
        has_phases=any(phase.title for phase in series.phases),
    )
    return printer.page("series.html", here, page, title=series.title, description=series.tagline, section="series/")


def _phase_views(sources: Sources, series: Series, here: str) -> tuple[PhaseView, ...]:
    views, number = [], 0
    for count, phase in enumerate(series.phases, start=1):
        parts = []
        for entry in _entries(sources, phase):
            number += 1
            parts.append(_part(sources, entry, number, here))
        parts += [Part("Ex", ref.name.replace("-", " ")) for ref in phase.exercises]
        views.append(PhaseView(count, phase.title, phase.goal, phase.topics, _facts(sources, phase), tuple(parts)))
    return tuple(views)


def _part(sources: Sources, entry: Post | str, number: int, here: str) -> Part:
    if isinstance(entry, str):
        return Part(str(number), entry)
    newest = sources.posts[0] == entry
    minutes = numbers.reading_time(sources.document(entry.body).words)
    state, text = ("here", f"newest, {minutes}") if newest else ("done", minutes)
    return Part(str(number), entry.title, relative(post_url(entry), here), entry.description, state, text)


def _facts(sources: Sources, phase: Phase) -> str:
    """`2 posts, 23 min`."""
    posts = [entry for entry in _entries(sources, phase) if isinstance(entry, Post)]
    planned = len(_entries(sources, phase)) - len(posts)
    facts = [numbers.count(len(posts), "post")] if posts else []
    facts += [numbers.reading_time(sum(sources.document(post.body).words for post in posts))] if posts else []
    return ", ".join([*facts, *([f"{planned} planned"] if planned else [])])
