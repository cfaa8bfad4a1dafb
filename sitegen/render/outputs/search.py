"""Make the search page.  It exists where `site.yaml` says `search: true`.

`search_text.py` takes the words out of other pages, and `search_index.py` makes the index that the page asks.
"""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.model.urls import CATEGORIES, SEARCH, TAGS, TERMS, relative
from sitegen.render.shared.frame import Link, Printer, navigation

_HEADS = {
    "posts": "Posts",
    "worklog": "Worklog",
    "kernels": "Kernels",
    "exercises": "Exercises",
    "terms": "Terms",
    "pages": "Other pages",
}


@dataclass(frozen=True, slots=True)
class SearchKind:
    name: str
    """The kind of page, such as `posts`."""
    text: str


@dataclass(frozen=True, slots=True)
class SearchPage:
    stylesheet: str
    script: str
    finding: str
    """The script that puts what is found in order."""
    kinds: tuple[SearchKind, ...]
    """The kinds that a reader can search alone."""
    lists: tuple[Link, ...]
    """The lists for a reader without JavaScript."""


def search_page(printer: Printer, kinds: tuple[str, ...]) -> tuple[str, str]:
    sources, spoken = printer.sources, printer.language()
    there = {url: text for text, url in navigation(sources, spoken)}
    there |= {CATEGORIES: spoken.say("Categories")} if sources.posts_by_category() else {}
    there |= {TAGS: spoken.say("Tags")} if sources.posts_by_tag() else {}
    there |= {TERMS: spoken.say("Terms")} if sources.site.terms else {}
    page = SearchPage(
        stylesheet=relative(sources.assets["search.css"], SEARCH),
        script=relative(sources.assets["search.js"], SEARCH),
        finding=relative(sources.assets["finding.js"], SEARCH),
        kinds=tuple(SearchKind(k, spoken.say(_HEADS[k])) for k in kinds),
        lists=tuple(Link(text, relative(url, SEARCH)) for url, text in there.items()),
    )
    return printer.page("search.html", SEARCH, page, title=spoken.say("Search"), section=SEARCH)
