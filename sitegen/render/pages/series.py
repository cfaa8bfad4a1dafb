"""Print the list of series, and describe the position of a post in its series."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from sitegen.linking.concepts import concept_key
from sitegen.model.linked import SeriesPlace
from sitegen.model.site import PlannedPost, Post, Series
from sitegen.model.urls import SERIES, relative, series_url
from sitegen.render.figures.inline_charts import Square, road, strip
from sitegen.render.inputs.series_steps import StepKind, steps_of
from sitegen.render.inputs.sources import Sources
from sitegen.render.shared.frame import Link, Printer
from sitegen.render.shared.language import PageLanguage
from sitegen.render.shared.structured import COLLECTION

_PUBLISHED, _HERE, _PLANNED = Square(), Square("here"), Square("plan")


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
    """The number of published posts; planned ones do not count."""
    strip: Markup
    previous: Link | None
    next: Link | None
    exercises: tuple[Link, ...]
    """The exercises that need what the post teaches; one that is not written yet has no address."""
    planned_next: str
    """The title that comes next when it is not written yet, else empty."""


def series_index(printer: Printer) -> tuple[str, str]:
    index = SeriesIndex(tuple(course(printer.sources, series, SERIES) for series in printer.sources.site.series))
    title = printer.language().say("Series")
    return printer.page("series_index.html", SERIES, index, title=title, section=SERIES, about=COLLECTION)


def course(sources: Sources, series: Series, here: str) -> SeriesSummary:
    squares = squares_of(sources, series)
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


def squares_of(sources: Sources, series: Series, here: str = "") -> list[list[Square]]:
    """Return the squares of each phase of a series; `here` is the slug of the post that is shown."""

    def square(entry: Post | PlannedPost) -> Square:
        return _PLANNED if isinstance(entry, PlannedPost) else _HERE if entry.slug == here else _PUBLISHED

    return [[square(entry) for entry in phase] for phase in sources.entries[series.id]]


def _position(sources: Sources, place: SeriesPlace, post: Post, here: str, spoken: PageLanguage) -> Position:
    series, phase = place.series, place.series.phases[place.phase]
    planned = [one.title for later in series.phases[place.phase :] for one in later.planned]
    return Position(
        title=series.title,
        href=relative(series_url(series.id), here),
        phase=spoken.say("Phase {n}, {title}", n=place.phase + 1, title=phase.title) if phase.title else "",
        part=place.number,
        total=place.total,
        strip=strip(squares_of(sources, series, post.slug)),
        previous=_link(sources, place.previous, here),
        next=_link(sources, place.next, here),
        exercises=_exercises(sources, series, post, here),
        planned_next=planned[0] if planned and not place.next else "",
    )


def _exercises(sources: Sources, series: Series, post: Post, here: str) -> tuple[Link, ...]:
    taught = {concept_key(ref.name) for ref in post.teaches}
    steps = [step for step in steps_of(sources, series) if step.kind is StepKind.EXERCISE]
    return tuple(
        Link(step.title, relative(step.url, here) if step.url else "")
        for step in steps
        if taught & {concept_key(ref.name) for ref in step.needs}
    )


def _link(sources: Sources, post: Post | None, here: str) -> Link | None:
    return Link(post.title, relative(sources.post_url(post), here)) if post else None
