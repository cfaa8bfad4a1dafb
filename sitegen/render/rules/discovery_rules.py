"""Make the sheets with which readers and programs find pages: feeds, cards, search and its indexes, lists for programs,
redirects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from sitegen.model import urls
from sitegen.model.site import Post
from sitegen.render.rules.dependencies import DAY, Dependency
from sitegen.render.rules.sheet import Files, SharedDependencies, Sheet, fixed_dependencies, print_with
from sitegen.render.shared.paging import FEED_ENTRIES

if TYPE_CHECKING:
    from sitegen.render.shared.frame import Printer

KINDS = ("posts", "worklog", "kernels", "exercises", "terms", "pages")
"""The kinds of pages that search finds."""


def cards(shared: SharedDependencies) -> Iterator[Sheet]:
    """Yield the cards of posts, pages, series, exercises and kernels, and that of the home page, which serves all other
    pages.
    """
    sources = shared.sources
    for post in sources.site.posts:
        measured = shared.is_measured(post)
        tags = Dependency("its tags", tuple(ref.name for ref in post.tags))
        dependencies = [shared.cards("the post itself", [post]), tags]
        name = urls.card_url(sources.post_url(post))
        yield Sheet(
            name,
            fixed_dependencies(*dependencies),
            print_with("outputs.cards", "post_card", post=post),
            measured,
            listed=False,
        )
    site, config = sources.site, sources.config
    pages = [(urls.HOME, config.title, config.description)]
    pages += [(urls.page_url(page, config), page.title, page.description) for page in site.pages]
    pages += [(urls.series_url(series.id), series.title, series.tagline) for series in site.series]
    pages += [(urls.exercise_url(one.id), one.title, one.description) for one in site.exercises]
    pages += [(urls.kernel_url(kernel.name), kernel.name, kernel.summary) for kernel in site.kernels]
    for url, title, lede in pages:
        make = print_with("outputs.cards", "page_card", url=url, title=title, lede=lede)
        yield Sheet(
            urls.card_url(url),
            fixed_dependencies(Dependency("its title and description", (title, lede))),
            make,
            listed=False,
        )


def llms(shared: SharedDependencies) -> Sheet:
    site = shared.sources.site
    posts = tuple((*shared.link(post), post.description, post.lang) for post in site.posts)
    others = [(page.title, page.slug, page.description, page.lang) for page in site.pages]
    others += [(one.title, one.id, one.tagline, "") for one in site.series]
    others += [(kernel.name, kernel.summary, "", "") for kernel in site.kernels]
    others += [(one.title, one.id, one.description, "") for one in site.exercises]
    others += [(term.title, term.slug, "", "") for term in site.terms]
    dependencies = fixed_dependencies(
        Dependency("the posts", posts), Dependency("the other pages", (tuple(others), bool(site.worklog)))
    )
    return Sheet("llms.txt", dependencies, print_with("outputs.markdown_twins", "llms"), listed=False)


def feeds(shared: SharedDependencies) -> Iterator[Sheet]:
    sources, kinds = shared.sources, shared.sources.config.feeds
    for lang, posts in sources.posts_by_language.items():
        day = [] if posts else [Dependency(DAY, sources.as_of.isoformat())]
        yield _feed(
            shared, sources.address(urls.FEED, lang), posts, print_with("outputs.feeds", "site_feeds", lang=lang), *day
        )
        for tag, tagged in sources.posts_by_tag(lang).items() if "tags" in kinds else ():
            url = f"{sources.address(urls.tag_url(tag), lang)}{urls.FEED}"
            yield _feed(
                shared,
                url,
                tagged,
                print_with("outputs.feeds", "tag_feed", lang=lang, tag=tag),
                Dependency("the tag", tag),
            )
    for series in sources.site.series if "series" in kinds else ():
        url, make = (
            f"{urls.series_url(series.id)}{urls.FEED}",
            print_with("outputs.feeds", "series_feed", series=series),
        )
        if listed := sources.posts_of(series):
            yield _feed(shared, url, listed, make, shared.series(series))
    if "worklog" in kinds and (days := sources.site.worklog[:FEED_ENTRIES]):
        texts = Dependency(
            "the newest days", tuple(map(shared.day, days)), tuple(dict.fromkeys(e.body.path for e in days))
        )
        yield Sheet(
            f"{urls.WORKLOG}{urls.FEED}",
            fixed_dependencies(texts),
            print_with("outputs.feeds", "worklog_feed"),
            listed=False,
        )


def _feed(
    shared: SharedDependencies, url: str, posts: Sequence[Post], make: Callable[[Printer], Files], *also: Dependency
) -> Sheet:
    """Return the sheet of a feed, which has the whole text of its entries."""
    newest = posts[:FEED_ENTRIES]
    measured = any(map(shared.is_measured, newest))
    return Sheet(url, fixed_dependencies(shared.cards("the newest posts", newest), *also), make, measured, listed=False)


def search(shared: SharedDependencies) -> Iterator[Sheet]:
    sources, site = shared.sources, shared.sources.site
    if not sources.config.search:
        return
    posts, pages = [post for post in site.posts if not post.draft], (*site.pages, *site.series)
    there = (posts, site.worklog, site.kernels, site.exercises, site.terms, pages)
    kinds = tuple(kind for kind, those in zip(KINDS, there, strict=True) if those)
    dependencies = fixed_dependencies(
        Dependency(
            "the kinds of pages that search finds",
            (kinds, bool(sources.posts_by_tag()), bool(sources.posts_by_category())),
        )
    )
    make = print_with("outputs.search", "search_page", kinds=kinds)
    yield Sheet(urls.output_path(urls.SEARCH), dependencies, make, listed=False)


def redirects(shared: SharedDependencies) -> Iterator[Sheet]:
    """Yield the pages of old addresses, and their list.  The sitemap has neither.  Hosts that read `_redirects` do not
    need the pages.
    """
    if redirects := tuple(shared.sources.linked.redirects.items()):
        dependencies = fixed_dependencies(Dependency("the targets of all redirects", redirects))
        yield Sheet("_redirects", dependencies, print_with("pages.small_pages", "redirect_list"), listed=False)
    for alias, url in shared.sources.linked.redirects.items():
        make = print_with("pages.small_pages", "redirect", alias=alias, url=url)
        yield Sheet(
            urls.output_path(alias),
            fixed_dependencies(Dependency("the target of the redirect", url)),
            make,
            listed=False,
        )


def sitemap(pages: Iterable[tuple[str, str]]) -> Sheet:
    """Return the sheet of the sitemap.  `pages` are the output paths of all listed sheets' files, each with its sheet's
    day of change.
    """
    shared = tuple(sorted(page for page in pages if page[0].endswith(".html")))
    return Sheet(
        urls.SITEMAP,
        fixed_dependencies(Dependency("the pages", shared)),
        print_with("pages.small_pages", "sitemap", pages=shared),
    )
