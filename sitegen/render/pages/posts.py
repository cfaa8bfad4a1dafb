"""Print posts, the archive in pages of 50, and the pages of tags and categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sitegen.model.document import FIGURE, Document, DocumentHeading
from sitegen.model.linked import Neighbours, document_key
from sitegen.model.site import Post
from sitegen.model.urls import (
    CATEGORIES,
    FEED,
    POSTS,
    TAGS,
    category_url,
    kernel_url,
    list_page_url,
    relative,
    series_url,
    tag_url,
)
from sitegen.render.inputs.sources import Sources
from sitegen.render.pages.authorship import (
    AuthorLine,
    address_for,
    author_lines,
    citation,
    licence_link,
    structured_authors,
)
from sitegen.render.pages.concepts import ConceptLine, needed, taught
from sitegen.render.pages.series import Position, positions
from sitegen.render.shared import numbers
from sitegen.render.shared.frame import Fact, Link, Printer
from sitegen.render.shared.language import PageLanguage
from sitegen.render.shared.paging import on_page, pages_of
from sitegen.render.shared.structured import ARTICLE, About
from sitegen.render.texts.filled_slots import Place, fill
from sitegen.render.texts.mentions import worked_on


@dataclass(frozen=True, slots=True)
class PostLine:
    """A post in a list."""

    title: str
    href: str
    iso: str
    day: str
    description: str
    minutes: str


@dataclass(frozen=True, slots=True)
class PostList:
    title: str
    lede: str
    posts: tuple[PostLine, ...]
    newer: str
    older: str
    number: int
    pages: int
    eyebrow: Link | None
    """The link to the list of all tags or categories."""
    categories: tuple[Link, ...]
    all_categories: str
    tags: tuple[Link, ...]
    all_tags: str


@dataclass(frozen=True, slots=True)
class ContentsEntry:
    """An entry of the table of contents."""

    number: str
    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Plate:
    id: str
    kernel: str
    gpu: str
    """The name of the GPU, which tells the plates of one kernel apart."""
    href: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class PostPage:
    title: str
    lede: str
    iso: str
    day: str
    updated_iso: str
    updated: str
    category: Link | None
    minutes: str
    kernels: tuple[Link, ...]
    tags: tuple[Link, ...]
    progress: str
    """The id under which a reader's progress is kept, `post:softmax`; empty for a post of no series."""
    needs: tuple[ConceptLine, ...]
    teaches: tuple[ConceptLine, ...]
    gpu: str
    """The sentence that names the GPU of the figures that name none, where several GPUs measured the kernels; else
    empty.
    """
    stale: str
    """The number of stale results that the post shows, in words, `2 of 9 results stale`; empty when all are fresh."""
    contents: tuple[ContentsEntry, ...]
    body: Markup
    ledgers: tuple[Markup, ...]
    """The predictions of the implementations that the post names, beside their measurements, for each kernel."""
    plates: tuple[Plate, ...]
    places: tuple[Position, ...]
    related: tuple[PostLine, ...]
    newer: Link | None
    """The next newer post, unless it stands beside the post in a series."""
    older: Link | None
    authors: tuple[AuthorLine, ...]
    licence: Link | None
    citation: str
    """The post as an entry of BibTeX; empty for a post without an author."""
    edit: str
    """The address at which the post is edited; empty when the site has none."""
    report: str
    discuss: str
    worked_on: tuple[Link, ...]
    """The days of the worklog that mention the post."""


@dataclass(frozen=True, slots=True)
class TagIndex:
    tags: tuple[tuple[Link, str], ...]
    """The tags, each with the number of its posts."""


def post_line(sources: Sources, post: Post, here: str, spoken: PageLanguage) -> PostLine:
    date, words = sources.day_of(post.date), sources.document(post.body).words
    href, minutes = relative(sources.post_url(post), here), spoken.minutes(words)
    return PostLine(post.title, href, date.isoformat(), spoken.day(date), post.description, minutes)


