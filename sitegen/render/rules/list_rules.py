"""Make the sheets that list posts: the archive, tags, categories, series.

`site_rules.py` has the other pages, and `sheets`, which calls the functions of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sitegen.model import urls
from sitegen.model.site import Post, Series
from sitegen.render.inputs.series_questions import question_count
from sitegen.render.rules.dependencies import Dependency
from sitegen.render.rules.sheet import Files, Findable, SharedDependencies, Sheet, fixed_dependencies, print_with
from sitegen.render.shared.paging import NEWEST_OF_CATEGORY, on_page, pages_of

if TYPE_CHECKING:
    from sitegen.render.shared.frame import Printer


def lists(shared: SharedDependencies) -> Iterator[Sheet]:
    """Yield for each language the archive, the pages of its tags and categories, and the lists of both."""
    for lang in shared.sources.posts_by_language:
        yield from _archive(shared, lang)
        yield from _tags(shared, lang)
        yield from _categories(shared, lang)


def _archive(shared: SharedDependencies, lang: str) -> Iterator[Sheet]:
    sources = shared.sources
    posts, url = sources.posts_in(lang), sources.address(urls.POSTS, lang)
    names = Dependency(
        "the tags and categories", (tuple(sources.posts_by_tag(lang)), tuple(sources.posts_by_category(lang)))
    )
    yield from _list(
        shared, url, posts, partial(print_with, "pages.posts", "archive_page", lang=lang), names, shared.languages
    )


def _by_name(
    shared: SharedDependencies, lang: str, what: str, names: Mapping[str, Sequence[Post]], address: Callable[[str], str]
) -> Iterator[Sheet]:
    """Yield the lists of each tag, or of each category."""
    for name, posts in names.items():
        url = shared.sources.address(address(name), lang)
        make = partial(print_with, "pages.posts", f"{what}_page", lang=lang, **{what: name})
        yield from _list(shared, url, posts, make, Dependency(f"the {what}", name))


def _tags(shared: SharedDependencies, lang: str) -> Iterator[Sheet]:
    tags = shared.sources.posts_by_tag(lang)
    yield from _by_name(shared, lang, "tag", tags, urls.tag_url)
    if tags:
        counts = Dependency("the number of posts of each tag", _counts(tags))
        languages = Dependency("the languages that have tags", tuple(shared.sources.by_tag))
        name = urls.output_path(shared.sources.address(urls.TAGS, lang))
        yield Sheet(name, fixed_dependencies(counts, languages), print_with("pages.posts", "tags_page", lang=lang))


def _categories(shared: SharedDependencies, lang: str) -> Iterator[Sheet]:
    categories = shared.sources.posts_by_category(lang)
    yield from _by_name(shared, lang, "category", categories, urls.category_url)
    if categories:
        newest = [post for posts in categories.values() for post in posts[:NEWEST_OF_CATEGORY]]
        dependencies = fixed_dependencies(
            Dependency("the number of posts of each category", _counts(categories)),
            shared.cards("the newest posts of each", newest),
            Dependency("the languages that have categories", tuple(shared.sources.by_category)),
        )
        name = urls.output_path(shared.sources.address(urls.CATEGORIES, lang))
        make = print_with("pages.categories", "categories_page", lang=lang)
        yield Sheet(name, dependencies, make, modified=shared.modified(newest))


def _counts(names: Mapping[str, Sequence[Post]]) -> tuple[tuple[str, int], ...]:
    return tuple((name, len(posts)) for name, posts in names.items())


def _list(
    shared: SharedDependencies,
    url: str,
    posts: Sequence[Post],
    make: Callable[..., Callable[[Printer], Files]],
    *also: Dependency,
) -> Iterator[Sheet]:
    """Yield the pages of a list; `make` takes the `number` of a page, from 1."""
    for number in range(1, pages_of(posts) + 1):
        here = on_page(posts, number)
        listed = shared.cards("the posts that it lists", here)
        place = Dependency("its place in the list", (number, pages_of(posts)))
        name = urls.output_path(urls.list_page_url(url, number))
        yield Sheet(name, fixed_dependencies(listed, place, *also), make(number=number), modified=shared.modified(here))


def series_sheets(shared: SharedDependencies) -> Iterator[Sheet]:
    sources = shared.sources
    listed = sources.site.series
    for series in listed:
        posts = [entry for phase in sources.entries[series.id] for entry in phase if isinstance(entry, Post)]
        newest = Dependency("the newest post", sources.posts_in("")[0].slug if sources.posts_in("") else "")
        kernels = Dependency("the kernels of its posts", tuple(sources.kernels_about(post) for post in posts))
        dependencies = fixed_dependencies(shared.series(series), shared.cards("its posts", posts), newest, kernels)
        yield Sheet(
            urls.output_path(urls.series_url(series.id)),
            dependencies,
            print_with("pages.series_page", "series_page", series=series),
            measured=bool(sources.site.kernels),
            found={urls.output_path(urls.series_url(series.id)): Findable("pages")},
        )
        if sources.config.whole_series:
            yield from _of_all_posts(shared, series, posts)
    if listed:
        yield Sheet(
            urls.output_path(urls.SERIES),
            fixed_dependencies(*map(shared.series, listed)),
            print_with("pages.series", "series_index"),
        )


def _of_all_posts(shared: SharedDependencies, series: Series, posts: Sequence[Post]) -> Iterator[Sheet]:
    """Yield the page with all texts of a series, and the page with all its questions.

    The first does not stand in the sitemap, because the pages of the posts have the same content.
    """
    dependencies = fixed_dependencies(shared.series(series), shared.cards("its posts", posts))
    measured = any(map(shared.is_measured, posts))
    if posts:
        make = print_with("outputs.series_text", "series_text_files", series=series)
        name = urls.output_path(urls.series_text_url(series.id))
        yield Sheet(name, dependencies, make, measured=measured, listed=False)
    if question_count(shared.sources, series):
        make = print_with("outputs.series_review", "review_files", series=series)
        name = urls.output_path(urls.series_review_url(series.id))
        yield Sheet(name, dependencies, make, measured=measured)
