"""Turn a site into its sheets: the files that are printed together, with everything that they depend on.

`sheets` is the registry of page kinds.  The kinds of which a page lists posts, such as the archive, tags and series,
are in `list_rules.py`; feeds, search and redirects are in `discovery_rules.py`; all others are here.

A page is a pure function of what its sheet `shows` (and of templates, versions and the frame, which all share):
equal values give equal bytes.  So whoever kept the values of the build before knows which pages to print again and
why.  What a sheet shows is derived from what its templates receive (`keys`); the parts that are named here say in words
which other posts and lists that comes from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sitegen.model import urls
from sitegen.model.linked import Neighbours, SeriesPlace
from sitegen.model.site import Post, WorklogEntry
from sitegen.render.inputs.sources import Sources
from sitegen.render.rules.dependencies import DAY, Part
from sitegen.render.rules.discovery_rules import cards, feeds, llms, redirects, search
from sitegen.render.rules.keys import Keys
from sitegen.render.rules.list_rules import lists, series_sheets
from sitegen.render.rules.rule import Files, Sheet, Shown, printed, these
from sitegen.render.shared.paging import NEWEST_ON_HOME, on_page, pages_of

if TYPE_CHECKING:
    from sitegen.render.shared.frame import Printer


def sheets(sources: Sources) -> Iterator[Sheet]:
    """Yield the sheets of all pages except the sitemap, which lists them.  A later sheet replaces the files of an
    earlier.
    """
    shown = Shown(sources)
    keys = Keys(shown)
    for kind in (_home, _posts, lists, series_sheets, _kernels, _worklog, _plain, feeds, search, redirects):
        keyed = map(keys.keyed, kind(shown))
        yield from map(_with_twins, keyed) if sources.config.twins else keyed


class PostSheets:
    """Sheets of posts alone, each made when it is asked for."""

    def __init__(self, sources: Sources) -> None:
        self._shown = Shown(sources)
        self._keys = Keys(self._shown)
        self._posts = {urls.output_path(sources.post_url(post)): post for post in reversed(sources.site.posts)}

    def get(self, name: str) -> Sheet | None:
        """Return the sheet of a post by its output path; None where no post has it."""
        post = self._posts.get(name)
        sheet = self._keys.keyed(_post(self._shown, post)) if post else None
        return _with_twins(sheet) if sheet and self._shown.sources.config.twins else sheet


def _with_twins(sheet: Sheet) -> Sheet:
    """Return the sheet with a Markdown twin beside each page that readers are led to."""

    def make(printer: Printer) -> Files:
        from sitegen.render.outputs.markdown_twins import with_twins

        return with_twins(printer, sheet.make(printer), sheet.text)

    return replace(sheet, make=make) if sheet.listed else sheet


def _home(shown: Shown) -> Iterator[Sheet]:
    sources = shown.sources
    worklog, countdown = sources.site.worklog, sources.config.countdown
    doors = [(entry, sources.post(entry.post.name)) for entry in sources.config.entry_points]
    posts = sources.posts_in("")
    shows = [
        shown.cards("the newest posts", posts[:NEWEST_ON_HOME]),
        shown.cards("the posts to begin with", [post for _, post in doors if post]),
        Part("how many posts there are", len(posts)),
        shown.languages,
        *(shown.series(series) for series in sources.site.series),
    ]
    if worklog:
        words = tuple((day.isoformat(), words) for day, words in sources.words_by_day.items())
        shows.append(Part("the worklog", (shown.day(worklog[0]), words), (worklog[0].body.path,)))
    if worklog or countdown:
        shows.append(Part(DAY, sources.as_of.isoformat()))
    make, modified = printed("pages.home", "render_home"), shown.modified(posts[:NEWEST_ON_HOME])
    yield Sheet("index.html", these(*shows), make, measured=bool(sources.site.kernels), modified=modified)
    for lang in [lang for lang in sources.posts_by_language if lang != sources.config.language]:
        posts = sources.posts_in(lang)
        newest = shown.cards("the newest posts", posts[:NEWEST_ON_HOME])
        name = urls.output_path(sources.address(urls.HOME, lang))
        count = Part("how many posts there are", len(posts))
        make, modified = printed("pages.home", "home_in", lang=lang), shown.modified(posts[:NEWEST_ON_HOME])
        yield Sheet(name, these(newest, count, shown.languages), make, modified=modified)


def _posts(shown: Shown) -> Iterator[Sheet]:
    yield from (_post(shown, post) for post in shown.sources.site.posts)


def _post(shown: Shown, post: Post) -> Sheet:
    measured = shown.is_measured(post)
    name = urls.output_path(shown.sources.post_url(post))
    shows, make = partial(_shown_with, shown, post), printed("pages.posts", "post_files", post=post)
    findable = {} if post.draft else {name: "posts"}
    return Sheet(name, shows, make, measured, modified=shown.modified([post]), text=post, found=findable)


def _shown_with(shown: Shown, post: Post) -> tuple[Part, ...]:
    """Return what the page of a post shows of other files."""
    sources, path = shown.sources, post.body.path
    beside = sources.linked.neighbours.get(path, Neighbours())
    return (
        Part("what lists show of it", shown.card(post), (path,)),
        shown.linked("the post after it", beside.next),
        shown.linked("the post before it", beside.previous),
        shown.translations(post),
        shown.cards("the related posts", sources.linked.related.get(path, ())),
        *(part for place in sources.linked.series_places.get(path, ()) for part in _place(shown, place)),
    )


def _place(shown: Shown, place: SeriesPlace) -> Iterator[Part]:
    yield shown.series(place.series)
    yield Part(f"its place in {place.series.id}", (place.phase, place.number, place.total))
    yield shown.linked(f"the next post of {place.series.id}", place.next)
    yield shown.linked(f"the post before it in {place.series.id}", place.previous)


def _kernels(shown: Shown) -> Iterator[Sheet]:
    """Yield the sheets that show nothing but measurements."""
    sources = shown.sources
    if sources.site.kernels:
        using = tuple(
            (name, tuple(map(shown.mention, posts))) for name, posts in sorted(sources.linked.kernel_posts.items())
        )
        shows = these(Part("the posts about kernels", using))
        findable = {urls.output_path(urls.kernel_url(kernel.name)): "kernels" for kernel in sources.site.kernels}
        yield Sheet(urls.KERNELS, shows, printed("pages.kernels", "render_kernels"), measured=True, found=findable)
    if sources.site.kernels or any(sources.document(post.body).cells for post in sources.site.posts):
        yield Sheet(urls.CEILINGS, these(), printed("pages.ceilings", "render_ceilings"), measured=True)


def _worklog(shown: Shown) -> Iterator[Sheet]:
    sources = shown.sources
    entries, intro = sources.site.worklog, sources.site.worklog_intro
    words = Part("how much was written each day", tuple((d.isoformat(), n) for d, n in sources.words_by_day.items()))
    for number in range(1, pages_of(entries) + 1):
        here = on_page(entries, number)
        days = Part("the days", tuple(map(shown.day, here)), tuple(dict.fromkeys(e.body.path for e in here)))
        shows = [days, words, Part("its place in the list", (number, pages_of(entries)))]
        shows.append(Part(DAY, sources.as_of.isoformat()))
        if intro and number == 1:
            shows.append(Part("the introduction", intro.text, (intro.path,)))
        name = urls.output_path(urls.list_page_url(urls.WORKLOG, number))
        yield Sheet(name, these(*shows), printed("pages.worklog", "worklog_list", number=number))
    for at, entry in enumerate(entries):
        month = [(d.isoformat(), n) for d, n in sources.words_by_day.items() if (d.year, d.month) == _month(entry)]
        beside = tuple(e.date.isoformat() for e in (*entries[max(at - 1, 0) : at], *entries[at + 1 : at + 2]))
        shows = [
            Part("the day itself", shown.day(entry), (entry.body.path,)),
            Part("the days beside it", (bool(at), beside)),
            Part("its month", tuple(month)),
        ]
        name = urls.output_path(urls.day_url(entry.date))
        yield Sheet(
            name, these(*shows), printed("pages.worklog", "day_page", at=at), text=entry, found={name: "worklog"}
        )


def _month(entry: WorklogEntry) -> tuple[int, int]:
    return entry.date.year, entry.date.month


def _plain(shown: Shown) -> Iterator[Sheet]:
    """Yield the sheets of pages outside of time, of terms, and of what machines read."""
    sources = shown.sources
    for page in sources.site.pages:
        name = urls.output_path(urls.page_url(page, sources.config))
        yield Sheet(name, these(), printed("pages.small_pages", "text_page", page=page), text=page)
    for term in sources.site.terms:
        using = sources.linked.backlinks.get(urls.term_url(term.slug), ())
        users = Part("the posts that use it", tuple(map(shown.mention, using)), tuple(post.body.path for post in using))
        name = urls.output_path(urls.term_url(term.slug))
        yield Sheet(
            name, these(users), printed("pages.small_pages", "term_page", term=term), text=term, found={name: "terms"}
        )
    if terms := sources.site.terms:
        written = tuple((term.title, term.slug) for term in terms)
        listed = Part("the terms", written, tuple(term.body.path for term in terms))
        yield Sheet(urls.output_path(urls.TERMS), these(listed), printed("pages.small_pages", "term_index"))
    yield Sheet(urls.NOT_FOUND, these(), printed("pages.small_pages", "missing_page"), listed=False)
    yield Sheet("robots.txt", these(), printed("pages.small_pages", "robots"))
    if sources.config.twins:
        yield llms(shown)
    if sources.config.cards:
        yield from cards(shown)
