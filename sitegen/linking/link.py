"""Turn a site and its documents into a `Linked`: every name is resolved, or has a diagnostic at its place.

The module reads no files: the paths of existing files are an argument.  Codes of this stage:

SG201 link to nowhere · SG202 unknown anchor · SG203 missing image · SG204 unknown kernel
SG205 unknown implementation, region, workload, dtype or baseline · SG206 a cell that implements
SG207 unknown post · SG208 unknown exercise · SG209 a translation's cell that is not its original's
SG210 no bibliography · SG211 unknown key to cite · SG212 unknown term
SG213 an image that no page can show (image_files.py) · SG214 unknown GPU (near_gpus.py, gpu_aliases.py)
SG215 a link to an old address (moved_links.py) · SG216 an exercise that cannot be checked (exercises.py)
SG217 unknown cell (kernel_refs.py) · SG218 unknown author
SG220 a concept that is taught only later · SG221 series in a circle · SG222 unknown series
SG223 a concept that is nearly another (reading_order.py) · SG028 a topic (topics.py)
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from urllib.parse import unquote

from sitegen.diagnostics import Diagnostic, did_you_mean, in_reading_order
from sitegen.linking.cited import works_cited
from sitegen.linking.exercises import exercise_mistakes, sound_exercises
from sitegen.linking.gpu_aliases import alias_mistakes
from sitegen.linking.kernel_refs import goal_mistakes, slot_mistakes, unknown, with_cells
from sitegen.linking.mentions import DaysOfPages, Mentions
from sitegen.linking.near_gpus import unknown_gpu
from sitegen.linking.plot_refs import plot_mistakes
from sitegen.linking.reading_order import order_mistakes
from sitegen.linking.related import Related
from sitegen.linking.targets import AddressBook, Resolution, address_book, redirects_of, resolve
from sitegen.linking.topics import topic_mistakes
from sitegen.linking.translations import translated_cells
from sitegen.linking.value_refs import figure_mistakes, known_gpus, known_names, references_in
from sitegen.model import urls
from sitegen.model.dates import day_of, moment
from sitegen.model.document import (
    BenchmarkSlot,
    Cell,
    ClaimSlot,
    Document,
    FileSlot,
    ImageSlot,
    LinkSlot,
    ListingSlot,
    PlotSlot,
    RooflineSlot,
    Slot,
    TermSlot,
    ValueSlot,
)
from sitegen.model.linked import Linked, Neighbours, SeriesPlace, document_key, originals, statement_and_hints, texts
from sitegen.model.site import Markdown, Post, Series, Site
from sitegen.read.config import zone_of
from sitegen.read.severity import worklog_never_fails

MENU = "menu"
"""The key of the links of the menu, beside those of texts."""
_OF_LINKS = ("SG201", "SG202", "SG203", "SG212")


@dataclasses.dataclass(frozen=True, slots=True)
class Resolved:
    """The targets of all links of a site.

    They stay the same as long as the site's files and its published texts do.  Keeping them saves a look at every
    document.
    """

    hrefs: Mapping[tuple[str, int], str]
    assets: Mapping[str, str]
    rich: Collection[str]


def resolved(linked: Linked, mistakes: Collection[Diagnostic]) -> Resolved | None:
    """Return the targets for the next call of `link_site`; None when one of the `mistakes` is in a link."""
    if any(mistake.code in _OF_LINKS for mistake in mistakes):
        return None
    return Resolved(linked.hrefs, linked.assets, linked.rich)


def link_site(
    site: Site,
    documents: Mapping[str, Document],
    *,
    as_of: dt.date,
    files: Collection[str],
    everything: bool = False,
    known: Resolved | None = None,
) -> tuple[Linked, tuple[Diagnostic, ...]]:
    """Return the linked site and its mistakes, in reading order.

    `documents` are by `document_key`; `files` are all paths under the site, texts or not; `known` are the targets of
    links, when they are known.  Drafts and posts dated after `as_of` are left out unless `everything` is true.
    """
    mistakes: list[Diagnostic] = []
    hidden = {} if everything else unpublished(site, as_of)
    shown = _without(site, hidden)
    rich = {key: documents[key] for key in known.rich} if known else _with_more_than_links(documents)
    shown = dataclasses.replace(shown, kernels=with_cells(shown, _cells(shown, rich), mistakes))
    mistakes += _names(site, shown, rich)
    mistakes += _names_of_figures(shown, rich, files)
    mistakes += _names_of_goals(shown, files)
    mistakes += _gpus_of_posts(shown, files)
    mistakes += alias_mistakes(shown, files)
    mistakes += translated_cells(shown, rich)
    mistakes += order_mistakes(shown)
    posts = {p.body.path: p for p in site.posts if p.body.path in hidden}
    if known:
        hrefs, assets = known.hrefs, known.assets
    else:
        book = address_book(shown, posts, documents, frozenset(files), hidden)
        hrefs, assets = _resolve_all(shown, documents, book, mistakes)
    references = works_cited(shown, rich, mistakes)
    kernel_posts, places, beside = _kernel_posts(shown, rich), _series_places(shown), _neighbours(shown)
    mentions = Mentions(shown, rich, hrefs, _kernels_shown)
    linked = Linked(
        site=dataclasses.replace(shown, exercises=sound_exercises(shown)),
        hrefs=hrefs,
        rich=tuple(rich),
        assets=assets,
        references=references,
        redirects=redirects_of(shown),
        kernel_posts=kernel_posts,
        backlinks=Backlinks(shown, hrefs),
        mentions=mentions,
        worked_on=DaysOfPages(mentions),
        series_places=places,
        neighbours=beside,
        related=Related(_by_language(shown).values(), kernel_posts, places, beside),
    )
    return linked, worklog_never_fails(in_reading_order(mistakes))


def _with_more_than_links(documents: Mapping[str, Document]) -> dict[str, Document]:
    """Return the documents in which there may be names of kernels, works or cells."""
    return {key: one for key, one in documents.items() if one.cells or not all(type(s) is LinkSlot for s in one.slots)}


def unpublished(site: Site, as_of: dt.date) -> dict[str, str]:
    """Return for each draft and each post dated after `as_of` why it has no page, by its path."""
    why: dict[str, str] = {}
    zone = zone_of(site.config)
    for post in site.posts:
        day = day_of(post.date, zone)
        if post.draft:
            why[post.body.path] = "a draft"
        elif day > as_of:
            why[post.body.path] = f"a post of {day.isoformat()}, later than {as_of.isoformat()}"
    return why


def _without(site: Site, hidden: Mapping[str, str]) -> Site:
    """Return the site without the hidden posts, also in its series and entry points; posts are the newest first."""
    posts = [post for post in site.posts if post.body.path not in hidden]
    gone = {post.slug for post in site.posts} - {post.slug for post in posts}
    zone = zone_of(site.config)
    posts.sort(key=lambda post: post.slug)
    posts.sort(key=lambda post: moment(post.date, zone), reverse=True)
    entries = tuple(entry for entry in site.config.entry_points if entry.post.name not in gone)
    return dataclasses.replace(
        site,
        posts=tuple(posts),
        series=tuple(_series_without(series, gone) for series in site.series),
        config=dataclasses.replace(site.config, entry_points=entries),
    )


def _series_without(series: Series, gone: Collection[str]) -> Series:
    phases = tuple(
        dataclasses.replace(phase, posts=tuple(ref for ref in phase.posts if ref.name not in gone))
        for phase in series.phases
    )
    return dataclasses.replace(series, phases=phases)


def _cells(site: Site, documents: Mapping[str, Document]) -> Iterator[tuple[str, Cell]]:
    """Yield the cells that are implementations with their posts' paths, in an order that does not depend on dates."""
    posts = [post for post in originals(site) if _document(documents, post.body).cells]
    for post in sorted(posts, key=lambda post: post.body.path):
        for cell in _document(documents, post.body).cells:
            if cell.implements:
                yield post.body.path, cell


