"""Turn a folder into the plan of an import, by the rules of its dialect."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from sitegen import inside
from sitegen.diagnostics import Diagnostic, Span
from sitegen.importing.folders.authors import authors_yaml, site_authors
from sitegen.importing.folders.front_matter import front_matter
from sitegen.importing.folders.html import plain_html
from sitegen.importing.folders.links import LinkBook, TextLinks
from sitegen.importing.folders.passages import Kept
from sitegen.importing.folders.placing import Found, Place, as_alias, is_home, placed
from sitegen.importing.folders.source import Folder, read_folder
from sitegen.importing.included import TOO_MUCH, IncludedSoFar
from sitegen.importing.jekyll.yaml_text import entry
from sitegen.importing.plan import ImportPlan

DEEPEST = 50
"""Most blocks around another in a text."""


@dataclass(slots=True)
class TextConversion:
    """The conversion of one text: what it is, what its links may lead to, and what was noted on the way."""

    folder: Folder
    found: Found
    links: TextLinks
    cells: bool = False
    """Whether the text has an executable cell, so that it is a folder."""
    noted: dict[str, int] = field(default_factory=dict)
    """How often each form without a counterpart stood in the text."""
    tags: list[str] = field(default_factory=list)
    """Tags that stood in the text."""
    labels: int = 0
    """How many cells got a label that counts them."""
    included: tuple[str, ...] = ()
    """The files that are being included, the outermost first."""
    depth: int = 0
    """How many blocks stand around the text that is being converted."""
    included_so_far: IncludedSoFar = field(default_factory=IncludedSoFar)

    @contextmanager
    def within(self, path: str) -> Iterator[None]:
        """Note that a file is being included."""
        before, self.included = self.included, (*self.included, path)
        yield
        self.included = before

    def may_include(self, text: str) -> bool:
        """Count an included text, and note it where the document may include no more."""
        if room := self.included_so_far.has_room(text):
            return room
        self.note(TOO_MUCH)
        return False

    def inner(self, text: str, write: Callable[[TextConversion, str], str]) -> str:
        """Return the text within a block as `write` converts it; a text within `DEEPEST` blocks stays."""
        if self.depth >= DEEPEST:
            self.note(f"a block within {DEEPEST} others")
            return text
        self.depth += 1
        written = write(self, text)
        self.depth -= 1
        return written

    def next_label(self) -> str:
        """Return the label for a cell without one."""
        self.labels += 1
        return f"cell-{self.labels}"

    def note(self, what: str) -> None:
        self.noted[what] = self.noted.get(what, 0) + 1

    def finished(self, text: str, kept: Kept) -> str:
        """Return the text with its HTML and its links as they are here, and with what was kept aside."""
        text, left_out = plain_html(text)
        for name in left_out:
            self.note(f"`<{name}>`")
        return kept.restored(self.links.followed(text))


@dataclass(frozen=True, slots=True)
class Dialect:
    """The functions by which texts of one program, such as Hugo, are found and rewritten."""

    name: str
    find: Callable[[Folder], Sequence[Found]]
    write: Callable[[TextConversion, str], str]
    """The body of a text in the Markdown of sitegen."""
    title: Callable[[Folder], str]
    base_url: Callable[[Folder], str] = lambda folder: ""
    language: Callable[[Folder], str] = lambda folder: "en"
    """The language of texts that name none."""
    roots: Callable[[Folder], Sequence[str]] = lambda folder: ("",)
    shared: Callable[[Folder, Mapping[str, Place]], Mapping[str, str]] = lambda folder, places: {}
    """Files beside the texts, such as series and the bibliography."""
    made: frozenset[str] = frozenset()
    """Folders at the top that the program makes; below the top they may hold texts."""


def import_folder(root: Path, dialect: Dialect, today: dt.date) -> ImportPlan:
    """Plan every file of the new site; a text without a date is dated `today`, which a warning says."""
    folder = read_folder(root, dialect.made)
    found = sorted(dialect.find(folder), key=lambda one: bool(one.lang))
    if not found:
        nothing = Diagnostic("SG606", "no texts", Span(root.name), f"is this a folder of {dialect.name}?")
        return ImportPlan({}, (*folder.diagnostics, nothing), folder.texts)
    places, base_url = placed(found), dialect.base_url(folder)
    urls = {url.strip("/"): one.text.path for one in found for url in (*one.aliases, one.url) if url.strip("/")}
    bodies = {one.text.path: one.text.body for one in found}
    book = LinkBook(places, urls, frozenset(folder.files), dialect.roots(folder), base_url, bodies=bodies)
    authors = site_authors(found)
    site = _site(dialect.title(folder) or root.name, base_url, dialect.language(folder)) + authors_yaml(authors)
    files: dict[str, str | bytes | Path] = {"content/site.yaml": site}
    files |= dialect.shared(folder, places)
    sources, unknown = dict[str, tuple[str, str]](), dict[str, list[tuple[str, int]]]()
    for one in found:
        conversion = TextConversion(folder, one, TextLinks(book, one))
        path, made = _written(conversion, dialect, today, unknown, authors)
        files |= made
        sources[path] = (one.text.path, one.text.body)
        _tell(conversion)
    _tell_all(folder, found, unknown, today)
    return ImportPlan(files, tuple(folder.diagnostics), folder.texts, sources=sources)


def _site(title: str, base_url: str, language: str) -> str:
    address = base_url if base_url.startswith(("http://", "https://")) else "https://example.org/"
    spoken = entry("language", language) if language != "en" else ""
    return entry("title", " ".join(title.split())) + entry("base_url", address.rstrip("/") + "/") + spoken


def _written(
    conversion: TextConversion,
    dialect: Dialect,
    today: dt.date,
    unknown: dict[str, list[tuple[str, int]]],
    authors: Mapping[str, str],
) -> tuple[str, Mapping[str, str | Path]]:
    """Return the path of the new text, and its files."""
    one, place, links = conversion.found, conversion.links.place, conversion.links
    body = dialect.write(conversion, one.text.body).strip("\n") + "\n"
    tags = tuple(dict.fromkeys((*one.tags, *conversion.tags)))
    path = place.file(as_folder=conversion.cells or bool(links.assets))
    made: dict[str, str | Path] = {path: front_matter(replace(one, tags=tags), place, today, unknown, authors) + body}
    root = conversion.folder.root
    made |= {f"{place.folder}/{name}": inside.resolved(root, asset) for asset, name in links.assets.items()}
    return path, made


def _tell(conversion: TextConversion) -> None:
    """Report once for each text what came over in another form."""
    path, folder, links = conversion.found.text.path, conversion.folder, conversion.links
    for url in (conversion.found.url, *conversion.found.aliases):
        if not is_home(url) and not as_alias(url):
            folder.warn("SG607", f"the old address `{url}` cannot be kept", path, 1, "nothing answers there now")
    if links.remote_images:
        said = f"{links.remote_images} images of other hosts are links: a page loads nothing from elsewhere"
        folder.warn("SG603", said, path, conversion.found.text.line, "put the images beside the text")
    if conversion.noted:
        forms = ", ".join(f"{what} × {number}" if number > 1 else what for what, number in conversion.noted.items())
        said = f"without a counterpart here: {forms}"
        folder.warn("SG605", said, path, conversion.found.text.line, "the words stay; look at the place")


def _tell_all(
    folder: Folder, found: Sequence[Found], unknown: Mapping[str, Sequence[tuple[str, int]]], today: dt.date
) -> None:
    """Report what concerns many texts once: keys without a place here, and texts without a date."""
    for key, ((path, line), *others) in unknown.items():
        also = f"; also in {len(others)} other texts" if others else ""
        folder.warn("SG602", f"front matter key `{key}` has no place here", path, line, f"it stays as a comment{also}")
    undated = [one.text.path for one in found if one.section == "posts" and one.date is None]
    if undated:
        also = f" and {len(undated) - 1} other texts" if len(undated) > 1 else ""
        said = f"no date: this text{also} has the day of the import, {today}"
        folder.warn("SG608", said, undated[0], 1, "write the day on which it was written as `date:`")
