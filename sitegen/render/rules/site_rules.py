"""Turn a site into its sheets: the files that are printed together, and everything that they depend on.

`sheets` is the registry of page kinds.  The kinds of which a page lists posts, such as the archive, tags and series,
are in `list_rules.py`; feeds, search and redirects are in `discovery_rules.py`; all others are here.

A page is a pure function of what its sheet `shows`, and of templates, versions and the frame, which all pages share:
equal values give equal bytes.  A build that kept the values of the build before therefore knows which pages to print
again, and why.  Most dependencies are derived from the values that the templates receive (`keys`).  Those that are
named here say in words which other posts and lists the values come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sitegen.model import urls
from sitegen.model.dates import periods_of
from sitegen.model.linked import Neighbours, SeriesPlace
from sitegen.model.site import Post
from sitegen.read.worklog_tasks import TaskThread
from sitegen.render.figures.inline_charts import level
from sitegen.render.inputs.sources import Sources
from sitegen.render.rules.dependencies import DAY, Dependency
from sitegen.render.rules.discovery_rules import cards, feeds, llms, redirects, search
from sitegen.render.rules.download_rules import downloads
from sitegen.render.rules.keys import Keys
from sitegen.render.rules.list_rules import lists, series_sheets
from sitegen.render.rules.sheet import Files, Findable, SharedDependencies, Sheet, fixed_dependencies, print_with
from sitegen.render.shared.paging import NEWEST_ON_HOME, on_page, pages_of

if TYPE_CHECKING:
    from sitegen.render.shared.frame import Printer


def sheets(sources: Sources) -> Iterator[Sheet]:
    """Yield the sheets of all pages except the sitemap, which lists them.  A later sheet replaces the files of an
    earlier one.
    """
    shared = SharedDependencies(sources)
    keys = Keys(shared)
    pages = (_home, _posts, lists, series_sheets, _exercises, _kernels, downloads, _worklog, _plain)
    for kind in (*pages, feeds, search, redirects):
        keyed = map(keys.keyed, kind(shared))
        yield from map(_with_twins, keyed) if sources.config.twins else keyed


class PostSheets:
    """The sheets of posts alone, each made when it is asked for."""

    def __init__(self, sources: Sources) -> None:
        self._shared = SharedDependencies(sources)
        self._keys = Keys(self._shared)
        self._posts = {urls.output_path(sources.post_url(post)): post for post in reversed(sources.site.posts)}

    def get(self, name: str) -> Sheet | None:
        """Return the sheet of the post at an output path; None when there is no such post."""
        post = self._posts.get(name)
        sheet = self._keys.keyed(_post(self._shared, post)) if post else None
        return _with_twins(sheet) if sheet and self._shared.sources.config.twins else sheet


def _with_twins(sheet: Sheet) -> Sheet:
    """Return the sheet with a Markdown twin beside each of its pages, if the sitemap lists them."""

    def make(printer: Printer) -> Files:
        from sitegen.render.outputs.markdown_twins import with_twins

        return with_twins(printer, sheet.make(printer), sheet.text)

    return replace(sheet, make=make) if sheet.listed else sheet


def _home(shared: SharedDependencies) -> Iterator[Sheet]:
    sources = shared.sources
    worklog, countdown = sources.site.worklog, sources.config.countdown
    doors = [(entry, sources.post(entry.post.name)) for entry in sources.config.entry_points]
    posts = sources.posts_in("")
    dependencies = [
        shared.cards("the newest posts", posts[:NEWEST_ON_HOME]),
        shared.cards("the posts to begin with", [post for _, post in doors if post]),
        Dependency("the number of posts", len(posts)),
        shared.languages,
        *(shared.series(series) for series in sources.site.series),
    ]
    if worklog:
        words = tuple((day.isoformat(), words) for day, words in sources.words_by_day.items())
        dependencies.append(Dependency("the worklog", (shared.day(worklog[0]), words), (worklog[0].body.path,)))
    if worklog or countdown:
        dependencies.append(Dependency(DAY, sources.as_of.isoformat()))
    make, modified = print_with("pages.home", "render_home"), shared.modified(posts[:NEWEST_ON_HOME])
    yield Sheet(
        "index.html", fixed_dependencies(*dependencies), make, measured=bool(sources.site.kernels), modified=modified
    )
    for lang in [lang for lang in sources.posts_by_language if lang != sources.config.language]:
        posts = sources.posts_in(lang)
        newest = shared.cards("the newest posts", posts[:NEWEST_ON_HOME])
        name = urls.output_path(sources.address(urls.HOME, lang))
        count = Dependency("the number of posts", len(posts))
        make, modified = print_with("pages.home", "home_in", lang=lang), shared.modified(posts[:NEWEST_ON_HOME])
        yield Sheet(name, fixed_dependencies(newest, count, shared.languages), make, modified=modified)


def _posts(shared: SharedDependencies) -> Iterator[Sheet]:
    yield from (_post(shared, post) for post in shared.sources.site.posts)


def _post(shared: SharedDependencies, post: Post) -> Sheet:
    measured = shared.is_measured(post)
    name = urls.output_path(shared.sources.post_url(post))
    dependencies, make = partial(_shown_with, shared, post), print_with("pages.posts", "post_files", post=post)
    titles = partial(_translated_titles, shared.sources, post)
    findable = {} if post.draft else {name: Findable("posts", post.lang, titles)}
    return Sheet(name, dependencies, make, measured, modified=shared.modified([post]), text=post, found=findable)


def _translated_titles(sources: Sources, post: Post) -> tuple[str, ...]:
    return tuple(one.title for one in sources.translations.get(post.slug, {}).values() if one is not post)


def _shown_with(shared: SharedDependencies, post: Post) -> tuple[Dependency, ...]:
    """Return the dependencies of a post's page on other files."""
    sources, path = shared.sources, post.body.path
    beside = sources.linked.neighbours.get(path, Neighbours())
    return (
        Dependency("its entry in lists", shared.card(post), (path,)),
        shared.linked("the post after it", beside.next),
        shared.linked("the post before it", beside.previous),
        shared.translations(post),
        shared.cards("the related posts", sources.linked.related.get(path, ())),
        *(part for place in sources.linked.series_places.get(path, ()) for part in _place(shared, place)),
    )