def _document(documents: Mapping[str, Document], text: Markdown) -> Document:
    return documents.get(document_key(text), _NOTHING)


_NOTHING = Document("")


def _names(site: Site, shown: Site, documents: Mapping[str, Document]) -> Iterator[Diagnostic]:
    """Yield diagnostics for unknown posts, kernels and exercises; `site` still has the unpublished posts."""
    slugs = {post.slug: None for post in site.posts}
    kernels = {kernel.name: kernel for kernel in shown.kernels}
    exercises = [one.id for one in site.exercises]
    for series in site.series:
        yield from (unknown("SG207", "post", r.name, slugs, r.span) for r in series.posts if r.name not in slugs)
        for exercise in (one for phase in series.phases for one in phase.exercises if not one.title):
            if exercise.id.name not in exercises:
                yield unknown("SG208", "exercise", exercise.id.name, exercises, exercise.id.span)
    yield from topic_mistakes(site)
    authors = site.config.authors
    is_read = authors or site.config.title  # else site.yaml has no title, or cannot be read at all
    named = (ref for post in site.posts for ref in post.authors if is_read and ref.name not in authors)
    yield from (unknown("SG218", "author", ref.name, authors, ref.span) for ref in named)
    for entry in site.config.entry_points:
        if entry.post.name not in slugs:
            yield unknown("SG207", "post", entry.post.name, slugs, entry.post.span)
    refs = (ref for post in shown.posts for ref in post.kernels)
    yield from (unknown("SG204", "kernel", r.name, kernels, r.span) for r in refs if r.name not in kernels)
    for text in texts(shown):
        if document := documents.get(document_key(text)):
            yield from slot_mistakes(shown, kernels, document)
            yield from plot_mistakes(shown, kernels, document)
    yield from exercise_mistakes(shown)


