"""Define sheets, which are files that are printed together with their dependencies, and the dependencies that several
sheets share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sitegen.model.linked import document_key
from sitegen.model.site import Markdown, Page, Post, Series, Term, WorklogEntry
from sitegen.render.inputs.shown_by_texts import shows_kernels, targets_of
from sitegen.render.inputs.sources import Sources
from sitegen.render.rules.dependencies import Dependency
from sitegen.render.shared import numbers

if TYPE_CHECKING:
    from sitegen.render.shared.frame import Printer

Files = Mapping[str, str | bytes]


@dataclass(frozen=True, slots=True)
class Findable:
    """The kind, the language and the names by which search finds a page, besides its text."""

    kind: str
    """See `KINDS`."""
    lang: str = ""
    """Language tag of the page; empty for the site's language."""
    names: Callable[[], tuple[str, ...]] = tuple
    """Returns names besides the title, by which readers may ask for the page.  Only a search index calls it, because
    the titles of a post's translations need all posts, for which a preview of one page would wait.
    """


@dataclass(frozen=True, slots=True)
class Sheet:
    """The files of the output that are printed together, and their dependencies."""

    name: str
    """The output path of the sheet's page; for several files the folder or the first file."""
    dependencies: Callable[[], tuple[Dependency, ...]]
    """Returns the dependencies.  Workers call it on all cores, because the dependencies of thousands of posts take long
    to find.
    """
    make: Callable[[Printer], Files]
    """Returns the content of the files, by output path."""
    measured: bool = False
    """Whether it may show a record."""
    listed: bool = True
    """Whether its pages stand in the sitemap."""
    modified: str = ""
    """The day of its last change; empty when its author states none."""
    text: Post | Page | Term | WorklogEntry | None = None
    """The author's text of its page."""
    found: Mapping[str, Findable] = field(default_factory=dict)
    """The pages that search finds, by path."""
    slow: bool = False
    """Whether it takes as long as many others, so that a worker should have it alone."""


def fixed_dependencies(*parts: Dependency) -> Callable[[], tuple[Dependency, ...]]:
    """Return a function that returns these dependencies, for a sheet whose dependencies are known at once."""
    return lambda: parts


class SharedDependencies:
    """The dependencies that several sheets share, each made once."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._cards: dict[str, tuple[str, ...]] = {}
        self._series: dict[str, Dependency] = {}

    @cached_property
    def measured(self) -> Dependency:
        return Dependency("the kernels and their records", self.sources.measured_digest, ("kernels/",))

    def file(self, path: str) -> bytes:
        return self.sources.digests.get(path, b"")

    def card(self, post: Post) -> tuple[str, ...]:
        """Return what a list shows of a post: title, URL, day, description and minutes."""
        path = post.body.path
        if path not in self._cards:
            minutes = numbers.minutes(self.sources.document(post.body).words)
            day = self.sources.day_of(post.date).isoformat()
            self._cards[path] = (*self.link(post), day, post.description, str(minutes))
        return self._cards[path]

    def cards(self, name: str, posts: Iterable[Post]) -> Dependency:
        shown = tuple(posts)
        return Dependency(name, tuple(map(self.card, shown)), tuple(post.body.path for post in shown))

    def modified(self, posts: Iterable[Post]) -> str:
        """Return the newest day of these posts and of their updates."""
        day_of = self.sources.day_of
        return max((day_of(post.updated or post.date).isoformat() for post in posts), default="")

    @property
    def languages(self) -> Dependency:
        """The languages in which there are lists."""
        return Dependency("the languages", tuple(self.sources.posts_by_language))

    def link(self, post: Post) -> tuple[str, str]:
        return post.title, self.sources.post_url(post)

    def mention(self, post: Post) -> tuple[str, ...]:
        """Return what a list shows of a post when only one of its translations stands in it."""
        return *self.link(post), post.slug, post.lang

    def is_measured(self, post: Post) -> bool:
        if post.body.path in self.sources.kernels_of or self.sources.document(post.body).cells:
            return True
        return self.shows_kernels(document_key(post.body))

    def linked(self, name: str, post: Post | None) -> Dependency:
        return Dependency(name, self.link(post) if post else (), (post.body.path,) if post else ())

    def translations(self, post: Post) -> Dependency:
        """Return the dependency on the translations of a post: the URL of each."""
        sources = self.sources
        others = sources.translations.get(post.slug, {})
        shown = tuple((lang, sources.post_url(other)) for lang, other in others.items())
        return Dependency("its translations", shown, tuple(other.body.path for other in others.values()))

    def hrefs(self, text: Markdown) -> Dependency:
        """Return the dependency on the targets of a text's links, and on the images and works that the text shows."""
        return Dependency("the targets of its links", targets_of(self.sources, text))

    def shows_kernels(self, name: str) -> bool:
        """Return whether a text shows code or measurements of a kernel or a cell; `name` is its `document_key`."""
        return shows_kernels(self.sources, name)

    def series(self, series: Series) -> Dependency:
        """Return the dependency on a series: its file, and the number of published posts in each phase."""
        if series.id not in self._series:
            entries = self.sources.entries[series.id]
            shape = tuple(len(phase) for phase in entries)
            path = series.span.path
            self._series[series.id] = Dependency(f"the series {series.id}", (self.file(path), shape), (path,))
        return self._series[series.id]

    def day(self, entry: WorklogEntry) -> tuple[str, str, int, int]:
        return entry.date.isoformat(), entry.body.text, entry.days_left or 0, self.sources.words_by_day[entry.date]


def print_with(module: str, function: str, **given: Any) -> Callable[[Printer], Files]:
    """Return a function that prints with `function` of a module of `sitegen.render`.  It imports the module when it
    prints its first page: most edits change only one kind of page, and importing all modules takes 250 ms.
    """

    def make(printer: Printer) -> Files:
        files = getattr(import_module(f"sitegen.render.{module}"), function)(printer, **given)
        return files if isinstance(files, Mapping) else dict([files])

    return make
