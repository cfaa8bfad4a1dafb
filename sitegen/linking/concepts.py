"""Turn the concepts that posts need and teach into an index: who teaches each, who needs it, and its glossary entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sitegen.model.site import Post, Site, Term


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept of the site; the posts are in the order of the site, newest first."""

    name: str
    """The name as the first post in the index writes it."""
    teachers: tuple[Post, ...] = ()
    users: tuple[Post, ...] = ()
    """The posts that need the concept."""
    term: Term | None = None


def concept_key(name: str) -> str:
    """Return the form of a name by which concepts are compared: `Bytes in flight` and `bytes in flight` are one."""
    return "-".join(name.lower().split())


def concepts_of(site: Site, posts: Sequence[Post]) -> Mapping[str, Concept]:
    """Return the concepts that these posts need or teach, by `concept_key`, in alphabetical order."""
    teachers: dict[str, list[Post]] = {}
    users: dict[str, list[Post]] = {}
    names: dict[str, str] = {}
    for post in posts:
        for ref in post.teaches:
            names.setdefault(concept_key(ref.name), ref.name)
            teachers.setdefault(concept_key(ref.name), []).append(post)
        for ref in post.needs:
            names.setdefault(concept_key(ref.name), ref.name)
            users.setdefault(concept_key(ref.name), []).append(post)
    terms = terms_by_key(site) if names else {}
    return {
        key: Concept(names[key], tuple(teachers.get(key, ())), tuple(users.get(key, ())), terms.get(key))
        for key in sorted(names)
    }


def terms_by_key(site: Site) -> Mapping[str, Term]:
    """Return the glossary entries by each of their names: title, aliases, and slug."""
    return {concept_key(name): term for term in site.terms for name in (*term.aliases, term.title, term.slug)}