def _place(shared: SharedDependencies, place: SeriesPlace) -> Iterator[Dependency]:
    yield shared.series(place.series)
    yield Dependency(f"its place in {place.series.id}", (place.phase, place.number, place.total))
    yield shared.linked(f"the next post of {place.series.id}", place.next)
    yield shared.linked(f"the post before it in {place.series.id}", place.previous)


def _kernels(shared: SharedDependencies) -> Iterator[Sheet]:
    """Yield the sheets that show only measurements."""
    sources = shared.sources
    if sources.site.kernels:
        using = tuple(
            (name, tuple(map(shared.mention, posts))) for name, posts in sorted(sources.linked.kernel_posts.items())
        )
        about = tuple((kernel.name, _days_of(sources, urls.kernel_url(kernel.name))) for kernel in sources.site.kernels)
        dependencies = fixed_dependencies(
            Dependency("the posts about kernels", using), Dependency("the days of the worklog about kernels", about)
        )
        kernels = [urls.output_path(urls.kernel_url(kernel.name)) for kernel in sources.site.kernels]
        findable = dict.fromkeys(kernels, Findable("kernels"))
        yield Sheet(
            urls.KERNELS, dependencies, print_with("pages.kernels", "render_kernels"), measured=True, found=findable
        )
        for name, page in (("records", "records_page"), ("predictions", "predictions_page")):
            sheet = urls.output_path(f"{name}/")
            yield Sheet(sheet, dependencies, print_with(f"pages.{name}", page), measured=True)
    for kernel in sources.site.kernels:
        make = print_with("pages.machine_code", "render_machine_code", kernel=kernel)
        yield Sheet(urls.code_folder(kernel.name), fixed_dependencies(), make, measured=True, listed=False)
    if sources.site.kernels or any(sources.document(post.body).cells for post in sources.site.posts):
        gpus = sources.evidence.records.gpus() if sources.config.search else ()
        findable = {
            urls.output_path(urls.ceilings_url(gpu)): Findable("pages", names=partial(tuple, (f"ceilings {gpu}",)))
            for gpu in gpus
        }
        make = print_with("pages.ceilings", "render_ceilings")
        yield Sheet(urls.CEILINGS, fixed_dependencies(), make, measured=True, found=findable)


