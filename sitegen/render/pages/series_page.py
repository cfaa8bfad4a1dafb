"""Print the page of a series: whom it is for, its map, and its phases with posts, exercises and what each needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.linking.concepts import concept_key
from sitegen.model.site import Phase, Post, Series
from sitegen.model.urls import (
    CONCEPTS,
    FEED,
    SERIES,
    relative,
    series_review_url,
    series_text_url,
    series_url,
    series_zip_url,
)
from sitegen.render.downloads.files import has_programs
from sitegen.render.figures.inline_charts import strip
from sitegen.render.figures.roadmap import MapColumn, MapNode, roadmap
from sitegen.render.inputs.series_questions import question_count
from sitegen.render.inputs.series_steps import Step, StepKind, edges_of, steps_of, teacher_of
from sitegen.render.inputs.sources import Sources
from sitegen.render.pages.series import squares_of
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Fact, Link, Printer
from sitegen.render.shared.structured import About


@dataclass(frozen=True, slots=True)
class Best:
    """The best result of a kernel of a post."""

    kernel: str
    share: str
    """The share of the ceiling, `94.1 %`."""
    record: str
    """The kernel and the id of the GPU, `softmax nvidia-h200`."""


@dataclass(frozen=True, slots=True)
class BestOn:
    """The best results of the kernels of a post that have their first record from the same GPU."""

    gpu: str
    """The short name, `H200`."""
    kernels: tuple[Best, ...]


@dataclass(frozen=True, slots=True)
class RouteLine:
    """A line of the roadmap: a post, a planned post, or an exercise."""

    id: str
    progress: str
    """The id under which a reader's progress is kept, `post:softmax`; empty for what is planned."""
    mark: str
    """The number of the post, `Ex` for an exercise, or empty for what is planned."""
    title: str
    href: str
    description: str
    state: str
    state_text: str
    best: tuple[BestOn, ...]
    needs: tuple[Link, ...]
    """The concepts that it needs, each with a link to what teaches it, or without one."""


@dataclass(frozen=True, slots=True)
class TopicView:
    title: str
    parts: tuple[Link, ...]
    """Links to the lines of its posts and exercises."""


@dataclass(frozen=True, slots=True)
class PhaseView:
    number: int
    title: str
    goal: str
    outcome: str
    topics: tuple[TopicView, ...]
    facts: tuple[str, ...]
    parts: tuple[RouteLine, ...]


@dataclass(frozen=True, slots=True)
class SeriesPage:
    stylesheet: str
    script: str
    title: str
    tagline: str
    strip: Markup
    published: str
    plate: tuple[Fact, ...]
    audience: str
    prerequisites: str
    after: tuple[Link, ...]
    """The series that a reader should know before."""
    outcomes: tuple[str, ...]
    start: Link | None
    map: Markup
    """Empty when there is no step."""
    has_newest: bool
    """Whether the newest post of the site is on the map."""
    phases: tuple[PhaseView, ...]
    has_phases: bool
    """Whether the series has phases with titles; the short form is one phase without a title."""


def series_page(printer: Printer, series: Series) -> tuple[str, str]:
    sources, here = printer.sources, series_url(series.id)
    steps = steps_of(sources, series)
    posts = [step for step in steps if step.kind is StepKind.POST]
    page = SeriesPage(
        stylesheet=relative(sources.assets["series.css"], here),
        script=relative(sources.assets["series.js"], here),
        title=series.title,
        tagline=series.tagline,
        strip=strip(squares_of(sources, series)),
        published=", ".join(_counts(steps)),
        plate=_plate(sources, series, steps, here),
        audience=series.audience,
        prerequisites=series.prerequisites,
        after=_before(sources, series, here),
        outcomes=series.outcomes,
        start=Link(posts[0].title, relative(posts[0].url, here)) if posts else None,
        map=_map(sources, series, steps, here),
        has_newest=any(_is_newest(sources, step.post) for step in steps),
        phases=tuple(_phase_view(sources, series, steps, at, here) for at in range(len(series.phases))),
        has_phases=any(phase.title for phase in series.phases),
    )
    about = About(("CollectionPage",), card=True, feed=_feed(sources, series))
    return printer.page(
        "series.html", here, page, title=series.title, description=series.tagline, section=SERIES, about=about
    )


def _feed(sources: Sources, series: Series) -> tuple[str, str]:
    there = "series" in sources.config.feeds and sources.posts_of(series)
    return (f"{sources.config.title}: {series.title}", f"{series_url(series.id)}{FEED}") if there else ("", "")


