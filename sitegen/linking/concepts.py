"""Turn the concepts that posts and exercises need and teach into an index: who teaches each, who needs it, who
practises it, and its glossary entry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sitegen.model.site import Exercise, Post, Ref, SeriesExercise, Site, Term


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept of the site; the posts are in the order of the site, newest first."""

    name: str
    """The name as the first post in the index writes it."""
    teachers: tuple[Post, ...] = ()
    users: tuple[Post, ...] = ()
    """The posts that need the concept."""
    term: Term | None = None
    exercises: tuple[Exercise, ...] = ()
    """The exercises that practise the concept or need it."""


def concept_key(name: str) -> str:
    """Return the form of a name by which concepts are compared: `Bytes in flight` and `bytes in flight` are one."""
    return "-".join(name.lower().split())


def needs_of_exercise(listed: SeriesExercise, own: Exercise | None) -> tuple[Ref, ...]:
    """Return the concepts that an exercise of a series needs: those that the series lists, else those of its file."""
    return listed.needs or (own.needs if own else ())


def concepts_of(site: Site, posts: Sequence[Post]) -> Mapping[str, Concept]:
    """Return the concepts that these posts and the exercises of the site need or teach, by `concept_key`, in
    alphabetical order.
    """
    teachers: dict[str, list[Post]] = {}
    users: dict[str, list[Post]] = {}
    practice: dict[str, dict[str, Exercise]] = {}
    names: dict[str, str] = {}
    for post in posts:
        for ref in post.teaches:
            names.setdefault(concept_key(ref.name), ref.name)
            teachers.setdefault(concept_key(ref.name), []).append(post)
        for ref in post.needs:
            names.setdefault(concept_key(ref.name), ref.name)
            users.setdefault(concept_key(ref.name), []).append(post)
    for exercise in site.exercises:
        for ref in (*exercise.teaches, *exercise.needs):
            names.setdefault(concept_key(ref.name), ref.name)
            practice.setdefault(concept_key(ref.name), {})[exercise.id] = exercise
    terms = terms_by_key(site) if names else {}
    return {
        key: Concept(
            names[key],
            tuple(teachers.get(key, ())),
            tuple(users.get(key, ())),
            terms.get(key),
            tuple(practice.get(key, {}).values()),
        )
        for key in sorted(names)
    }


def terms_by_key(site: Site) -> Mapping[str, Term]:
    """Return the glossary entries by each of their names: title, aliases, and slug."""
    return {concept_key(name): term for term in site.terms for name in (*term.aliases, term.title, term.slug)}
