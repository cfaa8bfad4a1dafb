"""Print the index of concepts, and the two lists of a post: what a reader needs first, and what the post teaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitegen.linking.concepts import Concept, concept_key
from sitegen.model.site import Exercise, Post, Ref
from sitegen.model.urls import CONCEPTS, exercise_url, relative, term_url
from sitegen.render.inputs.sources import Sources
from sitegen.render.shared.frame import Link, Printer
from sitegen.render.shared.structured import About


@dataclass(frozen=True, slots=True)
class ConceptLine:
    """A concept that a post needs or teaches."""

    name: str
    href: str
    """The link to the concept in the index."""
    teacher: Link | None = None
    """The post that teaches a needed concept."""


@dataclass(frozen=True, slots=True)
class ConceptEntry:
    id: str
    name: str
    term: str
    """The link to the glossary entry; empty when there is none."""
    teachers: tuple[Link, ...]
    users: tuple[Link, ...]
    exercises: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class ConceptIndex:
    concepts: tuple[ConceptEntry, ...]


def concept_index(printer: Printer) -> tuple[str, str]:
    sources = printer.sources
    index = ConceptIndex(tuple(_entry(sources, key, concept) for key, concept in sources.concepts.items()))
    description = "What the posts teach and need and the exercises practise, by concept."
    about = About(("CollectionPage",))
    return printer.page("concepts.html", CONCEPTS, index, title="Concepts", description=description, about=about)


def _entry(sources: Sources, key: str, concept: Concept) -> ConceptEntry:
    term = relative(term_url(concept.term.slug), CONCEPTS) if concept.term else ""
    teachers, users = (_links(sources, posts, CONCEPTS) for posts in (concept.teachers, concept.users))
    exercises = tuple(Link(one.title, relative(exercise_url(one.id), CONCEPTS)) for one in concept.exercises)
    return ConceptEntry(key, concept.name, term, teachers, users, exercises)


def _links(sources: Sources, posts: Sequence[Post], here: str) -> tuple[Link, ...]:
    return tuple(Link(post.title, relative(sources.post_url(post), here)) for post in posts)


def needed(sources: Sources, post: Post, here: str) -> tuple[ConceptLine, ...]:
    """Return the concepts that a post needs, each with the post that teaches it in the language of the reader."""
    return tuple(_line(ref, here, _teacher(sources, post, ref, here)) for ref in post.needs)


def needed_by_exercise(sources: Sources, exercise: Exercise, here: str) -> tuple[ConceptLine, ...]:
    """Return the concepts that an exercise needs, each with the newest post that teaches it."""
    lines = []
    for ref in exercise.needs:
        concept = sources.concepts.get(concept_key(ref.name))
        teachers = _links(sources, concept.teachers, here) if concept else ()
        lines.append(_line(ref, here, next(iter(teachers), None)))
    return tuple(lines)


def taught(post: Post | Exercise, here: str) -> tuple[ConceptLine, ...]:
    """Return the concepts that a post teaches or an exercise practises."""
    return tuple(_line(ref, here) for ref in post.teaches)


def _line(ref: Ref, here: str, teacher: Link | None = None) -> ConceptLine:
    return ConceptLine(ref.name, relative(f"{CONCEPTS}#{concept_key(ref.name)}", here), teacher)


def _teacher(sources: Sources, post: Post, ref: Ref, here: str) -> Link | None:
    """Return the first post that teaches a concept: in the reading order of the post's series, else the newest."""
    concept = sources.concepts.get(concept_key(ref.name))
    teachers = {one.slug: one for one in concept.teachers if one.slug != post.slug} if concept else {}
    places = sources.linked.series_places.get(post.body.path, ())
    read_before = [ref.name for place in places for ref in place.series.posts if ref.name in teachers]
    slug = next(iter(read_before or teachers), "")
    teacher = sources.post(slug, post.lang) if slug else None
    return Link(teacher.title, relative(sources.post_url(teacher), here)) if teacher else None
