"""Print the home page: the promise of the site, entry points, series, kernels, and the newest posts and worklog day."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.urls import HOME, POSTS, RECORDS, WORKLOG, relative
from sitegen.render.inputs.sources import Sources
from sitegen.render.pages.posts import PostLine, post_line
from sitegen.render.pages.series import SeriesSummary, course
from sitegen.render.pages.worklog import DayLine, Days, countdown, day_line
from sitegen.render.pages.worklog_heat import word_squares
from sitegen.render.shared.frame import Fact, Printer
from sitegen.render.shared.language import PageLanguage
from sitegen.render.shared.paging import NEWEST_ON_HOME
from sitegen.render.shared.structured import About


@dataclass(frozen=True, slots=True)
class Door:
    """An entry point: its readers and its post."""

    because: str
    title: str
    href: str
    description: str
    minutes: str


@dataclass(frozen=True, slots=True)
class HomePage:
    heading: str
    lede: str
    figure: Markup
    """The best of each kernel under the roofs of each GPU."""
    plate: tuple[Fact, ...]
    doors: tuple[Door, ...]
    courses: tuple[SeriesSummary, ...]
    board: Markup
    """The table of the kernels; empty for a site without kernels."""
    posts: tuple[PostLine, ...]
    all_posts: str
    count: str
    day: DayLine | None
    countdown: Days | None
    heat: Markup
    worklog: str


def render_home(printer: Printer) -> dict[str, str]:
    sources, config, spoken = printer.sources, printer.sources.config, printer.language()
    heading, lede = _heading_and_lede(config.title, config.description)
    worklog = sources.site.worklog
    page = HomePage(
        heading=heading,
        lede=lede,
        figure=_overview(printer),
        plate=_plate(sources),
        doors=_doors(sources, spoken),
        courses=tuple(course(sources, series, "") for series in sources.site.series),
        board=_board(printer),
        posts=tuple(post_line(sources, post, "", spoken) for post in sources.posts_in("")[:NEWEST_ON_HOME]),
        all_posts=relative(POSTS, ""),
        count=spoken.posts(len(sources.posts_in(""))),
        day=day_line(printer, worklog[0], "") if worklog else None,
        countdown=countdown(sources),
        heat=word_squares(sources) if worklog else Markup(),
        worklog=relative(WORKLOG, ""),
    )
    return dict([printer.page("home.html", "", page, title=config.title, about=About(versions=sources.versions(HOME)))])


def home_in(printer: Printer, lang: str) -> tuple[str, str]:
    """Return the home page in another language than the site's.  It shows only the newest posts in that language,
    because everything else on a home page is in the site's language.
    """
    sources, config, spoken = printer.sources, printer.sources.config, printer.language(lang)
    here, posts = sources.address(HOME, lang), sources.posts_in(lang)
    page = HomePage(
        heading=config.title,
        lede="",
        figure=Markup(),
        plate=(),
        doors=(),
        courses=(),
        board=Markup(),
        posts=tuple(post_line(sources, post, here, spoken) for post in posts[:NEWEST_ON_HOME]),
        all_posts=relative(sources.address(POSTS, lang), here),
        count=spoken.posts(len(posts)),
        day=None,
        countdown=None,
        heat=Markup(),
        worklog="",
    )
    about = About(versions=sources.versions(HOME))
    return printer.page("home.html", here, page, title=config.title, lang=lang, about=about)


def _heading_and_lede(title: str, description: str) -> tuple[str, str]:
    """Return the heading and the text below it.

    The heading is the first sentence of the description.  A description of one sentence stands below the site's title.
    """
    first, _, rest = re.sub(r"\s+", " ", description).partition(". ")
    return (first, rest) if rest else (title, description)


def _overview(printer: Printer) -> Markup:
    if not printer.sources.site.kernels:
        return Markup()
    from sitegen.render.measurements.site_roofline import overview  # a site without kernels reads no records

    return overview(printer)


def _board(printer: Printer) -> Markup:
    if not printer.sources.site.kernels:
        return Markup()
    from sitegen.render.measurements.kernel_table import boards

    return boards(printer, "")


def _plate(sources: Sources) -> tuple[Fact, ...]:
    """Return the facts about the measurements of the site; empty before anything was measured."""
    pairs = [(kernel, record) for kernel in sources.site.kernels for record in sources.records(kernel.name)]
    runs = sorted((run for _, record in pairs for run in record.runs), key=lambda run: run.id)
    if not runs:
        return ()
    from sitegen.results.freshness import FreshnessState

    stale = sum(one.state is FreshnessState.STALE for one in sources.evidence.evaluations.values())
    newest = runs[-1]
    return (
        Fact("kernels", str(len(sources.site.kernels))),
        Fact("evaluations", str(sum(len(record.evaluations) for _, record in pairs))),
        Fact("stale", str(stale), RECORDS, state="stale" if stale else ""),
        Fact("measured on", ", ".join(dict.fromkeys(run.environment.gpu for run in runs))),
        Fact("last run", newest.date),
        Fact("commit", newest.commit),
    )


def _doors(sources: Sources, spoken: PageLanguage) -> tuple[Door, ...]:
    doors = []
    for entry in sources.config.entry_points:
        if post := sources.post(entry.post.name):
            line = post_line(sources, post, "", spoken)
            doors.append(Door(entry.because, line.title, line.href, line.description, line.minutes))
    return tuple(doors)
