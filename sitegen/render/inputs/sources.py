"""Hold the values that all pages are made from, and answer the questions that several pages ask."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from sitegen.linking.concepts import Concept, concepts_of
from sitegen.model.dates import day_of, moment, periods_of
from sitegen.model.document import Document
from sitegen.model.gpu import is_yours
from sitegen.model.kernel import Kernel
from sitegen.model.linked import Linked, document_key, originals
from sitegen.model.site import (
    Exercise,
    Markdown,
    Page,
    Phase,
    PlannedPost,
    Post,
    Series,
    Site,
    SiteConfig,
    WorklogEntry,
)
from sitegen.model.urls import category_url, in_language, is_external, post_url, tag_url
from sitegen.read.config import zone_of
from sitegen.read.reading_list import ReadingItem, canonical, reading_list
from sitegen.read.worklog_tasks import TaskHistory, task_history
from sitegen.render.inputs.measured_digest import digest_of_measured

if TYPE_CHECKING:  # importing them takes long, and a page without measurements needs none
    from sitegen.model.record import CellRecord, Record, Run
    from sitegen.render.inputs.evidence import Evidence
    from sitegen.render.inputs.rows import Group
    from sitegen.results.quantities import Measured
    from sitegen.results.records import PastRun


Drawn = Callable[[str, Callable[[str], bytes]], bytes]
"""A function that returns the bytes for a drawing's source: it calls the given function, or returns what it kept of an
earlier call.  Drawing takes longer than the rest of most pages.
"""


def no_artefact(kernel: str, name: str) -> str:
    """Return the text of an artefact for a site without artefacts."""
    return ""


def draw_again(source: str, draw: Callable[[str], bytes]) -> bytes:
    return draw(source)


@dataclass(frozen=True, slots=True)
class PlaceOfLink:
    """A place of an external link in a post."""

    post: Post
    slot: int
    """The index of its slot in the post's document."""
    href: str
    """The address as it is written."""