def _names_of_figures(shown: Site, documents: Mapping[str, Document], files: Collection[str]) -> Iterator[Diagnostic]:
    """Yield diagnostics for the unknown names in figures and claims."""
    with_figures = {key for key, one in documents.items() if any(type(s) in (ValueSlot, ClaimSlot) for s in one.slots)}
    if not with_figures:
        return
    known = known_names(shown, files)
    for key in (document_key(text) for text in texts(shown)):
        if key in with_figures:
            yield from figure_mistakes(shown, known, documents[key])


def _names_of_goals(shown: Site, files: Collection[str]) -> Iterator[Diagnostic]:
    """Yield diagnostics for the unknown names in goals, which name a GPU by its id only."""
    names_a_gpu = any(goal.gpu for kernel in shown.kernels for goal in kernel.goals)
    gpus = known_gpus(shown, files) if names_a_gpu else ()
    yield from goal_mistakes(shown, shown.kernels, [gpu for gpu in gpus if gpu not in shown.config.gpu_aliases])


def _gpus_of_posts(shown: Site, files: Collection[str]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each post that is about the cells' results on an unknown GPU."""
    named = [post.gpu for post in shown.posts if post.gpu]
    if not named:
        return
    known = known_names(shown, files)
    wrong = (ref for ref in named if ref.name not in known.gpus)
    yield from (unknown_gpu(ref.name, known.gpus, known.recorded_gpus, ref.span) for ref in wrong)


def _resolve_all(
    site: Site, documents: Mapping[str, Document], book: AddressBook, mistakes: list[Diagnostic]
) -> tuple[dict[tuple[str, int], str], dict[str, str]]:
    hrefs: dict[tuple[str, int], str] = {}
    assets: dict[str, str] = {}
    here, terms = _pages(site), _terms(site)
    for index, entry in enumerate(site.config.menu):
        target = resolve(entry.link.name, "content/site.yaml", urls.HOME, book)
        mistakes += _target_mistakes(LinkSlot(entry.link.name, entry.link.span), target)
        hrefs[MENU, index] = target.href
    for text in texts(site):
        key = document_key(text)
        for index, slot in enumerate(_document(documents, text).slots):
            if isinstance(slot, TermSlot):
                if url := terms.get(_term_key(slot.name)):
                    hrefs[key, index] = url
                else:
                    mistakes.append(_unknown_term(slot, site))
            elif isinstance(slot, LinkSlot | ImageSlot | FileSlot):
                target = resolve(slot.target, text.path, here[key], book)
                mistakes += _target_mistakes(slot, target)
                if not target.problem:
                    hrefs[key, index] = target.href
                if target.asset:
                    assets[unquote(target.href)] = target.asset
    return hrefs, dict(sorted(assets.items()))


def _terms(site: Site) -> dict[str, str]:
    """Return the URL of each term by its slug, its title and its other names."""
    by_name = {_term_key(name): urls.term_url(term.slug) for term in site.terms for name in (*term.aliases, term.title)}
    return by_name | {term.slug: urls.term_url(term.slug) for term in site.terms}


def _term_key(name: str) -> str:
    return "-".join(name.lower().split())


def _unknown_term(slot: TermSlot, site: Site) -> Diagnostic:
    names = [name for term in site.terms for name in (term.slug, term.title, *term.aliases)]
    head = f"its head `---`, `title: {slot.name}`, `---`, and the definition below"
    hint = did_you_mean(slot.name, names) or f"define it in content/terms/{_term_key(slot.name)}.md: {head}"
    return Diagnostic("SG212", f"unknown term `{slot.name}`", slot.span, hint)


def _target_mistakes(slot: LinkSlot | ImageSlot | FileSlot, target: Resolution) -> Iterator[Diagnostic]:
    if isinstance(slot, ImageSlot | FileSlot):
        kind = "image" if isinstance(slot, ImageSlot) else "file"
        if urls.is_external(slot.target):
            hint = "put it beside the text: a page loads nothing from elsewhere"
            yield Diagnostic("SG203", f"this {kind} is on another host", slot.span, hint)
        elif not target.asset:
            yield Diagnostic("SG203", f"no {kind} `{slot.target}`", slot.span, target.hint)
    elif target.problem:
        yield Diagnostic("SG202" if target.about_anchor else "SG201", target.problem, slot.span, target.hint)


def _pages(site: Site) -> dict[str, str]:
    """Return the URL of the page of each text, by `document_key`."""
    config = site.config
    here = {document_key(post.body): urls.post_url(post, config) for post in site.posts}
    here |= {document_key(page.body): urls.page_url(page, config) for page in site.pages}
    here |= {document_key(term.body): urls.term_url(term.slug) for term in site.terms}
    here |= {document_key(t): urls.exercise_url(one.id) for one in site.exercises for t in statement_and_hints(one)}
    here |= {document_key(entry.body): urls.day_url(entry.date) for entry in site.worklog}
    return here | ({document_key(site.worklog_intro): urls.WORKLOG} if site.worklog_intro else {})


def _kernel_posts(site: Site, documents: Mapping[str, Document]) -> dict[str, tuple[Post, ...]]:
    used: dict[str, list[Post]] = {kernel.name: [] for kernel in site.kernels}
    for post in site.posts if used else ():
        for name in sorted(_kernels_of(post, _document(documents, post.body)) & used.keys()):
            used[name].append(post)
    return {name: tuple(posts) for name, posts in used.items()}


def _kernels_of(post: Post, document: Document) -> set[str]:
    slots = _kernels_shown(document)
    cells = {cell.implements.partition("/")[0] for cell in document.cells if cell.implements}
    return {ref.name for ref in post.kernels} | slots | cells


def _kernels_shown(document: Document) -> set[str]:
    """Return the kernels that a document shows or whose figures it shows."""
    return {name for slot in document.slots for name in _kernels_in(slot)}


def _kernels_in(slot: Slot) -> Iterator[str]:
    """Yield the kernels that a slot shows or whose figures it shows."""
    if isinstance(slot, ListingSlot | BenchmarkSlot | RooflineSlot):
        yield slot.kernel
    elif isinstance(slot, PlotSlot):
        yield from filter(None, (slot.kernel, *(reference.kernel for reference in references_in(slot))))
    elif isinstance(slot, ValueSlot):
        yield from (reference.kernel for reference in slot.value.references if reference.kernel)
    elif isinstance(slot, ClaimSlot):
        yield from (name for name in slot.claim.kernels if name)


class Backlinks(Mapping[str, tuple[Post, ...]]):
    """The posts that link to a page, by the page's URL; they are computed at the first access.

    `hrefs` are in the order of the texts, posts first.
    """

    def __init__(self, site: Site, hrefs: Mapping[tuple[str, int], str]) -> None:
        self._site, self._hrefs = site, hrefs

    @cached_property
    def _posts_by_url(self) -> dict[str, tuple[Post, ...]]:
        links: dict[str, dict[str, Post]] = {}
        posts = {document_key(post.body): (post, urls.post_url(post, self._site.config)) for post in self._site.posts}
        for (key, _), href in self._hrefs.items():
            post, here = posts.get(key, (None, ""))
            url = href.partition("#")[0]
            if post and url != here and not urls.is_external(url):
                links.setdefault(url, {})[key] = post
        return {url: tuple(linking.values()) for url, linking in sorted(links.items())}

    def __getitem__(self, url: str) -> tuple[Post, ...]:
        return self._posts_by_url[url]

    def __iter__(self) -> Iterator[str]:
        return iter(self._posts_by_url)

    def __len__(self) -> int:
        return len(self._posts_by_url)


def _series_places(site: Site) -> dict[str, tuple[SeriesPlace, ...]]:
    """Return the places of each post in series; a translation has its original's, beside posts in its own language."""
    originally = {post.slug: post for post in originals(site)}
    places: dict[str, list[SeriesPlace]] = {}
    for lang, posts in _by_language(site).items():
        by_slug = originally | {post.slug: post for post in posts}
        for series in site.series:
            for place, post in _places(series, by_slug):
                if _language(post, site) == lang:
                    places.setdefault(post.body.path, []).append(place)
    return {path: tuple(in_series) for path, in_series in places.items()}


def _places(series: Series, by_slug: Mapping[str, Post]) -> Iterator[tuple[SeriesPlace, Post]]:
    listed = [
        (phase, by_slug[ref.name])
        for phase, contents in enumerate(series.phases)
        for ref in contents.posts
        if ref.name in by_slug
    ]
    for at, (phase, post) in enumerate(listed):
        before = listed[at - 1][1] if at else None
        after = listed[at + 1][1] if at + 1 < len(listed) else None
        yield SeriesPlace(series, phase, at + 1, len(listed), before, after), post


def _by_language(site: Site) -> dict[str, list[Post]]:
    by_name: dict[str, list[Post]] = {}
    for post in site.posts:
        by_name.setdefault(_language(post, site), []).append(post)
    return by_name


def _language(post: Post, site: Site) -> str:
    return post.lang or site.config.language


def _neighbours(site: Site) -> dict[str, Neighbours]:
    """Return the posts before and after each post in its own language, by path."""
    beside = {}
    for posts in _by_language(site).values():
        newer, older = [None, *posts], [*posts[1:], None]
        for post, before, after in zip(posts, older, newer, strict=False):
            beside[post.body.path] = Neighbours(before, after)
    return beside
