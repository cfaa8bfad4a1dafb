"""Make the sheets that list posts: the archive, tags, categories, series.

`site_rules.py` has the other pages, and `sheets`, which calls the functions of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sitegen.model import urls
from sitegen.model.site import Post
from sitegen.render.rules.dependencies import Part
from sitegen.render.rules.rule import Files, Sheet, Shown, printed, these
from sitegen.render.shared.paging import NEWEST_OF_CATEGORY, on_page, pages_of

if TYPE_CHECKING:
    from sitegen.render.shared.frame import Printer


def lists(shown: Shown) -> Iterator[Sheet]:
    """Yield for each language the archive, the pages of its tags and categories, and the lists of both."""
    for lang in shown.sources.posts_by_language:
        yield from _archive(shown, lang)
        yield from _tags(shown, lang)
        yield from _categories(shown, lang)


def _archive(shown: Shown, lang: str) -> Iterator[Sheet]:
    sources = shown.sources
    posts, url = sources.posts_in(lang), sources.address(urls.POSTS, lang)
    names = Part("the tags and categories", (tuple(sources.posts_by_tag(lang)), tuple(sources.posts_by_category(lang))))
    yield from _list(
        shown, url, posts, partial(printed, "pages.posts", "archive_page", lang=lang), names, shown.languages
    )


def _by_name(
    shown: Shown, lang: str, what: str, names: Mapping[str, Sequence[Post]], address: Callable[[str], str]
) -> Iterator[Sheet]:
    """Yield the lists of each tag, or of each category."""
    for name, posts in names.items():
        url = shown.sources.address(address(name), lang)
        make = partial(printed, "pages.posts", f"{what}_page", lang=lang, **{what: name})
        yield from _list(shown, url, posts, make, Part(f"the {what}", name))


def _tags(shown: Shown, lang: str) -> Iterator[Sheet]:
    tags = shown.sources.posts_by_tag(lang)
    yield from _by_name(shown, lang, "tag", tags, urls.tag_url)
    if tags:
        counts = Part("how many posts each tag has", _counts(tags))
        languages = Part("the languages that have tags", tuple(shown.sources.by_tag))
        name = urls.output_path(shown.sources.address(urls.TAGS, lang))
        yield Sheet(name, these(counts, languages), printed("pages.posts", "tags_page", lang=lang))


def _categories(shown: Shown, lang: str) -> Iterator[Sheet]:
    categories = shown.sources.posts_by_category(lang)
    yield from _by_name(shown, lang, "category", categories, urls.category_url)
    if categories:
        newest = [post for posts in categories.values() for post in posts[:NEWEST_OF_CATEGORY]]
        shows = these(
            Part("how many posts each category has", _counts(categories)),
            shown.cards("the newest posts of each", newest),
            Part("the languages that have categories", tuple(shown.sources.by_category)),
        )
        name = urls.output_path(shown.sources.address(urls.CATEGORIES, lang))
        make = printed("pages.categories", "categories_page", lang=lang)
        yield Sheet(name, shows, make, modified=shown.modified(newest))


def _counts(names: Mapping[str, Sequence[Post]]) -> tuple[tuple[str, int], ...]:
    return tuple((name, len(posts)) for name, posts in names.items())


def _list(
    shown: Shown, url: str, posts: Sequence[Post], make: Callable[..., Callable[[Printer], Files]], *also: Part
) -> Iterator[Sheet]:
    """Yield the pages of a list; `make` takes the `number` of a page, from 1."""
    for number in range(1, pages_of(posts) + 1):
        here = on_page(posts, number)
        listed = shown.cards("the posts that it lists", here)
        place = Part("its place in the list", (number, pages_of(posts)))
        name = urls.output_path(urls.list_page_url(url, number))
        yield Sheet(name, these(listed, place, *also), make(number=number), modified=shown.modified(here))


def series_sheets(shown: Shown) -> Iterator[Sheet]:
    sources = shown.sources
    listed = sources.site.series
    for series in listed:
        posts = [entry for phase in sources.entries[series.id] for entry in phase if isinstance(entry, Post)]
        newest = Part("the newest post", sources.posts_in("")[0].slug if sources.posts_in("") else "")
        shows = these(shown.series(series), shown.cards("its posts", posts), newest)
        yield Sheet(
            urls.output_path(urls.series_url(series.id)), shows, printed("pages.series", "series_page", series=series)
        )
    if listed:
        yield Sheet(
            urls.output_path(urls.SERIES),
            these(*map(shown.series, listed)),
            printed("pages.series", "series_index"),
        )
