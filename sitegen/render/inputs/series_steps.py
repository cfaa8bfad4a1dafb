"""Turn a series into its steps, which are posts, planned posts and exercises, and find which step needs which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sitegen.linking.concepts import concept_key, needs_of_exercise
from sitegen.model.site import Exercise, PlannedPost, Post, Ref, Series, SeriesExercise
from sitegen.model.urls import exercise_url
from sitegen.render.inputs.sources import Sources


class StepKind(StrEnum):
    POST = "post"
    PLANNED = "planned"
    EXERCISE = "exercise"


@dataclass(frozen=True, slots=True)
class Step:
    """One post, planned post or exercise of a series."""

    kind: StepKind
    phase: int
    """Index into `series.phases`."""
    id: str
    """The id of its line on the page of the series: `post-softmax`."""
    title: str
    url: str = ""
    """The URL of its page; empty when it has none."""
    needs: tuple[Ref, ...] = ()
    teaches: tuple[Ref, ...] = ()
    post: Post | None = None
    minutes: int = 0
    """The time that an exercise needs; 0 when it is unknown."""


def steps_of(sources: Sources, series: Series) -> tuple[Step, ...]:
    """Return the steps of a series in reading order: in each phase posts, then planned posts, then exercises."""
    return tuple(
        step
        for phase, entries in enumerate(sources.entries[series.id])
        for step in (*_of_entries(sources, phase, entries), *_of_exercises(sources, series, phase))
    )


def _of_entries(sources: Sources, phase: int, entries: Sequence[Post | PlannedPost]) -> Iterator[Step]:
    planned = 0
    for entry in entries:
        if isinstance(entry, Post):
            url = sources.post_url(entry)
            yield Step(
                StepKind.POST, phase, f"post-{entry.slug}", entry.title, url, entry.needs, entry.teaches, post=entry
            )
        else:
            planned += 1
            id = f"planned-{phase + 1}-{planned}"
            yield Step(StepKind.PLANNED, phase, id, entry.title, needs=entry.needs, teaches=entry.teaches)


def _of_exercises(sources: Sources, series: Series, phase: int) -> Iterator[Step]:
    """Yield the exercises of a phase.  What the series says of one comes before what its own file says."""
    for listed in series.phases[phase].exercises:
        id, own = f"exercise-{listed.id.name}", sources.exercises.get(listed.id.name)
        title, url = _title(listed, own), exercise_url(own.id) if own else ""
        minutes = listed.minutes or (own.minutes if own else 0)
        needs = needs_of_exercise(listed, own)
        yield Step(StepKind.EXERCISE, phase, id, title, url, needs, minutes=minutes)


def _title(listed: SeriesExercise, own: Exercise | None) -> str:
    """Return the title of an exercise: of its own file, else of the series, else its id in words."""
    return own.title if own else listed.title or listed.id.name.replace("-", " ").replace("_", " ")


def teacher_of(steps: Sequence[Step], at: int, concept: str) -> int | None:
    """Return the index of the last step before `at` that teaches a concept; None when there is none."""
    key = concept_key(concept)
    before = range(at - 1, -1, -1)
    return next((one for one in before if key in {concept_key(ref.name) for ref in steps[one].teaches}), None)


def edges_of(steps: Sequence[Step]) -> tuple[tuple[int, int], ...]:
    """Return the pairs (teacher, user) of steps without those that follow from others.

    If C needs B and B needs A, then the pair (A, C) is left out, because the way over B shows it.
    """
    before: list[set[int]] = []
    """The direct teachers of each step."""
    above: list[set[int]] = []
    """All steps that a step needs, directly or through others."""
    for at, step in enumerate(steps):
        teachers = {one for ref in step.needs if (one := teacher_of(steps, at, ref.name)) is not None}
        implied = set().union(*(above[one] for one in teachers)) if teachers else set[int]()
        before.append(teachers - implied)
        above.append(teachers | implied)
    return tuple((teacher, at) for at, teachers in enumerate(before) for teacher in sorted(teachers))
