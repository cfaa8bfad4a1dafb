"""Find the posts of a series in its order, and their questions and those of the worklog."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator

from sitegen.model.quiz import QUIZZES, Quiz
from sitegen.model.site import Post, Series, WorklogEntry
from sitegen.model.urls import kernel_url
from sitegen.render.inputs.sources import Sources


def posts_in_order(sources: Sources, series: Series) -> tuple[Post, ...]:
    """Return each published post of a series once, in the order of the series."""
    entries = [entry for phase in sources.entries[series.id] for entry in phase if isinstance(entry, Post)]
    return tuple({post.slug: post for post in reversed(entries)}.values())[::-1]


def quizzes_of(sources: Sources, post: Post) -> tuple[Quiz, ...]:
    """Return the questions in the text of a post, in order."""
    return tuple(sources.document(post.body).kept.get(QUIZZES, ()))


def asked_in_worklog(sources: Sources, series: Series) -> Iterator[tuple[WorklogEntry, str, str]]:
    """Yield the answered questions of the days that worked on a post or a kernel of the series.

    A kernel is of the series whose post shows it first, so that a series that compares its kernels with those of an
    earlier one does not ask the questions of the earlier one again.  An entry has no private lines: `read` removes
    them before it looks for questions.
    """
    posts = posts_in_order(sources, series)
    pages = [*map(sources.post_url, posts), *map(kernel_url, _kernels_shown_first(sources, posts))]
    days = {day for url in pages for day in sources.linked.worked_on.get(url, ())}
    for entry in sources.site.worklog:
        if entry.date in days:
            yield from ((entry, question, answer) for question, answer in entry.questions if answer.strip())


def _kernels_shown_first(sources: Sources, posts: Iterable[Post]) -> Iterator[str]:
    """Yield the kernels that no post of any series shows on an earlier day than `posts`."""
    every = [post for series in sources.site.series for post in posts_in_order(sources, series)]
    first = _first_days(sources, every)
    return (name for name, day in _first_days(sources, posts).items() if day == first[name])


def _first_days(sources: Sources, posts: Iterable[Post]) -> dict[str, dt.date]:
    """Return the day of the oldest post that shows a kernel, by the kernel's name."""
    newest_first = sorted(posts, key=lambda post: sources.day_of(post.date), reverse=True)
    return {
        name: sources.day_of(post.date) for post in newest_first for name in sources.kernels_of.get(post.body.path, ())
    }


def question_count(sources: Sources, series: Series) -> int:
    """Return the number of questions of a series: those of its posts, and the answered ones of its worklog days."""
    of_posts = sum(len(quizzes_of(sources, post)) for post in posts_in_order(sources, series))
    return of_posts + sum(1 for _ in asked_in_worklog(sources, series))