def archive_page(printer: Printer, lang: str, number: int) -> tuple[str, str]:
    """Return page `number`, from 1, of all posts in a language."""
    sources, spoken = printer.sources, printer.language(lang)
    url = sources.address(POSTS, lang)
    here, posts = list_page_url(url, number), sources.posts_in(lang)
    tags = tuple(Link(tag, relative(sources.address(tag_url(tag), lang), here)) for tag in sources.posts_by_tag(lang))
    categories = tuple(
        Link(category, relative(sources.address(category_url(category), lang), here))
        for category in sources.posts_by_category(lang)
    )
    about = About(("CollectionPage",), versions=sources.versions(POSTS) if number == 1 else {})
    title = spoken.say("Posts")
    return _list_page(printer, lang, url, number, title, posts, about, categories=categories, tags=tags)


def tag_page(printer: Printer, lang: str, tag: str, number: int) -> tuple[str, str]:
    """Return page `number`, from 1, of the posts about a tag in a language."""
    sources, spoken = printer.sources, printer.language(lang)
    url, posts = sources.address(tag_url(tag), lang), sources.posts_by_tag(lang)[tag]
    lede = spoken.say("Posts about {tag}.", tag=tag)
    feed = (f"{sources.config.title}: {tag}", f"{url}{FEED}") if "tags" in sources.config.feeds else ("", "")
    about, above = About(("CollectionPage",), feed=feed), (spoken.say("Tags"), TAGS)
    return _list_page(printer, lang, url, number, tag, posts, about, lede=lede, above=above)


def category_page(printer: Printer, lang: str, category: str, number: int) -> tuple[str, str]:
    """Return page `number`, from 1, of the posts in a category in a language."""
    sources, spoken = printer.sources, printer.language(lang)
    url, posts = sources.address(category_url(category), lang), sources.posts_by_category(lang)[category]
    lede = spoken.say("Posts in {category}.", category=category)
    about, above = About(("CollectionPage",)), (spoken.say("Categories"), CATEGORIES)
    return _list_page(printer, lang, url, number, category, posts, about, lede=lede, above=above)


def _list_page(
    printer: Printer,
    lang: str,
    url: str,
    number: int,
    title: str,
    posts: Sequence[Post],
    about: About,
    *,
    lede: str = "",
    above: tuple[str, str] = ("", ""),
    categories: tuple[Link, ...] = (),
    tags: tuple[Link, ...] = (),
) -> tuple[str, str]:
    """Return one page of a list of posts; `above` is the text and the URL of the list of all tags or categories."""
    sources, spoken, here, total = printer.sources, printer.language(lang), list_page_url(url, number), pages_of(posts)
    page = PostList(
        title=title,
        lede=lede,
        posts=tuple(post_line(sources, post, here, spoken) for post in on_page(posts, number)),
        newer=relative(list_page_url(url, number - 1), here) if number > 1 else "",
        older=relative(list_page_url(url, number + 1), here) if number < total else "",
        number=number,
        pages=total,
        eyebrow=Link(above[0], relative(sources.address(above[1], lang), here)) if above[0] else None,
        categories=categories,
        all_categories=relative(sources.address(CATEGORIES, lang), here),
        tags=tags,
        all_tags=relative(sources.address(TAGS, lang), here),
    )
    name = title if number == 1 else spoken.say("{title}, page {number}", title=title, number=number)
    section = sources.address(POSTS, lang)
    return printer.page("posts.html", here, page, title=name, description=lede, section=section, lang=lang, about=about)


def tags_page(printer: Printer, lang: str) -> tuple[str, str]:
    sources, spoken = printer.sources, printer.language(lang)
    here, tags = sources.address(TAGS, lang), sources.posts_by_tag(lang)
    tagged = tuple(
        (Link(tag, relative(sources.address(tag_url(tag), lang), here)), spoken.posts(len(posts)))
        for tag, posts in tags.items()
    )
    section, title = sources.address(POSTS, lang), spoken.say("Tags")
    about = About(("CollectionPage",), versions=sources.versions(TAGS, sources.by_tag))
    return printer.page("tags.html", here, TagIndex(tagged), title=title, section=section, lang=lang, about=about)


