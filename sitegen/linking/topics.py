"""Report each topic of a series that names a post or an exercise which its phase does not list.

SG028 a topic names what its phase does not list
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sitegen.diagnostics import Diagnostic, near_words
from sitegen.model.site import Phase, Ref, Site


def topic_mistakes(site: Site) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each name of a topic that its phase does not list.

    `site` has all posts, also those that are not published.
    """
    slugs, exercises = {post.slug for post in site.posts}, {one.id for one in site.exercises}
    for phase in (phase for series in site.series for phase in series.phases):
        yield from _strangers("post", _of_posts(phase), [ref.name for ref in phase.posts], slugs)
        written = {*exercises, *(one.id.name for one in phase.exercises if one.title)}
        yield from _strangers("exercise", _of_exercises(phase), [one.id.name for one in phase.exercises], written)


def _of_posts(phase: Phase) -> Iterator[Ref]:
    return (ref for topic in phase.topics for ref in topic.posts)


def _of_exercises(phase: Phase) -> Iterator[Ref]:
    return (ref for topic in phase.topics for ref in topic.exercises)


def _strangers(what: str, refs: Iterator[Ref], listed: Sequence[str], known: Collection[str]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each name that the phase does not list.

    A known name beside a similar one that is unknown is right.  The name in the list of the phase is the mistake then,
    and has a diagnostic of its own (SG207, SG208).
    """
    misspelt = [name for name in listed if name not in known]
    for ref in refs:
        if ref.name not in listed and not (ref.name in known and near_words(ref.name, misspelt)):
            yield _stranger(what, ref, listed, known)


def _stranger(what: str, ref: Ref, listed: Sequence[str], known: Collection[str]) -> Diagnostic:
    near = near_words(ref.name, listed)
    if near and near[0] in known and ref.name not in known:
        hint = f"did you mean `{near[0]}`?"
    elif near:
        hint = f"the phase lists `{near[0]}`: write one name in both places"
    else:
        lists = f"the phase lists {', '.join(listed)}" if listed else f"the phase lists no {what}"
        hint = f"{lists}: take the name out, or put the {what} into the phase" if ref.name in known else lists
    return Diagnostic("SG028", f"unknown {what} of this phase `{ref.name}`", ref.span, hint)
