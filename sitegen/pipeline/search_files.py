"""Bring the index of search up to date.

What goes in: the pages that search finds, the text of each page as `render/outputs/search_text.py` took it from the
HTML, and the index that the last build left in the output.  What comes out: the files of the index that are different
now.  After an edit these are the files of the terms that came, went or changed their weight on the edited pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sitegen import inside
from sitegen.model.urls import SEARCH_PAGES, SEARCH_WORDS, output_path, search_terms_path, search_text_path
from sitegen.pipeline.workers import in_batches, map_batches
from sitegen.render.outputs.search_index import (
    IndexedPage,
    Terms,
    index_of_pages,
    list_of_pages,
    list_of_words,
    merged,
    number_of_files,
    page_ids,
    read_list_of_pages,
    read_list_of_words,
    record,
    terms_of,
    without_pages,
    words_of_headings,
)
from sitegen.render.outputs.search_terms import file_number
from sitegen.render.outputs.search_text import PageText, text_from_json

_PART, _FEW = 4, 8
"""More pages than a part of all, and more than a few, are not changed one by one: the whole index is made again."""
TextReader = Callable[[str], bytes]
"""Returns the text of a page by its URL, as `text_as_json` wrote it."""


@dataclass(frozen=True, slots=True)
class FoundPage:
    """The facts about a page that search has besides its text."""

    kind: str
    lang: str
    names: tuple[str, ...]
    """Names besides the title, by which readers may ask for the page."""


@dataclass(frozen=True, slots=True)
class WrittenIndex:
    """The index in the output."""

    output: Path
    pages: dict[str, IndexedPage]
    """The pages by id."""
    files: int
    """The number of files of terms."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of its files."""
        return index_paths(self.files)

    def texts(self, urls: Sequence[str]) -> dict[str, PageText]:
        """Return the texts in the output of pages by URL."""
        return {url: text_from_json(self.read(search_text_path(output_path(url)))) for url in urls}

    def read(self, path: str) -> bytes:
        """Return the content of a file of the output."""
        return inside.read_bytes(self.output, path)


def written_index(output: Path) -> WrittenIndex:
    """Return the index in the output, which must be as a build wrote it."""
    return WrittenIndex(output, *read_list_of_pages(inside.read_bytes(output, SEARCH_PAGES)))


def index_paths(files: int) -> tuple[str, ...]:
    """Return the paths of all files of an index with a number of files of terms."""
    return (SEARCH_PAGES, SEARCH_WORDS, *map(search_terms_path, range(files)))


def whole_index(pages: Mapping[str, FoundPage], read: TextReader, processes: int) -> dict[str, bytes]:
    """Return all files of the index of pages by URL; the texts are read and counted on all cores."""
    ids, files = page_ids(pages), number_of_files(len(pages))
    in_order = sorted(pages, key=ids.__getitem__)

    def work(batch: Sequence[str], worker: int) -> tuple[list[str], dict[str, IndexedPage], Counter[str]]:
        texts = {url: text_from_json(read(url)) for url in batch}
        terms = {url: terms_of(text) for url, text in texts.items()}
        indexed = {ids[url]: _indexed(url, pages[url], texts[url], terms[url]) for url in batch}
        return index_of_pages(((ids[url], terms[url]) for url in batch), files), indexed, _words(texts.values())

    parts: list[list[str]] = []
    listed: dict[str, IndexedPage] = {}
    words = Counter[str]()
    for part, indexed, of_part in map_batches(work, in_batches(in_order, processes), processes):
        parts.append(part)
        listed |= indexed
        words += of_part
    size = len(next(iter(listed), ""))
    content = {search_terms_path(n): merged([part[n] for part in parts], size).encode() for n in range(files)}
    return content | _lists(listed, files, words)


def changed_index(
    pages: Mapping[str, FoundPage], index: WrittenIndex, changed: Collection[str], read: TextReader
) -> dict[str, bytes] | None:
    """Return the files of the index that may be different now.  `changed` are the URLs of new and of edited pages.

    None when the whole index must be made: many pages changed, or ids or the number of files are others now.
    """
    ids, files = page_ids(pages), number_of_files(len(pages))
    known = {page.url: name for name, page in index.pages.items()}
    gone = [url for url in known if url not in pages or url in changed]
    sizes = {len(name) for name in (*ids.values(), *known.values())}  # ids of one length are the same digests
    if files != index.files or len(sizes) != 1 or len({*gone, *changed}) > max(len(pages) // _PART, _FEW):
        return None
    ids, before, after = ids | known, index.texts(gone), {url: text_from_json(read(url)) for url in changed}
    old, new = ({ids[url]: terms_of(text) for url, text in texts.items()} for texts in (before, after))
    listed = {name: _as_now(page, pages[page.url]) for name, page in index.pages.items() if page.url in pages}
    listed |= {ids[url]: _indexed(url, pages[url], text, new[ids[url]]) for url, text in after.items()}
    words = read_list_of_words(index.read(SEARCH_WORDS).decode())
    words.subtract(_words(before.values()))
    words.update(_words(after.values()))
    return _changed_terms(index, old, new) | _lists(listed, files, words)


def _changed_terms(index: WrittenIndex, old: Mapping[str, Terms], new: Mapping[str, Terms]) -> dict[str, bytes]:
    """Return the files of the terms that differ between the old and the new texts of pages, which are given by id."""
    size = len(next(iter((*old, *new)), ""))
    different = {file_number(term, index.files) for term, _ in _records(old) ^ _records(new)}
    parts = index_of_pages(new.items(), index.files)
    content = {}
    for number in sorted(different):
        path = search_terms_path(number)
        others = without_pages(index.read(path).decode(), old, size)
        content[path] = merged((others, parts[number]), size).encode()
    return content


def index_with_texts(output: Path, texts: Mapping[str, bytes]) -> dict[str, bytes] | None:
    """Return the files of the index in the output that may be different now, when only the texts of some pages changed.

    `texts` are the texts by the output paths of their pages.  None when the whole index must be made.
    """
    index, by_url = written_index(output), {url_of(path): data for path, data in texts.items()}
    pages = {page.url: FoundPage(page.kind, page.lang, page.names[1:]) for page in index.pages.values()}
    return changed_index(pages, index, by_url, by_url.__getitem__)


def url_of(path: str) -> str:
    """Return the URL of the page in a file of the output."""
    return path.removesuffix("index.html")


def _records(pages: Mapping[str, Terms]) -> set[tuple[str, str]]:
    """Return the records of pages by id, each with its term."""
    return {(term, record(name, weight)) for name, terms in pages.items() for term, weight in terms.items()}


def _indexed(url: str, page: FoundPage, text: PageText, terms: Terms) -> IndexedPage:
    return IndexedPage(url, page.kind, page.lang, sum(terms.values()), (text.title, *page.names))


def _as_now(indexed: IndexedPage, page: FoundPage) -> IndexedPage:
    """Return a page of which the text is as it was; its other names may be new."""
    return replace(indexed, kind=page.kind, lang=page.lang, names=(indexed.names[0], *page.names))


def _words(texts: Iterable[PageText]) -> Counter[str]:
    """Return the words of headings, each with the number of pages that have it."""
    return Counter(word for text in texts for word in words_of_headings(text))


def _lists(pages: Mapping[str, IndexedPage], files: int, words: Mapping[str, int]) -> dict[str, bytes]:
    return {SEARCH_PAGES: list_of_pages(pages, files), SEARCH_WORDS: list_of_words(words).encode()}