def _counts(steps: Sequence[Step]) -> list[str]:
    """Return the numbers of posts and of planned posts: `4 posts`, `10 planned`."""
    posts = sum(step.kind is StepKind.POST for step in steps)
    planned = sum(step.kind is StepKind.PLANNED for step in steps)
    return [numbers.count(posts, "post"), *([f"{planned} planned"] if planned else [])]


def _plate(sources: Sources, series: Series, steps: Sequence[Step], here: str) -> tuple[Fact, ...]:
    exercises = [step for step in steps if step.kind is StepKind.EXERCISE]
    practice = sum(step.minutes for step in exercises)
    facts = [
        Fact("posts", _written_and_planned([step for step in steps if step.kind is not StepKind.EXERCISE])),
        Fact("phases", str(len(series.phases))),
    ]
    if words := _words(sources, steps):
        facts.append(Fact("reading", numbers.reading_time(*words)))
    if exercises:
        facts.append(Fact("exercises", _written_and_planned(exercises)))
    if practice:
        facts.append(Fact("practice", duration(practice)))
    if has_programs(sources, series):
        zipped = series_zip_url(series.id)
        facts.append(Fact("programs", zipped.rpartition("/")[2], relative(zipped, here)))
    if sources.config.whole_series:
        facts += _of_all_posts(sources, series, steps, here)
    feed = _feed(sources, series)[1]
    return (*facts, *([Fact("feed", "Atom", relative(feed, here))] if feed else []))


def _of_all_posts(sources: Sources, series: Series, steps: Sequence[Step], here: str) -> Iterator[Fact]:
    """Yield the links to the page of all questions and to the page of all texts, with their sizes."""
    if questions := question_count(sources, series):
        yield Fact("review", numbers.count(questions, "question"), relative(series_review_url(series.id), here))
    if words := sum(_words(sources, steps)):
        yield Fact("one page", numbers.count(words, "word"), relative(series_text_url(series.id), here))


def _written_and_planned(steps: Sequence[Step]) -> str:
    """Return how many steps have a page, and how many are planned: `4, 9 planned`."""
    planned = sum(not step.url for step in steps)
    return f"{len(steps) - planned}, {planned} planned" if planned else str(len(steps))


def _words(sources: Sources, steps: Sequence[Step]) -> list[int]:
    """Return the number of words of each post."""
    return [sources.document(step.post.body).words for step in steps if step.post]


def duration(minutes: int) -> str:
    """Return a time of practice: `45 min`, or `7 h` from two hours on, because nobody knows it better."""
    return numbers.with_unit(*((str(minutes), "min") if minutes < 120 else (str(round(minutes / 60)), "h")))


def _before(sources: Sources, series: Series, here: str) -> tuple[Link, ...]:
    """Return the series to read before this one; `check` prints the page also where one of them is unknown."""
    by_id = {one.id: one for one in sources.site.series}
    known = [by_id[ref.name] for ref in series.after if ref.name in by_id]
    return tuple(Link(one.title, relative(series_url(one.id), here)) for one in known)


def _map(sources: Sources, series: Series, steps: Sequence[Step], here: str) -> Markup:
    if not steps:
        return Markup()
    columns = [
        MapColumn(
            f"Phase {at + 1}" if phase.title else "",
            phase.title or series.title,
            tuple(_node(sources, step, here) for step in steps if step.phase == at),
        )
        for at, phase in enumerate(series.phases)
    ]
    label = f"Map of the series {series.title}: posts and exercises by phase. The list below says what each needs."
    return roadmap(columns, edges_of(steps), label)


def _node(sources: Sources, step: Step, here: str) -> MapNode:
    newest, planned = _is_newest(sources, step.post), not step.url
    kind = "exercise" if step.kind is StepKind.EXERCISE else "post"
    label = f"{step.title}, {'planned ' if planned else 'newest ' if newest else ''}{kind}"
    href = relative(step.url, here) if step.url else ""
    return MapNode(step.title, label, href, step.kind is StepKind.EXERCISE, planned, newest)


def _is_newest(sources: Sources, post: Post | None) -> bool:
    return post is not None and post in sources.posts_in("")[:1]