@dataclass(frozen=True)
class Sources:
    """The values that all pages are made from.

    Each property is computed once, so that the time for a site is proportional to its number of pages.
    """

    linked: Linked
    documents: Mapping[str, Document]
    """The documents by `document_key`, without their HTML, which is in `fragments`."""
    fragments: Mapping[str, str]
    """The HTML of each document, with its slots, by `document_key`; it may be read from a file at the first access."""
    as_of: dt.date
    assets: Mapping[str, str]
    """The URL of each asset of the theme, by its name, such as `site.css`."""
    load_evidence: Callable[[], Evidence] = field(repr=False)
    """The function that reads all records.  It is called when the first page needs one, because reading takes longer
    than printing most pages.
    """
    load_probes: Callable[[], Mapping[str, str]] = field(repr=False)
    """The function that returns the CUDA source of each ceiling probe, by file name, such as `l2.cu`."""
    load_program_parts: Callable[[], Mapping[str, str]] = field(default=dict, repr=False)
    """The function that returns the modules which each downloaded program holds, by name; empty: there are no such
    programs.
    """
    digests: Mapping[str, bytes] = field(default_factory=dict)
    """The digest of the content of every file of the site, by path, from which sheets derive what their pages depend
    on.
    """
    drawn: Drawn = field(default=draw_again, repr=False)
    load_artefact: Callable[[str, str], str] = field(default=no_artefact, repr=False)
    """The function that returns the text of a kernel's artefact by its name, `<sha256>.sass`; empty when it cannot be
    read.
    """

    @property
    def evidence(self) -> Evidence:
        return self._evidence

    @cached_property
    def _evidence(self) -> Evidence:
        return self.load_evidence()

    @cached_property
    def probes(self) -> Mapping[str, str]:
        return self.load_probes()

    @cached_property
    def program_parts(self) -> Mapping[str, str]:
        return self.load_program_parts()

    @cached_property
    def _groups(self) -> dict[tuple[str, str], tuple[Group, ...]]:
        """The groups of each kernel on each GPU, by (kernel, GPU), that a page asked for."""
        return {}

    @cached_property
    def recorded(self) -> Measured:
        """The records, from which the figures within sentences are read."""
        from sitegen.results.quantities import Measured

        evidence, config = self.evidence, self.config
        return Measured(self._kernels, evidence.records, evidence.of_evaluation, config.gpus, config.gpu_aliases)

    @cached_property
    def measured_digest(self) -> bytes:
        """A digest of everything on which a shown measurement may depend."""
        return digest_of_measured(self.linked, self.documents, self.digests)

    @cached_property
    def rich(self) -> frozenset[str]:
        """The texts that have slots of other kinds than links, by `document_key`."""
        return frozenset(self.linked.rich)

    def document(self, text: Markdown) -> Document:
        return self.documents[document_key(text)]

    def listed(self, lang: str) -> str:
        """Return the language of the lists that a page in `lang` links to: `lang` itself when it has posts, else the
        site's language.
        """
        return lang if lang in self.posts_by_language else self.config.language

    def address(self, url: str, lang: str) -> str:
        """Return the URL of a list or a feed in a language."""
        return in_language(url, self.listed(lang), self.config)

    def versions(self, url: str, among: Collection[str] = ()) -> Mapping[str, str]:
        """Return the URL of a list by language; empty for a site of one language.  `among` are the languages that have
        that list, if not all.
        """
        languages = among or self.posts_by_language
        return {lang: self.address(url, lang) for lang in languages} if len(languages) > 1 else {}

    def stamp(self, date: dt.date | dt.datetime) -> str:
        """Return a date as ISO 8601: a day, or a time with its offset."""
        return moment(date, self._zone).isoformat() if isinstance(date, dt.datetime) else date.isoformat()

    @property
    def site(self) -> Site:
        return self.linked.site

    @property
    def config(self) -> SiteConfig:
        return self.linked.site.config

    @cached_property
    def _zone(self) -> dt.tzinfo:
        return zone_of(self.config)

    def day_of(self, date: dt.date | dt.datetime) -> dt.date:
        """Return the day in the site's time zone, as publication counts it."""
        return day_of(date, self._zone)

    def post_url(self, post: Post) -> str:
        return post_url(post, self.config)

    def records(self, kernel: str) -> tuple[Record, ...]:
        """Return the records of a kernel: those of the site's own GPUs first, in their order, then others by name."""
        by_gpu = self.evidence.records.of_kernel(kernel)
        return tuple(by_gpu[gpu] for gpu in self._in_order(by_gpu))

    @cached_property
    def gpus(self) -> tuple[Record, ...]:
        """A record of each GPU that measured a kernel, in the order of `records`; it stands for its GPU."""
        found = [one for kernel in self.site.kernels for one in self.evidence.records.of_kernel(kernel.name).items()]
        by_gpu = dict(reversed(found))
        return tuple(by_gpu[gpu] for gpu in self._in_order(by_gpu))

    def groups(self, record: Record) -> tuple[Group, ...]:
        """Return the groups of a kernel on a GPU; several pages show them."""
        from sitegen.render.inputs.rows import groups

        key = (record.kernel, record.gpu)
        if key not in self._groups:
            self._groups[key] = groups(self._kernels[record.kernel], record, self.evidence)
        return self._groups[key]

    def histories(self, record: Record) -> tuple[PastRun, ...]:
        """Return every run of the record's kernel on its GPU, oldest first."""
        return self.evidence.records.histories.get((record.kernel, record.gpu), ())

    def ceilings_run(self, gpu: str) -> Run | None:
        """Return the newest run that measured the ceilings of a GPU."""
        from sitegen.results.stored_ceilings import newest_run_with_ceilings

        return newest_run_with_ceilings(self.evidence.records, gpu, [kernel.name for kernel in self.site.kernels])

    def cell_records(self, post: str, label: str) -> tuple[CellRecord, ...]:
        """Return the records of a cell: first that of the GPU that the post's sentences are about."""
        by_gpu, first = self._cells.get((post, label), {}), self._gpus_of_posts.get(post, "")
        return tuple(by_gpu[gpu] for gpu in sorted(self._in_order(by_gpu), key=lambda gpu: gpu != first))

    @cached_property
    def _gpus_of_posts(self) -> Mapping[str, str]:
        """The GPU that a post names, by its slug; a translation has that of its original."""
        id_of = self.config.gpu_aliases
        return {post.slug: id_of.get(post.gpu.name, post.gpu.name) for post in self.site.posts if post.gpu}

    @cached_property
    def _cells(self) -> Mapping[tuple[str, str], Mapping[str, CellRecord]]:
        """The cell records by GPU, for each (slug of the post, label)."""
        by_cell: dict[tuple[str, str], dict[str, CellRecord]] = {}
        for (post, label, gpu), record in self.evidence.records.cells.items():
            by_cell.setdefault((post, label), {})[gpu] = record
        return by_cell

    def _in_order(self, gpus: Iterable[str]) -> list[str]:
        first = self.config.gpus
        return sorted(gpus, key=lambda gpu: (is_yours(gpu), first.index(gpu) if gpu in first else len(first), gpu))

    def kernel(self, name: str) -> Kernel | None:
        return self._kernels.get(name)

    @cached_property
    def _kernels(self) -> Mapping[str, Kernel]:
        return {kernel.name: kernel for kernel in self.site.kernels}

    @cached_property
    def exercises(self) -> Mapping[str, Exercise]:
        """The exercises by id."""
        return {exercise.id: exercise for exercise in self.site.exercises}

    def language_of(self, text: Post | Page) -> str:
        return text.lang or self.config.language

    @cached_property
    def posts_by_language(self) -> Mapping[str, tuple[Post, ...]]:
        """The posts of each language, newest first: the site's language comes first, then the other languages of posts,
        by tag.
        """
        by_language: dict[str, list[Post]] = {self.config.language: []}
        for post in self.site.posts:
            by_language.setdefault(self.language_of(post), []).append(post)
        first, *others = by_language
        return {lang: tuple(by_language[lang]) for lang in (first, *sorted(others))}

    def posts_in(self, lang: str) -> tuple[Post, ...]:
        """Return the posts in a language; an empty tag means the site's."""
        return self.posts_by_language.get(lang or self.config.language, ())

    def pages_in(self, lang: str) -> tuple[Page, ...]:
        """Return the undated pages in a language; those in the site's language when there are none."""
        return self._pages_by_language.get(lang) or self._pages_by_language.get(self.config.language, ())

    @cached_property
    def _pages_by_language(self) -> Mapping[str, tuple[Page, ...]]:
        by_language: dict[str, list[Page]] = {}
        for page in self.site.pages:
            by_language.setdefault(self.language_of(page), []).append(page)
        return {lang: tuple(pages) for lang, pages in by_language.items()}

    @cached_property
    def translations(self) -> Mapping[str, Mapping[str, Post]]:
        """The posts of each slug that has several, by language, in the order of the site's languages."""
        by_slug: dict[str, dict[str, Post]] = {}
        if len(self.posts_by_language) > 1:
            for lang, posts in self.posts_by_language.items():
                for post in posts:
                    by_slug.setdefault(post.slug, {})[lang] = post
        return {slug: posts for slug, posts in by_slug.items() if len(posts) > 1}

    def post(self, slug: str, lang: str = "") -> Post | None:
        """Return the post of a slug in a language, else in the site's, else in any."""
        translated = self.translations.get(slug)
        if translated:
            return translated.get(lang) or next(iter(translated.values()))
        return self._posts.get(slug)

    @cached_property
    def _posts(self) -> Mapping[str, Post]:
        return {post.slug: post for post in self.site.posts}

    def posts_by_tag(self, lang: str = "") -> Mapping[str, tuple[Post, ...]]:
        """Return the posts of each tag, newest first, the tags by name; spellings that share a URL are one tag."""
        return self.by_tag.get(lang or self.config.language, {})

    def posts_by_category(self, lang: str = "") -> Mapping[str, tuple[Post, ...]]:
        """Return the posts of each category, as `posts_by_tag` does for tags."""
        return self.by_category.get(lang or self.config.language, {})

    @cached_property
    def by_tag(self) -> Mapping[str, Mapping[str, tuple[Post, ...]]]:
        """The posts of each tag, by language; languages without tags are left out."""
        return self._filed(lambda post: tuple(ref.name for ref in post.tags), tag_url)

    @cached_property
    def by_category(self) -> Mapping[str, Mapping[str, tuple[Post, ...]]]:
        """The posts of each category, by language; languages without categories are left out."""
        return self._filed(lambda post: (post.category,) if post.category else (), category_url)

    def _filed(
        self, names: Callable[[Post], tuple[str, ...]], url: Callable[[str], str]
    ) -> Mapping[str, Mapping[str, tuple[Post, ...]]]:
        by_language = {lang: _by_name(posts, names, url) for lang, posts in self.posts_by_language.items()}
        return {lang: filed for lang, filed in by_language.items() if filed}

    def each_once(self, posts: Iterable[Post]) -> tuple[Post, ...]:
        """Return one of the translations of each post: the one in the site's language, if it is among them."""
        by_language: dict[str, Post] = {}
        for post in posts:
            if post.slug not in by_language or self.language_of(post) == self.config.language:
                by_language[post.slug] = post
        return tuple(by_language.values())

    def kernels_about(self, post: Post) -> tuple[str, ...]:
        """Return the kernels that a post is about: those that its front matter names, or else those that it shows."""
        return tuple(ref.name for ref in post.kernels) or self.kernels_of.get(post.body.path, ())

    @cached_property
    def kernels_of(self) -> Mapping[str, tuple[str, ...]]:
        """The names of the kernels that a post shows, measures or implements, by the post's path."""
        by_post: dict[str, list[str]] = {}
        for kernel in self.site.kernels:
            for post in self.linked.kernel_posts.get(kernel.name, ()):
                by_post.setdefault(post.body.path, []).append(kernel.name)
        return {path: tuple(names) for path, names in by_post.items()}

    @cached_property
    def concepts(self) -> Mapping[str, Concept]:
        """The concepts that posts need and teach, by `concept_key`; of translations only the originals count."""
        return concepts_of(self.site, originals(self.site))

    @cached_property
    def entries(self) -> Mapping[str, tuple[tuple[Post | PlannedPost, ...], ...]]:
        """The entries of each phase of each series, by the series' id: published posts in reading order, then planned
        posts.
        """
        return {series.id: tuple(map(self._entries, series.phases)) for series in self.site.series}

    def _entries(self, phase: Phase) -> tuple[Post | PlannedPost, ...]:
        return (*filter(None, (self.post(ref.name) for ref in phase.posts)), *phase.planned)

    def posts_of(self, series: Series) -> tuple[Post, ...]:
        """Return the published posts of a series, newest first."""
        listed = [entry for phase in self.entries[series.id] for entry in phase if isinstance(entry, Post)]
        newest = sorted(listed, key=lambda post: moment(post.date, self._zone), reverse=True)
        return tuple({post.slug: post for post in newest}.values())

    @cached_property
    def words_by_day(self) -> Mapping[dt.date, int]:
        """The number of words of each day of the worklog; at least 1, also for a day without words."""
        return {entry.date: max(self.document(entry.body).words, 1) for entry in self.site.worklog}

    @cached_property
    def days_of_period(self) -> Mapping[str, tuple[WorklogEntry, ...]]:
        """The days of each year, month and week of the worklog, newest first, by the period's name in addresses."""
        days: dict[str, list[WorklogEntry]] = {}
        for entry in self.site.worklog:
            for period in periods_of(entry.date):
                days.setdefault(period, []).append(entry)
        return {period: tuple(entries) for period, entries in days.items()}

    @cached_property
    def reading_list(self) -> Mapping[str, ReadingItem]:
        """The links of the worklog by canonical address, the ones that were written last first."""
        return {canonical(item.url): item for item in reading_list(self.site.worklog)}

    @cached_property
    def posts_by_link(self) -> Mapping[str, tuple[PlaceOfLink, ...]]:
        """The posts that have an external link, newest first, by its canonical address.  The links of the newest post
        come first.
        """
        newest = {document_key(post.body): at for at, post in enumerate(self.site.posts)}
        places = sorted(
            (newest[key], slot, href)
            for (key, slot), href in self.linked.hrefs.items()
            if key in newest and is_external(href)
        )
        found: dict[str, dict[int, PlaceOfLink]] = {}
        for at, slot, href in places:  # a post counts once
            found.setdefault(canonical(href), {}).setdefault(at, PlaceOfLink(self.site.posts[at], slot, href))
        return {address: tuple(of_link.values()) for address, of_link in found.items()}

    @cached_property
    def days_in_a_row(self) -> Mapping[dt.date, int]:
        """The number of days without a gap that end with each day of the worklog."""
        rows: dict[dt.date, int] = {}
        for date in sorted(entry.date for entry in self.site.worklog):
            rows[date] = rows.get(date - dt.timedelta(days=1), 0) + 1
        return rows

    @cached_property
    def task_history(self) -> TaskHistory:
        return task_history(self.site.worklog)


def _by_name(
    posts: Sequence[Post], names: Callable[[Post], tuple[str, ...]], url: Callable[[str], str]
) -> Mapping[str, tuple[Post, ...]]:
    """Return the posts of each name.  Names that share a URL are one name, the first of them in alphabetical order."""
    urls = {name: url(name) for name in sorted({name for post in posts for name in names(post)}, reverse=True)}
    shown = {address: name for name, address in urls.items()}
    filed: dict[str, dict[str, Post]] = {address: {} for address in sorted(shown)}
    for post in posts:
        for name in names(post):
            filed[urls[name]][post.body.path] = post
    return {shown[address]: tuple(of_name.values()) for address, of_name in filed.items()}
