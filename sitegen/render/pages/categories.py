"""Print the list of categories in a language: a card for each, with its newest posts."""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.model.urls import CATEGORIES, POSTS, category_url, relative
from sitegen.render.pages.posts import PostLine, post_line
from sitegen.render.shared.frame import Link, Printer
from sitegen.render.shared.paging import NEWEST_OF_CATEGORY
from sitegen.render.shared.structured import About


@dataclass(frozen=True, slots=True)
class CategoryCard:
    category: Link
    count: str
    """The number of posts in words: `3 posts`."""
    newest: tuple[PostLine, ...]


@dataclass(frozen=True, slots=True)
class CategoryIndex:
    cards: tuple[CategoryCard, ...]


def categories_page(printer: Printer, lang: str) -> tuple[str, str]:
    sources, spoken = printer.sources, printer.language(lang)
    here, title = sources.address(CATEGORIES, lang), spoken.say("Categories")
    cards = tuple(
        CategoryCard(
            Link(category, relative(sources.address(category_url(category), lang), here)),
            spoken.posts(len(posts)),
            tuple(post_line(sources, post, here, spoken) for post in posts[:NEWEST_OF_CATEGORY]),
        )
        for category, posts in sources.posts_by_category(lang).items()
    )
    section = sources.address(POSTS, lang)
    about = About(("CollectionPage",), versions=sources.versions(CATEGORIES, sources.by_category))
    index = CategoryIndex(cards)
    return printer.page("categories.html", here, index, title=title, section=section, lang=lang, about=about)