def _phase_view(sources: Sources, series: Series, steps: Sequence[Step], at: int, here: str) -> PhaseView:
    phase, own = series.phases[at], [index for index, step in enumerate(steps) if step.phase == at]
    number = sum(step.kind is StepKind.POST and step.phase < at for step in steps)
    lines = []
    for index in own:
        number += steps[index].kind is StepKind.POST
        lines.append(_line(sources, steps, index, number, here))
    return PhaseView(
        number=at + 1,
        title=phase.title,
        goal=phase.goal,
        outcome=phase.outcome,
        topics=_topics(phase, lines),
        facts=_facts(sources, [steps[index] for index in own]),
        parts=tuple(lines),
    )


def _topics(phase: Phase, lines: Sequence[RouteLine]) -> tuple[TopicView, ...]:
    marks = {line.id: line for line in lines}
    views = []
    for topic in phase.topics:
        names = [*(f"post-{ref.name}" for ref in topic.posts), *(f"exercise-{ref.name}" for ref in topic.exercises)]
        shown = [marks[name] for name in names if name in marks]
        views.append(TopicView(topic.title, tuple(Link(line.mark, f"#{line.id}") for line in shown)))
    return tuple(views)


def _line(sources: Sources, steps: Sequence[Step], at: int, number: int, here: str) -> RouteLine:
    step, post = steps[at], steps[at].post
    state, state_text = _state(sources, step)
    return RouteLine(
        id=step.id,
        progress=step.id.replace("-", ":", 1) if step.url else "",
        mark={StepKind.POST: str(number), StepKind.EXERCISE: "Ex", StepKind.PLANNED: ""}[step.kind],
        title=step.title,
        href=relative(step.url, here) if step.url else "",
        description=post.description if post else "",
        state=state,
        state_text=state_text,
        best=_best(sources, post) if post else (),
        needs=_needs(sources, steps, at, here),
    )


def _needs(sources: Sources, steps: Sequence[Step], at: int, here: str) -> tuple[Link, ...]:
    """Return the concepts that a step needs.

    Each leads to the line of the step that teaches it.  One that only other posts of the site teach leads to its entry
    among the concepts, which names them.
    """
    links = []
    for ref in steps[at].needs:
        key, teacher = concept_key(ref.name), teacher_of(steps, at, ref.name)
        concept = sources.concepts.get(key)
        elsewhere = relative(f"{CONCEPTS}#{key}", here) if concept and concept.teachers else ""
        links.append(Link(ref.name, elsewhere if teacher is None else f"#{steps[teacher].id}"))
    return tuple(links)


def _state(sources: Sources, step: Step) -> tuple[str, str]:
    """Return the class and the words of a step's state: `done` and `14 min`."""
    if not step.url:
        effort = f", {duration(step.minutes)}" if step.minutes else ""
        return "planned", f"planned{effort}"
    if step.post is None:
        return "done", duration(step.minutes) if step.minutes else "written"
    minutes = numbers.reading_time(sources.document(step.post.body).words)
    return ("here", f"newest, {minutes}") if _is_newest(sources, step.post) else ("done", minutes)


def _best(sources: Sources, post: Post) -> tuple[BestOn, ...]:
    """Return the best share of the ceiling of each kernel that the post is about, on the first GPU of the kernel."""
    from sitegen.render.inputs.rows import headline
    from sitegen.render.measurements.gpus import gpu_name, short_name

    found: dict[str, list[Best]] = {}
    for name in sources.kernels_about(post):
        record = next(iter(sources.records(name)), None)
        group = headline(sources.groups(record)) if record else None
        share = group.best.share("of-ceiling") if group and group.best else None
        if record and share is not None:
            best = Best(name, numbers.percent(share, 1), f"{name} {record.gpu}")
            found.setdefault(short_name(gpu_name(record)), []).append(best)
    return tuple(BestOn(gpu, tuple(kernels)) for gpu, kernels in found.items())


def _facts(sources: Sources, steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the facts about a phase: `2 posts, 23 min`, `3 planned`, `1 exercise, 90 min`."""
    words = _words(sources, steps)
    exercises = [step for step in steps if step.kind is StepKind.EXERCISE]
    practice, planned = sum(step.minutes for step in exercises), _counts(steps)[1:]
    facts = [f"{numbers.count(len(words), 'post')}, {numbers.reading_time(*words)}"] if words else []
    facts += planned
    if exercises:
        facts.append(numbers.count(len(exercises), "exercise") + (f", {duration(practice)}" if practice else ""))
    return tuple(facts)
