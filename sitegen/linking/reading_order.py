"""Report what contradicts the reading order: needs that are met only later, series in a circle, misspelt names.

SG220 a concept that is taught only later · SG221 series in a circle · SG222 unknown series
SG223 a concept that is nearly another
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

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
    first: dict[str, int] = {}
    for at, step in enumerate(steps):
        for ref in step.teaches:
            first.setdefault(concept_key(ref.name), at)
    for at, step in enumerate(steps):
        for ref in step.needs:
            if (taught := first.get(concept_key(ref.name), -1)) > at:
                yield _taught_too_late(ref, step, steps[taught], series)


@dataclass(frozen=True, slots=True)
class Step:
    """A post, a planned post or an exercise in the order of a series."""

    title: str
    needs: tuple[Ref, ...]
    teaches: tuple[Ref, ...] = ()
    entry: Ref | None = None
    """Its name in the file of the series; None for a planned post, which has a title only."""

    @property
    def name(self) -> str:
        """Return the step as the file of the series calls it."""
        return f"`{self.entry.name}`" if self.entry else f"“{self.title}”"


def _steps(series: Series, posts: Mapping[str, Post], written: Mapping[str, Exercise]) -> Iterator[Step]:
    """Yield the steps of a series in reading order: in each phase posts, then planned posts, then exercises."""
    for phase in series.phases:
        for ref in phase.posts:
            if post := posts.get(ref.name):
                yield Step(post.title, post.needs, post.teaches, ref)
        for planned in phase.planned:
            yield Step(planned.title, planned.needs, planned.teaches)
        for exercise in phase.exercises:
            own = written.get(exercise.id.name)
            title = own.title if own else exercise.title or exercise.id.name
            yield Step(title, needs_of_exercise(exercise, own), entry=exercise.id)


def _meets(teaches: Iterable[Ref], needs: Iterable[Ref]) -> str:
    """Return the first concept among `needs` that is taught; empty when there is none."""
    taught = {concept_key(ref.name) for ref in teaches}
    return next((ref.name for ref in needs if concept_key(ref.name) in taught), "")


def _taught_too_late(ref: Ref, step: Step, teacher: Step, series: Series) -> Diagnostic:
    said = f"“{step.title}” needs `{ref.name}`, which the series {series.id} teaches only later, in “{teacher.title}”"
    if back := _meets(step.teaches, teacher.needs):
        circle = f"the two need each other: “{teacher.title}” needs `{back}` from here; take one of the needs out"
        return Diagnostic("SG220", said, ref.span, circle)
    order = _order(step, teacher, series.span.path)
    return Diagnostic("SG220", said, ref.span, f"{order}, or take the need out")


def _order(step: Step, teacher: Step, path: str) -> str:
    """Return how the order of the file changes; in a phase the planned posts stand below the posts in any case."""
    if teacher.entry:
        return f"put {teacher.name} before {step.name} in {path}:{teacher.entry.span.line}"
    where = "into a phase before that of" if step.entry else "before"
    return f"put {teacher.name} {where} {step.name} in {path}"


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
