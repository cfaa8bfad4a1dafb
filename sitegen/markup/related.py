"""Posts and what they are about → for each the few that are nearest to it.

Posts meet in groups: those of a tag, a kernel, a series.  In each a post looks only at those next to it by date, so
that the work grows as the number of posts does, and a new post changes what few others show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sitegen.model.linked import Neighbours, SeriesPlace
from sitegen.model.site import Post
from sitegen.model.urls import tag_url

SHOWN = 3
_NEAR = 3
"""Posts on either side that are looked at in a group."""
_KERNEL, _SERIES, _TAG = 32, 16, 16
"""What it means to share one; each doubling of the group takes one off, since what many share says little."""


def related(
    posts: Sequence[Post],
    kernel_posts: Mapping[str, Sequence[Post]],
    series_places: Mapping[str, Sequence[SeriesPlace]],
    neighbours: Mapping[str, Neighbours],
) -> dict[str, tuple[Post, ...]]:
    """By a post's path up to SHOWN posts, the nearest first.

    `posts` are those of one language, newest first.  Left out are those that the post leads to anyway, as the one
    before or after it.
    """
    place = {post.body.path: at for at, post in enumerate(posts)}
    scores: list[dict[int, int]] = [{} for _ in posts]
    for weight, group in _groups(posts, kernel_posts, series_places, place):
        _meet(group, weight - len(group).bit_length(), scores)
    found = {}
    for at, post in enumerate(posts):
        known = _known(post, neighbours, series_places)
        near = sorted((-score, abs(other - at), other) for other, score in scores[at].items())
        nearest = [posts[other] for *_, other in near if posts[other].body.path not in known]
        if nearest:
            found[post.body.path] = tuple(nearest[:SHOWN])
    return found


def _groups(
    posts: Sequence[Post],
    kernel_posts: Mapping[str, Sequence[Post]],
    series_places: Mapping[str, Sequence[SeriesPlace]],
    place: Mapping[str, int],
) -> Iterator[tuple[int, list[int]]]:
    """(weight, places of its posts in order)."""
    tags: dict[str, dict[int, None]] = {}
    series: dict[str, list[int]] = {}
    for at, post in enumerate(posts):
        for ref in post.tags:
            tags.setdefault(tag_url(ref.name), {})[at] = None
        for where in series_places.get(post.body.path, ()):
            series.setdefault(where.series.id, []).append(at)
    yield from ((_TAG, list(group)) for group in tags.values())
    yield from ((_SERIES, group) for group in series.values())
    for shown in kernel_posts.values():
        yield _KERNEL, [place[post.body.path] for post in shown if post.body.path in place]


def _meet(group: Sequence[int], weight: int, scores: Sequence[dict[int, int]]) -> None:
    for at, one in enumerate(group):
        for other in group[at + 1 : at + 1 + _NEAR]:
            scores[one][other] = scores[one].get(other, 0) + weight
            scores[other][one] = scores[other].get(one, 0) + weight


def _known(
    post: Post, neighbours: Mapping[str, Neighbours], series_places: Mapping[str, Sequence[SeriesPlace]]
) -> set[str]:
    path = post.body.path
    places: list[Neighbours | SeriesPlace] = [neighbours.get(path, Neighbours()), *series_places.get(path, ())]
    return {one.body.path for beside in places for one in (beside.previous, beside.next) if one}
