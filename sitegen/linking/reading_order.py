"""Report what contradicts the reading order: needs that are met only later, series in a circle, misspelt names.

SG220 a concept that is taught only later · SG221 series in a circle · SG222 unknown series
SG223 a concept that is nearly another
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sitegen.diagnostics import Diagnostic, Severity, did_you_mean
from sitegen.linking.concepts import concept_key, concepts_of, needs_of_exercise, terms_by_key
from sitegen.linking.kernel_refs import unknown
from sitegen.linking.near_addresses import near_addresses
from sitegen.model.linked import originals
from sitegen.model.site import Exercise, Post, Ref, Series, Site


def order_mistakes(site: Site) -> Iterator[Diagnostic]:
    """Yield the contradictions in a site, without posts that are not published."""
    posts = {post.slug: post for post in originals(site)}
    written = {exercise.id: exercise for exercise in site.exercises}
    for series in site.series:
        yield from _taught_later(series, posts, written)
    yield from _series_after(site.series)
    yield from _misspelt_needs(site)


def _taught_later(series: Series, posts: Mapping[str, Post], written: Mapping[str, Exercise]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each need of a post that only later posts of the series meet, and of an exercise or a
    planned post that only later phases meet.
    """
    steps = list(_steps(series, posts, written))
    first: dict[str, tuple[int, str]] = {}
    for at, (title, _, teaches) in enumerate(steps):
        for ref in teaches:
            first.setdefault(concept_key(ref.name), (at, title))
    for at, (title, needs, _) in enumerate(steps):
        for ref in needs:
            taught, teacher = first.get(concept_key(ref.name), (-1, ""))
            if taught > at:
                yield _taught_too_late(ref, title, teacher, series, _meets(steps[at][2], steps[taught][1]))


Step = tuple[str, tuple[Ref, ...], tuple[Ref, ...]]
"""The title of a step of a series, the concepts that it needs, and those that it teaches."""


def _steps(series: Series, posts: Mapping[str, Post], written: Mapping[str, Exercise]) -> Iterator[Step]:
    """Yield the steps of a series in reading order: in each phase posts, then planned posts, then exercises."""
    for phase in series.phases:
        for post in filter(None, (posts.get(ref.name) for ref in phase.posts)):
            yield post.title, post.needs, post.teaches
        for planned in phase.planned:
            yield planned.title, planned.needs, planned.teaches
        for exercise in phase.exercises:
            own = written.get(exercise.id.name)
            title = own.title if own else exercise.title or exercise.id.name
            yield title, needs_of_exercise(exercise, own), ()


def _meets(teaches: Iterable[Ref], needs: Iterable[Ref]) -> str:
    """Return the first concept among `needs` that is taught; empty when there is none."""
    taught = {concept_key(ref.name) for ref in teaches}
    return next((ref.name for ref in needs if concept_key(ref.name) in taught), "")


def _taught_too_late(ref: Ref, title: str, teacher: str, series: Series, back: str) -> Diagnostic:
    message = f"“{title}” needs `{ref.name}`, which the series {series.id} teaches only later, in “{teacher}”"
    circle = f"the two need each other: “{teacher}” needs `{back}` from here; take one of the needs out"
    return Diagnostic("SG220", message, ref.span, circle if back else "change the order, or take the need out")


def _series_after(all_series: Iterable[Series]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each unknown series, and for each circle of series, at the first series of the circle."""
    known = {series.id: series for series in all_series}
    for series in known.values():
        for ref in series.after:
            if ref.name not in known:
                yield unknown("SG222", "series", ref.name, known, ref.span)
            elif (circle := _way(known, ref.name, series.id)) and series.id == min(circle):
                way = " → ".join([series.id, *circle])
                hint = "an arrow means “is read after”; take one of them out"
                yield Diagnostic("SG221", f"these series wait for each other: {way}", ref.span, hint)


def _way(known: Mapping[str, Series], start: str, goal: str) -> list[str]:
    """Return the ids on a way from one series to another by `after`; empty when there is none."""
    before: dict[str, str] = {start: ""}
    for name in (queue := [start]):
        if name == goal:
            way = [name]
            while before[way[0]]:
                way.insert(0, before[way[0]])
            return way
        for ref in known[name].after:
            if ref.name in known and ref.name not in before:
                before[ref.name] = name
                queue.append(ref.name)
    return []


def _misspelt_needs(site: Site) -> Iterator[Diagnostic]:
    """Yield a warning for each need that nothing teaches, where a taught concept or a term has nearly the same name.

    A need without a near name is knowledge from elsewhere, such as `C`.
    """
    planned = [post for series in site.series for phase in series.phases for post in phase.planned]
    exercises = [one for series in site.series for phase in series.phases for one in phase.exercises]
    taught = {key: one.name for key, one in concepts_of(site, site.posts).items() if one.teachers}
    taught |= {concept_key(ref.name): ref.name for post in planned for ref in post.teaches}
    taught |= {key: term.title.lower() for key, term in terms_by_key(site).items() if key not in taught}
    needs = [*(one.needs for one in site.posts), *(one.needs for one in planned), *(one.needs for one in exercises)]
    needs += [one.needs for one in site.exercises]
    names = near_addresses(taught.values())
    for ref in (ref for refs in needs for ref in refs):
        if concept_key(ref.name) not in taught and (hint := did_you_mean(ref.name, names.near(ref.name))):
            message = f"nothing teaches `{ref.name}`"
            yield Diagnostic("SG223", message, ref.span, hint, Severity.WARNING)
