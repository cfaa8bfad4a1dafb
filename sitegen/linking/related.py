"""Choose for each post the few posts that are nearest to it in subject.

Posts share groups: a tag, a kernel, a series.  In each group a post is compared only with its neighbours by date.  So
the work grows linearly with the number of posts, and a new post changes the lists of few others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from sitegen.model.linked import Neighbours, SeriesPlace
from sitegen.model.site import Post
from sitegen.model.urls import tag_url

SHOWN = 3
_NEAR = 3
"""The number of posts on either side that a post is compared with in a group."""
_KERNEL, _SERIES, _TAG = 32, 16, 16
"""The scores of sharing a group; each doubling of the group takes one off, because a large group says little."""


class Related(Mapping[str, tuple[Post, ...]]):
    """The related posts of each post by its path, at most SHOWN, the nearest first; computed at the first access.

    `languages` are the posts of each language, newest first; only posts of one language are related.  Posts that the
    post links to anyway, such as the one before or after it, are left out.
    """

    def __init__(
        self,
        languages: Collection[Sequence[Post]],
        kernel_posts: Mapping[str, Sequence[Post]],
        series_places: Mapping[str, Sequence[SeriesPlace]],
        neighbours: Mapping[str, Neighbours],
    ) -> None:
        self._languages, self._kernel_posts = languages, kernel_posts
        self._series_places, self._neighbours = series_places, neighbours
        self._posts = [post for posts in languages for post in posts]
        self._place = {post.body.path: at for at, post in enumerate(self._posts)}
        self._nearest_by_path: dict[str, tuple[Post, ...]] = {}

    @cached_property
    def _meetings(self) -> list[list[tuple[int, list[int], int]]]:
        """The groups of each post: the group's score, the indices of its posts, and the post's index among them."""
        items: list[list[tuple[int, list[int], int]]] = [[] for _ in self._posts]
        for posts in self._languages:
            for weight, paths in _groups(posts, self._kernel_posts, self._series_places):
                group = [self._place[path] for path in paths]
                for index, at in enumerate(group):
                    items[at].append((weight - len(group).bit_length(), group, index))
        return items

    def __getitem__(self, path: str) -> tuple[Post, ...]:
        if path not in self._nearest_by_path:
            self._nearest_by_path[path] = self._nearest(path)
        return self._nearest_by_path[path]

    def _nearest(self, path: str) -> tuple[Post, ...]:
        at = self._place[path]
        known = self._known(path)
        near = sorted((-score, abs(other - at), other) for other, score in self._scores(at).items())
        return tuple(islice((one for *_, other in near if (one := self._posts[other]).body.path not in known), SHOWN))

    def __iter__(self) -> Iterator[str]:
        return iter(self._place)

    def __len__(self) -> int:
        return len(self._place)

    def _scores(self, at: int) -> dict[int, int]:
        scores: dict[int, int] = {}
        for weight, group, index in self._meetings[at]:
            for other in (*group[max(0, index - _NEAR) : index], *group[index + 1 : index + 1 + _NEAR]):
                scores[other] = scores.get(other, 0) + weight
        return scores

    def _known(self, path: str) -> set[str]:
        places: list[Neighbours | SeriesPlace] = [self._neighbours.get(path, Neighbours())]
        places += self._series_places.get(path, ())
        return {one.body.path for beside in places for one in (beside.previous, beside.next) if one}


def _groups(
    posts: Sequence[Post],
    kernel_posts: Mapping[str, Sequence[Post]],
    series_places: Mapping[str, Sequence[SeriesPlace]],
) -> Iterator[tuple[int, list[str]]]:
    """Yield the score of each group and the paths of its posts, in their order."""
    tags: dict[str, dict[str, None]] = {}
    series: dict[str, list[str]] = {}
    for post in posts:
        for ref in post.tags:
            tags.setdefault(tag_url(ref.name), {})[post.body.path] = None
        for where in series_places.get(post.body.path, ()):
            series.setdefault(where.series.id, []).append(post.body.path)
    yield from ((_TAG, list(group)) for group in tags.values())
    yield from ((_SERIES, group) for group in series.values())
    own = {post.body.path for post in posts}
    for shown in kernel_posts.values():
        yield _KERNEL, [post.body.path for post in shown if post.body.path in own]
