"""Make the index of search: files of terms, each with the pages that contain it, and the list of pages.

A file of terms has a line for each term: the term, and a record for each page.  A record is the id of the page and one
character for the weight of the term there.  An id is a digest of the page's address, so an edit of one page, and a new
page too, changes only the records of that page.  The index of some pages has the same form as that of all, and
`merged` makes one of several.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from string import ascii_lowercase, ascii_uppercase, digits

from sitegen.render.outputs.search_terms import file_number, terms, tokens
from sitegen.render.outputs.search_text import PageText

_WEIGHTS = f"{ascii_uppercase}{ascii_lowercase}{digits}-_"
_IN_TITLE, _IN_HEADING = 8, 4
"""How many words of a text a word of a title or of a heading counts for."""
_PAGES_OF_FILE = 4
_FEWEST_FILES, _MOST_FILES = 16, 1024
_SPELLED = 4
"""Letters of a word that is long enough to be corrected."""

Terms = Mapping[str, int]
"""The weight of each term of a page."""


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """The entry of a page in the list of pages."""

    url: str
    kind: str
    lang: str
    length: int
    """The sum of the weights of its terms."""
    names: tuple[str, ...]
    """Its title, and other names by which readers may ask for it."""


def number_of_files(pages: int) -> int:
    """Return the number of files of terms: a power of two that grows with the site, so that a file stays small."""
    files = _FEWEST_FILES
    while files < _MOST_FILES and files * _PAGES_OF_FILE < pages:
        files *= 2
    return files


def page_ids(urls: Collection[str]) -> dict[str, str]:
    """Return the id of each page by its address: as few characters of a digest as make all ids different."""
    whole = {url: urlsafe_b64encode(blake2b(url.encode(), digest_size=18).digest()).decode() for url in urls}
    length = next(n for n in count(2) if len({digest[:n] for digest in whole.values()}) == len(whole))
    return {url: digest[:length] for url, digest in whole.items()}


def terms_of(text: PageText) -> Terms:
    """Return the terms of a page with their weights."""
    weights = Counter[str]()
    headings = " ".join(section.heading for section in text.sections)
    body = " ".join(section.text for section in text.sections)
    for words, weight in ((text.title, _IN_TITLE), (headings, _IN_HEADING), (body, 1)):
        for token, times in tokens(words).items():
            for term in terms(token):
                weights[term] += times * weight
    return weights


def words_of_headings(text: PageText) -> set[str]:
    """Return the words of a page's title and headings that are long enough to be corrected."""
    words = tokens(" ".join((text.title, *(section.heading for section in text.sections))))
    return {word for word in words if len(word) >= _SPELLED and word.isalpha()}


def index_of_pages(pages: Iterable[tuple[str, Terms]], files: int) -> list[str]:
    """Return the files of terms of pages, each with its id."""
    indexed: list[dict[str, str]] = [{} for _ in range(files)]
    for name, weights in pages:
        for term, weight in weights.items():
            of_file = indexed[file_number(term, files)]
            of_file[term] = of_file.get(term, "") + record(name, weight)
    return [_lines(of_file) for of_file in indexed]


def record(name: str, weight: int) -> str:
    """Return the record of a term on the page with an id."""
    return name + _WEIGHTS[min(weight, len(_WEIGHTS) - 1)]


def merged(parts: Iterable[str], id_length: int) -> str:
    """Return one file of terms made of those of different pages."""
    of_file: dict[str, str] = {}
    for part in parts:
        for term, records in _terms_in(part):
            of_file[term] = of_file.get(term, "") + records
    return _lines({term: "".join(sorted(_each(records, id_length))) for term, records in of_file.items()})


def without_pages(part: str, ids: Collection[str], id_length: int) -> str:
    """Return a file of terms without the records of some pages."""
    kept = {
        term: "".join(one for one in _each(records, id_length) if one[:-1] not in ids)
        for term, records in _terms_in(part)
    }
    return _lines(kept)


def _terms_in(part: str) -> Iterator[tuple[str, str]]:
    """Yield (term, records) of each line."""
    for line in part.splitlines():
        term, _, records = line.partition(" ")
        yield term, records


def _each(records: str, id_length: int) -> list[str]:
    return [records[at : at + id_length + 1] for at in range(0, len(records), id_length + 1)]


def _lines(of_file: Mapping[str, str]) -> str:
    return "".join(f"{term} {records}\n" for term, records in sorted(of_file.items()) if records)


def list_of_pages(pages: Mapping[str, IndexedPage], files: int) -> bytes:
    """Return the list of pages as the browser and the next build read it; `pages` are by id."""
    rows = [[name, one.url, one.kind, one.lang, one.length, *one.names] for name, one in pages.items()]
    shown = {"files": files, "pages": sorted(rows, key=lambda row: str(row[1]))}
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()


def read_list_of_pages(data: bytes) -> tuple[dict[str, IndexedPage], int]:
    """Return what `list_of_pages` wrote: the pages by id, and the number of files."""
    shown = json.loads(data)
    pages = {
        name: IndexedPage(url, kind, lang, length, tuple(names))
        for name, url, kind, lang, length, *names in shown["pages"]
    }
    return pages, shown["files"]


def list_of_words(words: Mapping[str, int]) -> str:
    """Return the words of all headings, each with the number of pages that have it, one on a line."""
    return "".join(f"{word} {pages}\n" for word, pages in sorted(words.items()) if pages)


def read_list_of_words(text: str) -> Counter[str]:
    """Return what `list_of_words` wrote."""
    return Counter({word: int(pages) for word, _, pages in (line.partition(" ") for line in text.splitlines())})
