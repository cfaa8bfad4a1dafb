"""Find what each entry of the worklog is about: the posts, kernels, exercises and terms that it links to or names.

A title of a post counts in full, and a term also by its other names.  The name of a kernel counts as a word of its
own; when it is an English word, too, such as `copy`, only as code or before the name of an implementation.  An
exercise counts by its title, and by its id beside the word: "the exercise tile", "the tile exercise".
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice

from sitegen.model import urls
from sitegen.model.document import Document
from sitegen.model.linked import Mention, document_key
from sitegen.model.site import Site, WorklogEntry

_WORD = re.compile(r"\w+")
_ENGLISH = (
    *("add", "attention", "copy", "fill", "gather", "histogram", "max", "mean", "min", "permute", "reduce", "reverse"),
    *("scan", "scatter", "sort", "sum", "transpose"),
)
"""Names of kernels that stand in diaries as words, too."""
NamedPage = tuple[str, Mention, bool]
"""A name, its page, and whether the name counts only as code; a name is empty when only links count."""
Names = Mapping[tuple[str, ...], tuple[tuple[tuple[str, ...], Mention, bool], ...]]
"""All names by their first two words, or by their only word: the words, the page, whether only code counts."""


def _by_title(one: Mention) -> tuple[str, str]:
    """Return the key of sorting: a kernel and a term may have the same title, `layernorm` and `LayerNorm`."""
    return one.title.casefold(), one.url


class Mentions(Mapping[dt.date, tuple[Mention, ...]]):
    """The pages that the entry of each day mentions, in the order of their titles; computed at the first access.

    `documents` are those with more than links; `kernels_of` returns the kernels that one of them shows.
    """

    def __init__(
        self,
        site: Site,
        documents: Mapping[str, Document],
        hrefs: Mapping[tuple[str, int], str],
        kernels_of: Callable[[Document], set[str]],
    ) -> None:
        self._site, self._documents, self._hrefs, self._kernels_of = site, documents, hrefs, kernels_of

    @cached_property
    def _by_day(self) -> dict[dt.date, tuple[Mention, ...]]:
        named_pages = tuple(pages_with_names(self._site))
        pages = {mention.url: mention for _, mention, _ in named_pages}
        names, leads = by_first_words(named_pages), self._leads()
        found = {entry.date: self._mentions(entry, pages, names, leads) for entry in self._site.worklog}
        return {date: tuple(sorted(of_day, key=_by_title)) for date, of_day in found.items()}

    def _leads(self) -> Mapping[str, list[str]]:
        """Return where the links of each entry lead, by its `document_key`."""
        leads: dict[str, list[str]] = {document_key(entry.body): [] for entry in self._site.worklog}
        for (key, _), href in self._hrefs.items():
            if key in leads:
                leads[key].append(href.partition("#")[0])
        return leads

    def _mentions(
        self, entry: WorklogEntry, pages: Mapping[str, Mention], names: Names, leads: Mapping[str, list[str]]
    ) -> set[Mention]:
        key = document_key(entry.body)
        document = self._documents.get(key)
        shown = self._kernels_of(document) if document else set()
        linked = (*leads[key], *map(urls.kernel_url, shown))
        return {pages[url] for url in linked if url in pages} | set(named_in(entry.body.text, names))

    def __getitem__(self, date: dt.date) -> tuple[Mention, ...]:
        return self._by_day[date]

    def __iter__(self) -> Iterator[dt.date]:
        return iter(self._by_day)

    def __len__(self) -> int:
        return len(self._by_day)


class DaysOfPages(Mapping[str, tuple[dt.date, ...]]):
    """The days on which the worklog mentions a page, newest first, by the page's URL."""

    def __init__(self, mentions: Mapping[dt.date, tuple[Mention, ...]]) -> None:
        self._mentions = mentions

    @cached_property
    def _by_url(self) -> dict[str, tuple[dt.date, ...]]:
        days: dict[str, list[dt.date]] = {}
        for date in sorted(self._mentions, reverse=True):
            for mention in self._mentions[date]:
                days.setdefault(mention.url, []).append(date)
        return {url: tuple(dates) for url, dates in days.items()}

    def __getitem__(self, url: str) -> tuple[dt.date, ...]:
        return self._by_url[url]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_url)

    def __len__(self) -> int:
        return len(self._by_url)


def pages_with_names(site: Site) -> Iterator[NamedPage]:
    """Yield the posts, kernels, exercises and terms that a worklog can mention, each with its names."""
    for post in site.posts:
        title = post.title if len(post.title.split()) > 1 else ""
        yield title, Mention("post", post.title, urls.post_url(post, site.config)), False
    for kernel in site.kernels:
        yield kernel.name, Mention("kernel", kernel.name, urls.kernel_url(kernel.name)), kernel.name in _ENGLISH
    for exercise in site.exercises:
        title = exercise.title if len(exercise.title.split()) > 1 else ""
        for name in (title, f"exercise {exercise.id}", f"{exercise.id} exercise"):
            yield name, Mention("exercise", exercise.title, urls.exercise_url(exercise.id)), False
    for term in site.terms:
        for name in (term.title, *term.aliases):
            yield name, Mention("term", term.title, urls.term_url(term.slug)), False


def by_first_words(pages: Iterable[NamedPage]) -> Names:
    names: dict[tuple[str, ...], list[tuple[tuple[str, ...], Mention, bool]]] = {}
    for name, mention, only_code in pages:
        if words := tuple(_WORD.findall(name.casefold())):
            names.setdefault(words[:2], []).append((words, mention, only_code))
    return {first: tuple(longer) for first, longer in names.items()}


def named_in(text: str, names: Names) -> Iterator[Mention]:
    """Yield the pages whose names stand in a text."""
    begins = {first[0] for first in names}
    words = [word.casefold() for word in _WORD.findall(text)] if names else []
    for at in [at for at, word in enumerate(words) if word in begins]:
        for first in ((words[at],), tuple(words[at : at + 2])):
            for whole, mention, only_code in names.get(first, ()):
                if tuple(words[at : at + len(whole)]) == whole and (not only_code or _is_code(text, at)):
                    yield mention


def _is_code(text: str, number: int) -> bool:
    """Tell whether the word of that number is written as code, `copy`, or before an implementation,
    `copy/vectorised`.
    """
    word = next(islice(_WORD.finditer(text), number, None))
    return text[word.start() - 1 : word.start()] == "`" or bool(re.match(r"/\w", text[word.end() : word.end() + 2]))
