"""A site → the sheets that it consists of: what is printed together, and everything that it depends on.

A page is a pure function of what its sheet `shows` (and of templates, versions and the frame, which all share):
equal values give equal bytes.  So whoever kept the values of the build before knows which pages to print again and
why.  This module reads only what links and lists are made of; what prints a page is imported when one is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import blake2b
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sitegen.model import urls
from sitegen.model.linked import Neighbours, SeriesPlace, document_key
from sitegen.model.site import Markdown, Page, Post, Series, Term, WorklogEntry
from sitegen.render import numbers
from sitegen.render.paging import on_page, pages_of
from sitegen.render.parts import DAY, TEXT, Part
from sitegen.render.sources import Sources

if TYPE_CHECKING:
    from sitegen.render.frame import Printer

Files = Mapping[str, str | bytes]
LATEST = 6
"""Posts on the home page."""
NEWEST_OF_CATEGORY = 3
"""Posts on its card."""
FEED_ENTRIES = 20
"""Of the newest: a feed is for news, the archive for the rest."""
KINDS = ("posts", "worklog", "kernels", "terms")
"""Of pages that search finds."""


@dataclass(frozen=True, slots=True)
class Sheet:
    name: str
    """The output path of its page; of several files the folder or the first."""
    shows: tuple[Part, ...]
    make: Callable[[Printer], Files]
    """Content by output path."""
    measured: bool = False
    """Whether it may show a record."""
    listed: bool = True
    """Whether its pages stand in the sitemap."""
    modified: str = ""
    """The day of its last change, as far as its author says one."""
    text: Post | Page | Term | WorklogEntry | None = None
    """What an author wrote for its page."""
    found: Mapping[str, str] = field(default_factory=dict)
    """The pages that search finds, by path, and of which of the `KINDS` each is."""
    slow: bool = False
    """Whether it takes as long as many others, so that no worker should wait for another's."""


def sheets(sources: Sources) -> Iterator[Sheet]:
    """Of all pages, but for the sitemap, which lists them; what comes later stands over what came before."""
    shown = _Shown(sources)
    for kind in (_home, _posts, _lists, _series, _kernels, _worklog, _plain, _feeds, _search, _redirects):
        yield from map(_with_twins, kind(shown)) if sources.config.twins else kind(shown)


class PostSheets:
    """Those of posts alone, each made when it is asked for."""

    def __init__(self, sources: Sources) -> None:
        self._shown = _Shown(sources)
        self._posts = {urls.output_path(sources.post_url(post)): post for post in reversed(sources.site.posts)}

    def get(self, name: str) -> Sheet | None:
        """By its output path."""
        post = self._posts.get(name)
        sheet = _post(self._shown, post) if post else None
        return _with_twins(sheet) if sheet and self._shown.sources.config.twins else sheet


def _with_twins(sheet: Sheet) -> Sheet:
    """Beside each page that readers are led to, the same as Markdown."""

    def make(printer: Printer) -> Files:
        from sitegen.render.twins import with_twins

        return with_twins(printer, sheet.make(printer), sheet.text)

    return replace(sheet, make=make) if sheet.listed else sheet


