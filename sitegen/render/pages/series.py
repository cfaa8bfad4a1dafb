"""Print the roadmap of each series, and describe the position of a post in its series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.linked import SeriesPlace
from sitegen.model.site import Post, Series
from sitegen.model.urls import FEED, SERIES, relative, series_url
from sitegen.render.figures.inline_charts import Square, road, strip
from sitegen.render.inputs.sources import Sources
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Fact, Link, Printer
from sitegen.render.shared.language import PageLanguage
from sitegen.render.shared.structured import COLLECTION, About

_PUBLISHED, _HERE, _PLANNED = Square(), Square("here"), Square("plan")


@dataclass(frozen=True, slots=True)
class RouteLine:
    """A line of the roadmap: a post, a planned title, or an exercise."""

    mark: str
    """The number of the line, or `Ex` for an exercise."""
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
    parts: tuple[RouteLine, ...]


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
    """Whether the series has phases with titles; the short form is one phase without a title."""


@dataclass(frozen=True, slots=True)
class SeriesSummary:
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
    courses: tuple[SeriesSummary, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a post in a series."""

    title: str
    href: str
    phase: str
    part: int
    total: int
    strip: Markup
    previous: Link | None
    next: Link | None
    planned_next: str
    """The title that comes next when it is not written yet, else empty."""


def series_index(printer: Printer) -> tuple[str, str]:
    index = SeriesIndex(tuple(course(printer.sources, series, SERIES) for series in printer.sources.site.series))
    title = printer.language().say("Series")
    return printer.page("series_index.html", SERIES, index, title=title, section=SERIES, about=COLLECTION)


def course(sources: Sources, series: Series, here: str) -> SeriesSummary:
    squares = _squares(sources, series)
    flat = [square for phase in squares for square in phase]
    titles = [phase.title or series.title for phase in series.phases]
    return SeriesSummary(
        title=series.title,
        href=relative(series_url(series.id), here),
        tagline=series.tagline,
        audience=series.audience,
        outcome=series.outcomes[0] if series.outcomes else "",
        road=road(list(zip(titles, squares, strict=True))),
        published=sum(square.state != "plan" for square in flat),
        planned=sum(square.state == "plan" for square in flat),
    )


def positions(sources: Sources, post: Post, here: str, spoken: PageLanguage) -> tuple[Position, ...]:
    """Return the position of a post in every series that lists it."""
    places = sources.linked.series_places.get(post.body.path, ())
    return tuple(_position(sources, place, post, here, spoken) for place in places)


def _squares(sources: Sources, series: Series, here: str = "") -> list[list[Square]]:
    """Return the squares of each phase of a series; `here` is the slug of the post that is shown."""

    def square(entry: Post | str) -> Square:
        return _PLANNED if isinstance(entry, str) else _HERE if entry.slug == here else _PUBLISHED

    return [[square(entry) for entry in phase] for phase in sources.entries[series.id]]


def _position(sources: Sources, place: SeriesPlace, post: Post, here: str, spoken: PageLanguage) -> Position:
    series, phase = place.series, place.series.phases[place.phase]
    planned = [title for later in series.phases[place.phase :] for title in later.planned]
    entries = [entry for each in sources.entries[series.id] for entry in each]
    return Position(
        title=series.title,
        href=relative(series_url(series.id), here),
        phase=spoken.say("Phase {n}, {title}", n=place.phase + 1, title=phase.title) if phase.title else "",
        part=next(n for n, one in enumerate(entries, start=1) if isinstance(one, Post) and one.slug == post.slug),
        total=len(entries),
        strip=strip(_squares(sources, series, post.slug)),
        previous=_link(sources, place.previous, here),
        next=_link(sources, place.next, here),
        planned_next=planned[0] if planned and not place.next else "",
    )


def _link(sources: Sources, post: Post | None, here: str) -> Link | None:
    return Link(post.title, relative(sources.post_url(post), here)) if post else None


def series_page(printer: Printer, series: Series) -> tuple[str, str]:
    sources, here = printer.sources, series_url(series.id)
    entries = [entry for phase in sources.entries[series.id] for entry in phase]
    posts = [entry for entry in entries if isinstance(entry, Post)]
    minutes = numbers.reading_time(*(sources.document(post.body).words for post in posts))
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
        start=_link(sources, posts[0], here) if posts else None,
        phases=_phase_views(sources, series, here),
        has_phases=any(phase.title for phase in series.phases),
    )
    about = About(("CollectionPage",), card=True, feed=_feed(sources, series))
    return printer.page(
        "series.html", here, page, title=series.title, description=series.tagline, section=SERIES, about=about
    )


def _feed(sources: Sources, series: Series) -> tuple[str, str]:
    there = "series" in sources.config.feeds and sources.posts_of(series)
    return (f"{sources.config.title}: {series.title}", f"{series_url(series.id)}{FEED}") if there else ("", "")


def _phase_views(sources: Sources, series: Series, here: str) -> tuple[PhaseView, ...]:
    views, number = [], 0
    for count, (phase, entries) in enumerate(zip(series.phases, sources.entries[series.id], strict=True), start=1):
        parts = []
        for entry in entries:
            number += 1
            parts.append(_part(sources, entry, number, here))
        parts += [RouteLine("Ex", ref.name.replace("-", " ")) for ref in phase.exercises]
        views.append(PhaseView(count, phase.title, phase.goal, phase.topics, _facts(sources, entries), tuple(parts)))
    return tuple(views)


def _part(sources: Sources, entry: Post | str, number: int, here: str) -> RouteLine:
    if isinstance(entry, str):
        return RouteLine(str(number), entry)
    newest = entry in sources.posts_in("")[:1]
    minutes = numbers.reading_time(sources.document(entry.body).words)
    state, text = ("here", f"newest, {minutes}") if newest else ("done", minutes)
    return RouteLine(str(number), entry.title, relative(sources.post_url(entry), here), entry.description, state, text)


def _facts(sources: Sources, entries: Sequence[Post | str]) -> str:
    """Return the facts about a phase: `2 posts, 23 min`."""
    posts = [entry for entry in entries if isinstance(entry, Post)]
    planned = len(entries) - len(posts)
    facts = [numbers.count(len(posts), "post")] if posts else []
    facts += [numbers.reading_time(*(sources.document(post.body).words for post in posts))] if posts else []
    return ", ".join([*facts, *([f"{planned} planned"] if planned else [])])