def _exercises(shared: SharedDependencies) -> Iterator[Sheet]:
    """Yield the page of each exercise with its starter, and the list of exercises."""
    for exercise in shared.sources.site.exercises:
        name = urls.output_path(urls.exercise_url(exercise.id))
        make = print_with("pages.exercises", "exercise_page", exercise=exercise)
        starter = Dependency("the starter", shared.file(exercise.starter), (exercise.starter,))
        yield Sheet(name, fixed_dependencies(starter), make, measured=True, found={name: Findable("exercises")})
    if shared.sources.site.exercises:
        make = print_with("pages.exercises", "exercise_index")
        yield Sheet(urls.output_path(urls.EXERCISES), fixed_dependencies(), make)


def _days_of(sources: Sources, url: str) -> tuple[str, ...]:
    return tuple(day.isoformat() for day in sources.linked.worked_on.get(url, ()))


def _worklog(shared: SharedDependencies) -> Iterator[Sheet]:
    sources = shared.sources
    entries, intro = sources.site.worklog, sources.site.worklog_intro
    words = Dependency(
        "the number of words of each day", tuple((d.isoformat(), n) for d, n in sources.words_by_day.items())
    )
    for number in range(1, pages_of(entries) + 1):
        here = on_page(entries, number)
        days = Dependency("the days", tuple(map(shared.day, here)), tuple(dict.fromkeys(e.body.path for e in here)))
        dependencies = [days, Dependency("its place in the list", (number, pages_of(entries)))]
        dependencies += [words] if number == 1 else []
        dependencies.append(Dependency(DAY, sources.as_of.isoformat()))
        if intro and number == 1:
            dependencies.append(Dependency("the introduction", intro.text, (intro.path,)))
        name = urls.output_path(urls.list_page_url(urls.WORKLOG, number))
        make = print_with("pages.worklog", "worklog_list", number=number)
        measured = number == 1 and bool(sources.site.kernels)
        yield Sheet(name, fixed_dependencies(*dependencies), make, measured)
    yield from _tasks(shared)
    yield from _links(shared)
    yield from _periods(shared)
    for at, entry in enumerate(entries):
        name = urls.output_path(urls.day_url(entry.date))
        yield Sheet(
            name,
            partial(_shown_with_day, sources, at),
            print_with("pages.worklog", "day_page", at=at),
            measured=bool(sources.site.kernels),
            text=entry,
            found={name: Findable("worklog")},
        )


def _shown_with_day(sources: Sources, at: int) -> tuple[Dependency, ...]:
    """Return the dependencies of a day's page on the other days."""
    entries = sources.site.worklog
    entry, of_month = entries[at], sources.days_of_period[periods_of(entries[at].date)[1]]
    month = [(one.date.isoformat(), level(sources.words_by_day[one.date])) for one in of_month]
    beside = tuple(e.date.isoformat() for e in (*entries[max(at - 1, 0) : at], *entries[at + 1 : at + 2]))
    open_tasks = sources.task_history.open_by_day[entry.date]
    return (
        Dependency("the days before and after it", (bool(at), beside)),
        Dependency("the days of its month", tuple(month)),
        Dependency("the tasks that are open", tuple(map(_shown_of_task, open_tasks))),
    )