class _Shown:
    """What sheets have in common, found once."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._cards: dict[str, tuple[str, ...]] = {}
        self._series: dict[str, Part] = {}

    @cached_property
    def measured(self) -> Part:
        return Part("the kernels and their records", digest_of_measured(self.sources), ("kernels/",))

    def file(self, path: str) -> bytes:
        return self.sources.digests.get(path, b"")

    def card(self, post: Post) -> tuple[str, ...]:
        """What a list shows of a post."""
        path = post.body.path
        if path not in self._cards:
            minutes = numbers.minutes(self.sources.document(post.body).words)
            day = self.sources.day_of(post.date).isoformat()
            self._cards[path] = (*self.link(post), day, post.description, str(minutes))
        return self._cards[path]

    def cards(self, what: str, posts: Iterable[Post]) -> Part:
        shown = tuple(posts)
        return Part(what, tuple(map(self.card, shown)), tuple(post.body.path for post in shown))

    def modified(self, posts: Iterable[Post]) -> str:
        """The newest day of these posts, and of their updates."""
        day_of = self.sources.day_of
        return max((day_of(post.updated or post.date).isoformat() for post in posts), default="")

    @property
    def languages(self) -> Part:
        """Those in which there are lists."""
        return Part("the languages", tuple(self.sources.posts_by_language))

    def link(self, post: Post) -> tuple[str, str]:
        return post.title, self.sources.post_url(post)

    def mention(self, post: Post) -> tuple[str, ...]:
        """What a list shows in which of the translations of a post only one stands."""
        return *self.link(post), post.slug, post.lang

    def is_measured(self, post: Post) -> bool:
        return post.body.path in self.sources.kernels_of or bool(self.sources.document(post.body).cells)

    def linked(self, what: str, post: Post | None) -> Part:
        return Part(what, self.link(post) if post else (), (post.body.path,) if post else ())

    def translations(self, post: Post) -> Part:
        """Their URLs, and whether its language has lists of its own."""
        sources = self.sources
        others = sources.translations.get(post.slug, {})
        shown = tuple((lang, sources.post_url(other)) for lang, other in others.items())
        return Part("its translations", shown, tuple(other.body.path for other in others.values()))

    def hrefs(self, text: Markdown) -> Part:
        """Where the links of a text lead."""
        key, hrefs = document_key(text), self.sources.linked.hrefs
        slots = len(self.sources.document(text).slots)
        leads = tuple(hrefs.get((key, index), "") for index in range(slots))
        linked = self.sources.linked
        shown = [linked.images[url] for url in leads if url in linked.images]
        return Part("where its links lead", (*leads, repr((shown, linked.references.get(key)))))

    def series(self, series: Series) -> Part:
        """Its file, and how much of each phase is published."""
        if series.id not in self._series:
            entries = self.sources.entries[series.id]
            shape = tuple(len(phase) for phase in entries)
            path = series.span.path
            self._series[series.id] = Part(f"the series {series.id}", (self.file(path), shape), (path,))
        return self._series[series.id]

    def day(self, entry: WorklogEntry) -> tuple[str, str, int, int]:
        return entry.date.isoformat(), entry.body.text, entry.days_left or 0, self.sources.words_by_day[entry.date]


def digest_of_measured(sources: Sources) -> bytes:
    """Of every file that a measurement shown or its freshness could come from.

    Freshness looks at all records of a GPU, so that one record more may mark those of other kernels as outdated.
    """
    found = blake2b(digest_size=16)
    for path, digest in sorted(sources.digests.items()):  # which were read anew stand in another order
        if path.startswith("kernels/") or "/results/" in path or path.endswith((".py", ".cu", ".cuh", ".h", ".hpp")):
            found.update(path.encode() + digest)
    rich = frozenset(sources.linked.rich)
    for post in (post for post in sources.site.posts if document_key(post.body) in rich):
        if cells := sources.document(post.body).cells:
            found.update(repr([(post.slug, post.folder, cell) for cell in cells]).encode())
    found.update(repr([(k.name, [i.file for i in k.implementations]) for k in sources.site.kernels]).encode())
    return found.digest()


def _printed(module: str, function: str, **given: Any) -> Callable[[Printer], Files]:
    """Prints with a function of one of this room's modules, which is imported when the first of its pages is printed:
    after most edits only one kind of page is.
    """

    def make(printer: Printer) -> Files:
        found = getattr(import_module(f"sitegen.render.{module}"), function)(printer, **given)
        return found if isinstance(found, Mapping) else dict([found])

    return make


def _home(shown: _Shown) -> Iterator[Sheet]:
    sources = shown.sources
    worklog, countdown = sources.site.worklog, sources.config.countdown
    doors = [(entry, sources.post(entry.post.name)) for entry in sources.config.entry_points]
    posts = sources.posts_in("")
    shows = [
        shown.cards("the newest posts", posts[:LATEST]),
        shown.cards("the posts to begin with", [post for _, post in doors if post]),
        Part("how many posts there are", len(posts)),
        shown.languages,
        *(shown.series(series) for series in sources.site.series),
        shown.measured,
    ]
    if worklog:
        words = tuple((day.isoformat(), words) for day, words in sources.words_by_day.items())
        shows.append(Part("the worklog", (shown.day(worklog[0]), words), (worklog[0].body.path,)))
    if worklog or countdown:
        shows.append(Part(DAY, sources.as_of.isoformat()))
    make, modified = _printed("home", "render_home"), shown.modified(posts[:LATEST])
    yield Sheet("index.html", tuple(shows), make, measured=bool(sources.site.kernels), modified=modified)
    for lang in [lang for lang in sources.posts_by_language if lang != sources.config.language]:
        posts = sources.posts_in(lang)
        newest = shown.cards("the newest posts", posts[:LATEST])
        name = urls.output_path(sources.address(urls.HOME, lang))
        count = Part("how many posts there are", len(posts))
        make, modified = _printed("home", "home_in", lang=lang), shown.modified(posts[:LATEST])
        yield Sheet(name, (newest, count, shown.languages), make, modified=modified)


def _posts(shown: _Shown) -> Iterator[Sheet]:
    yield from (_post(shown, post) for post in shown.sources.site.posts)


def _post(shown: _Shown, post: Post) -> Sheet:
    sources, path = shown.sources, post.body.path
    beside = sources.linked.neighbours.get(path, Neighbours())
    measured = shown.is_measured(post)
    shows = [
        Part(TEXT, shown.file(path), (path,)),
        Part("what lists show of it", shown.card(post), (path,)),
        shown.linked("the post after it", beside.next),
        shown.linked("the post before it", beside.previous),
        shown.hrefs(post.body),
        shown.translations(post),
        shown.cards("the related posts", sources.linked.related.get(path, ())),
        *(part for place in sources.linked.series_places.get(path, ()) for part in _place(shown, place)),
    ]
    if measured:
        shows += [shown.measured, Part("its kernels", sources.kernels_of.get(path, ()))]
    name = urls.output_path(sources.post_url(post))
    make = _printed("posts", "post_files", post=post)
    found = {} if post.draft else {name: "posts"}
    return Sheet(name, tuple(shows), make, measured, modified=shown.modified([post]), text=post, found=found)


def _place(shown: _Shown, place: SeriesPlace) -> Iterator[Part]:
    yield shown.series(place.series)
    yield Part(f"its place in {place.series.id}", (place.phase, place.number, place.total))
    yield shown.linked(f"the next post of {place.series.id}", place.next)
    yield shown.linked(f"the post before it in {place.series.id}", place.previous)


def _lists(shown: _Shown) -> Iterator[Sheet]:
    """In each language the archive, the pages of the tags and of the categories, and the lists of both."""
    for lang in shown.sources.posts_by_language:
        yield from _archive(shown, lang)
        yield from _tags(shown, lang)
        yield from _categories(shown, lang)


def _archive(shown: _Shown, lang: str) -> Iterator[Sheet]:
    sources = shown.sources
    posts, url = sources.posts_in(lang), sources.address(urls.POSTS, lang)
    names = Part("the tags and categories", (tuple(sources.posts_by_tag(lang)), tuple(sources.posts_by_category(lang))))
    yield from _list(shown, url, posts, partial(_printed, "posts", "archive_page", lang=lang), names, shown.languages)


def _tags(shown: _Shown, lang: str) -> Iterator[Sheet]:
    sources = shown.sources
    tags = sources.posts_by_tag(lang)
    for tag, posts in tags.items():
        url = sources.address(urls.tag_url(tag), lang)
        yield from _list(
            shown, url, posts, partial(_printed, "posts", "tag_page", lang=lang, tag=tag), Part("the tag", tag)
        )
    if tags:
        counts = Part("how many posts each tag has", tuple((tag, len(posts)) for tag, posts in tags.items()))
        languages = Part("the languages that have tags", tuple(sources.by_tag))
        name = urls.output_path(sources.address(urls.TAGS, lang))
        yield Sheet(name, (counts, languages), _printed("posts", "tags_page", lang=lang))


def _categories(shown: _Shown, lang: str) -> Iterator[Sheet]:
    sources = shown.sources
    categories = sources.posts_by_category(lang)
    for category, posts in categories.items():
        url = sources.address(urls.category_url(category), lang)
        make = partial(_printed, "posts", "category_page", lang=lang, category=category)
        yield from _list(shown, url, posts, make, Part("the category", category))
    if categories:
        newest = [post for posts in categories.values() for post in posts[:NEWEST_OF_CATEGORY]]
        shows = (
            Part("how many posts each category has", tuple((name, len(posts)) for name, posts in categories.items())),
            shown.cards("the newest posts of each", newest),
            Part("the languages that have categories", tuple(sources.by_category)),
        )
        name = urls.output_path(sources.address(urls.CATEGORIES, lang))
        index = _printed("categories", "categories_page", lang=lang)
        yield Sheet(name, shows, index, modified=shown.modified(newest))


def _list(
    shown: _Shown, url: str, posts: Sequence[Post], make: Callable[..., Callable[[Printer], Files]], *also: Part
) -> Iterator[Sheet]:
    """The pages of a list; `make` takes the `number` of one, from 1."""
    for number in range(1, pages_of(posts) + 1):
        here = on_page(posts, number)
        listed = shown.cards("the posts that it lists", here)
        place = Part("its place in the list", (number, pages_of(posts)))
        name = urls.output_path(urls.list_page_url(url, number))
        yield Sheet(name, (listed, place, *also), make(number=number), modified=shown.modified(here))


def _series(shown: _Shown) -> Iterator[Sheet]:
    sources = shown.sources
    found = sources.site.series
    for series in found:
        posts = [entry for phase in sources.entries[series.id] for entry in phase if isinstance(entry, Post)]
        newest = Part("the newest post", sources.posts_in("")[0].slug if sources.posts_in("") else "")
        shows = (shown.series(series), shown.cards("its posts", posts), newest)
        yield Sheet(
            urls.output_path(urls.series_url(series.id)), shows, _printed("series", "series_page", series=series)
        )
    if found:
        yield Sheet(urls.output_path(urls.SERIES), tuple(map(shown.series, found)), _printed("series", "series_index"))


def _kernels(shown: _Shown) -> Iterator[Sheet]:
    """All that shows nothing but measurements."""
    sources = shown.sources
    if sources.site.kernels:
        using = tuple(
            (name, tuple(map(shown.mention, posts))) for name, posts in sorted(sources.linked.kernel_posts.items())
        )
        shows = (shown.measured, Part("the posts about kernels", using))
        found = {urls.output_path(urls.kernel_url(kernel.name)): "kernels" for kernel in sources.site.kernels}
        yield Sheet(urls.KERNELS, shows, _printed("kernels", "render_kernels"), measured=True, found=found)
    if sources.site.kernels or any(sources.document(post.body).cells for post in sources.site.posts):
        yield Sheet(urls.CEILINGS, (shown.measured,), _printed("ceilings", "render_ceilings"), measured=True)


def _worklog(shown: _Shown) -> Iterator[Sheet]:
    sources = shown.sources
    entries, intro = sources.site.worklog, sources.site.worklog_intro
    words = Part("how much was written each day", tuple((d.isoformat(), n) for d, n in sources.words_by_day.items()))
    for number in range(1, pages_of(entries) + 1):
        here = on_page(entries, number)
        days = Part("the days", tuple(map(shown.day, here)), tuple(dict.fromkeys(e.body.path for e in here)))
        shows = [days, words, Part("its place in the list", (number, pages_of(entries)))]
        shows.append(Part(DAY, sources.as_of.isoformat()))
        if intro and number == 1:
            shows += [Part("the introduction", intro.text, (intro.path,)), shown.hrefs(intro)]
        name = urls.output_path(urls.list_page_url(urls.WORKLOG, number))
        yield Sheet(name, tuple(shows), _printed("worklog", "worklog_list", number=number))
    for at, entry in enumerate(entries):
        month = [(d.isoformat(), n) for d, n in sources.words_by_day.items() if (d.year, d.month) == _month(entry)]
        beside = tuple(e.date.isoformat() for e in (*entries[max(at - 1, 0) : at], *entries[at + 1 : at + 2]))
        shows = [
            Part("the day itself", shown.day(entry), (entry.body.path,)),
            Part("the days beside it", (bool(at), beside)),
            Part("its month", tuple(month)),
            shown.hrefs(entry.body),
        ]
        name = urls.output_path(urls.day_url(entry.date))
        yield Sheet(name, tuple(shows), _printed("worklog", "day_page", at=at), text=entry, found={name: "worklog"})


def _month(entry: WorklogEntry) -> tuple[int, int]:
    return entry.date.year, entry.date.month


def _plain(shown: _Shown) -> Iterator[Sheet]:
    """Pages outside of time, terms, and what machines read."""
    sources = shown.sources
    for page in sources.site.pages:
        shows = (Part("the page itself", shown.file(page.body.path), (page.body.path,)), shown.hrefs(page.body))
        name = urls.output_path(urls.page_url(page, sources.config))
        yield Sheet(name, shows, _printed("plain", "text_page", page=page), text=page)
    for term in sources.site.terms:
        using = sources.linked.backlinks.get(urls.term_url(term.slug), ())
        seen = (
            Part("the term itself", shown.file(term.body.path), (term.body.path,)),
            shown.hrefs(term.body),
            Part("the posts that use it", tuple(map(shown.mention, using)), tuple(post.body.path for post in using)),
        )
        name = urls.output_path(urls.term_url(term.slug))
        yield Sheet(name, seen, _printed("plain", "term_page", term=term), text=term, found={name: "terms"})
    if terms := sources.site.terms:
        written = tuple((term.title, term.slug, shown.file(term.body.path)) for term in terms)
        listed = Part("the terms", written, tuple(term.body.path for term in terms))
        yield Sheet(urls.output_path(urls.TERMS), (listed,), _printed("plain", "term_index"))
    yield Sheet(urls.NOT_FOUND, (), _printed("plain", "missing_page"), listed=False)
    yield Sheet("robots.txt", (), _printed("plain", "robots"))
    if sources.config.twins:
        yield _llms(shown)
    if sources.config.cards:
        yield from _cards(shown)


def _cards(shown: _Shown) -> Iterator[Sheet]:
    """Of the home page, which stands for those without one, of posts, pages, series and kernels."""
    sources = shown.sources
    for post in sources.site.posts:
        measured = shown.is_measured(post)
        tags = Part("its tags", tuple(ref.name for ref in post.tags))
        shows = [shown.cards("the post itself", [post]), tags, *([shown.measured] if measured else [])]
        name = urls.card_url(sources.post_url(post))
        yield Sheet(name, tuple(shows), _printed("card", "post_card", post=post), measured, listed=False)
    site, config = sources.site, sources.config
    pages = [(urls.HOME, config.title, config.description)]
    pages += [(urls.page_url(page, config), page.title, page.description) for page in site.pages]
    pages += [(urls.series_url(series.id), series.title, series.tagline) for series in site.series]
    pages += [(urls.kernel_url(kernel.name), kernel.name, kernel.summary) for kernel in site.kernels]
    for url, title, lede in pages:
        make = _printed("card", "page_card", url=url, title=title, lede=lede)
        yield Sheet(urls.card_url(url), (Part("its words", (title, lede)),), make, listed=False)


def _llms(shown: _Shown) -> Sheet:
    site = shown.sources.site
    posts = tuple((*shown.link(post), post.description, post.lang) for post in site.posts)
    others = [(page.title, page.slug, page.description, page.lang) for page in site.pages]
    others += [(one.title, one.id, one.tagline, "") for one in site.series]
    others += [(kernel.name, kernel.summary, "", "") for kernel in site.kernels]
    others += [(term.title, term.slug, "", "") for term in site.terms]
    shows = (Part("the posts", posts), Part("the other pages", (tuple(others), bool(site.worklog))))
    return Sheet("llms.txt", shows, _printed("twins", "llms"), listed=False)


def _feeds(shown: _Shown) -> Iterator[Sheet]:
    sources, kinds = shown.sources, shown.sources.config.feeds
    for lang, posts in sources.posts_by_language.items():
        day = Part(DAY, "" if posts else sources.as_of.isoformat())
        yield _feed(shown, sources.address(urls.FEED, lang), posts, _printed("feeds", "site_feeds", lang=lang), day)
        for tag, tagged in sources.posts_by_tag(lang).items() if "tags" in kinds else ():
            url = f"{sources.address(urls.tag_url(tag), lang)}{urls.FEED}"
            yield _feed(shown, url, tagged, _printed("feeds", "tag_feed", lang=lang, tag=tag), Part("the tag", tag))
    for series in sources.site.series if "series" in kinds else ():
        url, make = f"{urls.series_url(series.id)}{urls.FEED}", _printed("feeds", "series_feed", series=series)
        if listed := sources.posts_of(series):
            yield _feed(shown, url, listed, make, shown.series(series))
    if "worklog" in kinds and (days := sources.site.worklog[:FEED_ENTRIES]):
        texts = Part("the newest days", tuple(map(shown.day, days)), tuple(dict.fromkeys(e.body.path for e in days)))
        shows = (texts, *(shown.hrefs(entry.body) for entry in days))
        yield Sheet(f"{urls.WORKLOG}{urls.FEED}", shows, _printed("feeds", "worklog_feed"), listed=False)


def _feed(shown: _Shown, url: str, posts: Sequence[Post], make: Callable[[Printer], Files], *also: Part) -> Sheet:
    """A feed brings the whole text of its entries."""
    newest = posts[:FEED_ENTRIES]
    paths = tuple(post.body.path for post in newest)
    texts = Part("the newest posts", tuple((shown.file(post.body.path), *shown.link(post)) for post in newest), paths)
    leads = Part("where their links lead", tuple(shown.hrefs(post.body).value for post in newest))
    measured = any(map(shown.is_measured, newest))
    return Sheet(url, (texts, leads, *([shown.measured] if measured else []), *also), make, measured, listed=False)


def _search(shown: _Shown) -> Iterator[Sheet]:
    sources, site = shown.sources, shown.sources.site
    if not sources.config.search:
        return
    there = ([post for post in site.posts if not post.draft], site.worklog, site.kernels, site.terms)
    kinds = tuple(kind for kind, those in zip(KINDS, there, strict=True) if those)
    shows = (Part("what can be searched", (kinds, bool(sources.posts_by_tag()), bool(sources.posts_by_category()))),)
    make = _printed("search", "search_page", kinds=kinds)
    yield Sheet(urls.output_path(urls.SEARCH), shows, make, listed=False)


def _redirects(shown: _Shown) -> Iterator[Sheet]:
    """Nobody should be led there, so they stand in no sitemap.  Hosts that read `_redirects` need no pages."""
    if redirects := tuple(shown.sources.linked.redirects.items()):
        shows = (Part("where all of them lead", redirects),)
        yield Sheet("_redirects", shows, _printed("plain", "redirect_list"), listed=False)
    for alias, url in shown.sources.linked.redirects.items():
        make = _printed("plain", "redirect", alias=alias, url=url)
        yield Sheet(urls.output_path(alias), (Part("where it leads", url),), make, listed=False)


def search_indexes(pages: Mapping[str, tuple[str, bytes]], content: Callable[[str], bytes]) -> Iterator[Sheet]:
    """One of each kind of `pages`: by path the kind, and the digest of what the page shows.  `content` reads a page."""
    by_kind: dict[str, list[tuple[str, bytes]]] = {}
    for path, (kind, digest) in sorted(pages.items()):
        by_kind.setdefault(kind, []).append((path, digest))
    first = next((kind for kind in KINDS if kind in by_kind), "")
    for kind, found in by_kind.items():
        given = {"kind": kind, "pages": [path for path, _ in found], "content": content, "program": kind == first}
        shows = Part("the pages that it finds", (tuple(found), kind == first))
        yield Sheet(urls.search_index_url(kind), (shows,), _printed("search", "index_files", **given), listed=False)


def sitemap(pages: Iterable[tuple[str, str]]) -> Sheet:
    """`pages` are the output paths of all listed sheets' files, each with its sheet's day of change."""
    shown = tuple(sorted(page for page in pages if page[0].endswith(".html")))
    return Sheet(urls.SITEMAP, (Part("the pages", shown),), _printed("plain", "sitemap", pages=shown))