def post_files(printer: Printer, post: Post) -> dict[str, str | bytes]:
    """Return the page of a post, and the images that its cells drew."""
    pages: dict[str, str | bytes] = dict([_post_page(printer, post)])
    if printer.sources.document(post.body).cells:
        from sitegen.render.measurements.cells import images

        pages |= images(printer.sources, post)
    return pages


def _post_page(printer: Printer, post: Post) -> tuple[str, str]:
    sources, here = printer.sources, printer.sources.post_url(post)
    document, spoken = sources.document(post.body), printer.language(post.lang)
    kernels = sources.kernels_of.get(post.body.path, ())
    date = sources.day_of(post.date)
    updated = sources.day_of(post.updated) if post.updated else None
    beside = sources.linked.neighbours.get(post.body.path, Neighbours())
    places = positions(sources, post, here, spoken)
    in_series = {link.href for place in places for link in (place.previous, place.next) if link}
    newer, older = _link(sources, beside.next, here), _link(sources, beside.previous, here)
    page = PostPage(
        title=post.title,
        lede=post.description,
        iso=date.isoformat(),
        day=spoken.day(date),
        updated_iso=updated.isoformat() if updated else "",
        updated=spoken.day(updated) if updated else "",
        category=_category(sources, post, here),
        minutes=spoken.minutes(document.words),
        kernels=tuple(Link(name, relative(kernel_url(name), here)) for name in kernels),
        tags=tuple(Link(t.name, relative(sources.address(tag_url(t.name), post.lang), here)) for t in post.tags),
        progress=f"post:{post.slug}" if places else "",
        needs=needed(sources, post, here),
        teaches=taught(post, here),
        gpu=_gpu_of_text(sources, post, document, kernels, spoken),
        stale=_stale(sources, document, spoken) if kernels else "",
        contents=contents(printer, document, post.lang),
        body=fill(printer, document, Place(document_key(post.body), here, post, post.lang)),
        ledgers=_ledgers(printer, document, kernels, here, spoken) if kernels else (),
        plates=_plates(sources, kernels, here) if kernels else (),
        places=places,
        related=tuple(post_line(sources, one, here, spoken) for one in sources.linked.related.get(post.body.path, ())),
        newer=newer if newer and newer.href not in in_series else None,
        older=older if older and older.href not in in_series else None,
        authors=author_lines(sources, post),
        licence=licence_link(sources, post),
        citation=citation(sources, post),
        edit=address_for(sources.config.edit_url, sources, post),
        report=address_for(sources.config.report_url, sources, post),
        discuss=post.discuss,
        worked_on=worked_on(sources, here, here, spoken.day),
    )
    return printer.page(
        "post.html",
        here,
        page,
        title=post.title,
        description=post.description,
        section=sources.address(POSTS, post.lang),
        lang=post.lang,
        about=about_post(sources, post),
    )


def _category(sources: Sources, post: Post, here: str) -> Link | None:
    url = sources.address(category_url(post.category), post.lang)
    return Link(post.category, relative(url, here)) if post.category else None


def about_post(sources: Sources, post: Post) -> About:
    """Return the metadata of a post for programs."""
    series = [place.series for place in sources.linked.series_places.get(post.body.path, ())]
    facts: dict[str, object] = {"timeRequired": f"PT{numbers.minutes(sources.document(post.body).words)}M"}
    facts |= structured_authors(sources, post)
    if post.category:
        facts["articleSection"] = post.category
    if post.teaches:
        facts["teaches"] = [ref.name for ref in post.teaches]
    if post.needs:
        facts["dependencies"] = ", ".join(ref.name for ref in post.needs)
    translated = sources.translations.get(post.slug, {})
    return About(
        ARTICLE,
        card=True,
        published=sources.stamp(post.date),
        modified=sources.stamp(post.updated) if post.updated else "",
        tags=tuple(ref.name for ref in post.tags),
        facts=facts,
        series=tuple((one.title, series_url(one.id)) for one in series),
        versions={lang: sources.post_url(other) for lang, other in translated.items()},
    )