def _shown_of_task(thread: TaskThread) -> tuple[str, str, str, bool]:
    """Return what a day shows of an open task: its text, its state, its first day, and whether its words gave it."""
    return thread.text, thread.state.value, thread.events[0].date.isoformat(), thread.events[-1].inferred


def _tasks(shared: SharedDependencies) -> Iterator[Sheet]:
    """Yield the pages of the list of all tasks; one of their dependencies is the view, with all that they show."""
    history = shared.sources.task_history
    for number in range(1, pages_of((*history.open_now, *history.ended)) + 1):
        name = urls.output_path(urls.list_page_url(urls.TASKS, number))
        yield Sheet(name, fixed_dependencies(), print_with("pages.worklog_tasks", "task_list", number=number))


def _links(shared: SharedDependencies) -> Iterator[Sheet]:
    """Yield the pages of the reading list, if the worklog has links."""
    sources = shared.sources
    if not sources.reading_list:
        return
    for number in range(1, pages_of([*{*sources.reading_list, *sources.posts_by_link}]) + 1):
        name = urls.output_path(urls.list_page_url(urls.LINKS, number))
        yield Sheet(name, fixed_dependencies(), print_with("pages.worklog_links", "link_list", number=number))


def _periods(shared: SharedDependencies) -> Iterator[Sheet]:
    """Yield the page of each year, month and week of the worklog; neighbours are the written ones of the same kind."""
    names = sorted(shared.sources.days_of_period)
    for kind in (4, len("2026-11"), len("2026-w48")):
        periods = [name for name in names if len(name) == kind]
        for before, period, after in zip(("", *periods), periods, (*periods[1:], ""), strict=False):
            make = print_with("pages.worklog_periods", "period_page", period=period, before=before, after=after)
            measured = kind == 4 and bool(shared.sources.site.kernels)
            yield Sheet(urls.output_path(urls.period_url(period)), fixed_dependencies(), make, measured)


def _plain(shared: SharedDependencies) -> Iterator[Sheet]:
    """Yield the sheets of undated pages and terms, the 404 page, and the files for programs."""
    sources = shared.sources
    for page in sources.site.pages:
        name = urls.output_path(urls.page_url(page, sources.config))
        make, findable = print_with("pages.small_pages", "text_page", page=page), Findable("pages", page.lang)
        yield Sheet(name, fixed_dependencies(), make, text=page, found={name: findable})
    for term in sources.site.terms:
        using = sources.linked.backlinks.get(urls.term_url(term.slug), ())
        users = Dependency(
            "the posts that use it", tuple(map(shared.mention, using)), tuple(post.body.path for post in using)
        )
        name = urls.output_path(urls.term_url(term.slug))
        yield Sheet(
            name,
            fixed_dependencies(users),
            print_with("pages.small_pages", "term_page", term=term),
            text=term,
            found={name: Findable("terms", names=partial(tuple, term.aliases))},
        )
    if terms := sources.site.terms:
        written = tuple((term.title, term.slug) for term in terms)
        listed = Dependency("the terms", written, tuple(term.body.path for term in terms))
        yield Sheet(
            urls.output_path(urls.TERMS), fixed_dependencies(listed), print_with("pages.small_pages", "term_index")
        )
    if sources.concepts:
        make = print_with("pages.concepts", "concept_index")
        yield Sheet(urls.output_path(urls.CONCEPTS), fixed_dependencies(), make)
    yield Sheet(urls.NOT_FOUND, fixed_dependencies(), print_with("pages.small_pages", "missing_page"), listed=False)
    yield Sheet("robots.txt", fixed_dependencies(), print_with("pages.small_pages", "robots"))
    if sources.config.twins:
        yield llms(shared)
    if sources.config.cards:
        yield from cards(shared)