def _link(sources: Sources, post: Post | None, here: str) -> Link | None:
    return Link(post.title, relative(sources.post_url(post), here)) if post else None


def _stale(sources: Sources, document: Document, spoken: PageLanguage) -> str:
    """Return the number of stale results among those that a text shows, in words; empty when all are fresh."""
    from sitegen.render.measurements.shown_results import results_shown

    shown = results_shown(sources, document)
    stale = sum(shown.values())
    return spoken.say("{stale} of {total} results stale", stale=stale, total=len(shown)) if stale else ""


def _gpu_of_text(sources: Sources, post: Post, document: Document, kernels: Sequence[str], spoken: PageLanguage) -> str:
    """Return the sentence that names the GPUs of the figures within sentences that name none.

    It is empty where nothing was measured on another GPU, and where every figure names its GPU.
    """
    if not kernels and not document.cells:
        return ""
    from sitegen.render.measurements.shown_results import gpus_left_open, gpus_of_outputs

    of_records = ", ".join(gpus_left_open(sources, document))
    of_cells = ", ".join(gpus_of_outputs(sources, document, post))
    several = [*map(sources.records, kernels), *(sources.cell_records(post.slug, one.label) for one in document.cells)]
    if all(len(records) < 2 for records in several) or not (of_records or of_cells):
        return ""
    said = spoken.say(
        "Sentences that name no GPU are about the {gpu}. Where a table or a figure has tabs, they show other GPUs.",
        gpu=of_records or of_cells,
    )
    if not of_cells or of_cells == (of_records or of_cells):
        return said
    return f"{said} {spoken.say('Numbers that link to code on this page are about the {gpu}.', gpu=of_cells)}"


def _ledgers(
    printer: Printer, document: Document, kernels: Sequence[str], here: str, spoken: PageLanguage
) -> tuple[Markup, ...]:
    from sitegen.render.measurements.ledger import ledgers

    every = (ledgers(printer, kernel, document, here, spoken) for kernel in kernels)
    return tuple(shown for shown in every if shown)


def _plates(sources: Sources, kernels: Sequence[str], here: str) -> tuple[Plate, ...]:
    """Return the facts about the numbers of the post: one plate for each kernel and GPU."""
    from sitegen.render.measurements.record_facts import record_plate
    from sitegen.render.measurements.tables import part_of_id

    return tuple(
        Plate(
            f"record-{part_of_id(name)}-{record.gpu}",
            name,
            record.runs[-1].environment.gpu,
            relative(kernel_url(name), here),
            record_plate(record, relative(f"{kernel_url(name)}{record.gpu}.json", here)),
        )
        for name in kernels
        for record in sources.records(name)
    )


def contents(printer: Printer, document: Document, lang: str) -> tuple[ContentsEntry, ...]:
    """Return the headings of the second level, numbered as on the page."""
    shown: list[DocumentHeading] = [heading for heading in document.headings if heading.level == 2]
    return tuple(
        ContentsEntry(str(n), _heading_text(printer, document, heading, lang), f"#{heading.id}")
        for n, heading in enumerate(shown, start=1)
    )


def _heading_text(printer: Printer, document: Document, heading: DocumentHeading, lang: str) -> str:
    if FIGURE not in heading.text:
        return heading.text
    from sitegen.render.texts.values import plain_figures

    figures = iter(plain_figures(printer, document, lang, heading.first_slot).values())
    return "".join(next(figures, "") if one == FIGURE else one for one in heading.text)
