"""Digest everything that the templates of a sheet receive, so that no dependency of the sheet can be forgotten.

The functions that print pages run with a printer that fills no template.  It digests the values for each template,
field by field.  It does not read texts and records: a page that asks for one thereby depends on it, and the digests of
their files are among the sheet's dependencies.
"""

from __future__ import annotations

import datetime as dt
import marshal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import cache, partial
from hashlib import blake2b
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from markupsafe import Markup

from sitegen.model.linked import document_key, texts
from sitegen.model.site import Markdown
from sitegen.model.urls import output_path
from sitegen.read.reading_list import ReadingItem
from sitegen.read.worklog_tasks import TaskHistory
from sitegen.render.inputs.sources import Sources, no_artefact
from sitegen.render.rules.dependencies import TEXT, VIEW, Dependency
from sitegen.render.rules.sheet import Files, SharedDependencies, Sheet
from sitegen.render.shared.frame import Printer, Words
from sitegen.render.shared.language import PageLanguage
from sitegen.render.shared.templates import Templates

if TYPE_CHECKING:
    from sitegen.model.record import CellRecord
    from sitegen.render.inputs.evidence import Evidence

NO_NAMES: Mapping[int, tuple[str, str]] = MappingProxyType({})
_PLAIN = frozenset({str, int, float, bool, bytes, type(None)})


@dataclass(frozen=True)
class TracedSources(Sources):
    """Sources without the contents of texts and records; `read` notes each access to a record."""

    read: set[str] = field(default_factory=set, repr=False)
    whole: Sources | None = field(default=None, repr=False)
    """The sources with contents.  They have the values that take long to compute and depend on no content."""

    @property
    def task_history(self) -> TaskHistory:
        assert self.whole is not None
        return self.whole.task_history

    @property
    def reading_list(self) -> Mapping[str, ReadingItem]:
        assert self.whole is not None
        return self.whole.reading_list

    @property
    def evidence(self) -> Evidence:
        from sitegen.render.inputs.evidence import Evidence

        self.read.add("records")
        return Evidence()

    def cell_records(self, post: str, label: str) -> tuple[CellRecord, ...]:
        self.read.add("records")
        return ()


def traced_sources(sources: Sources) -> TracedSources:
    """Return the same sources without contents, from which reading a text is a KeyError."""
    given = {one.name: getattr(sources, one.name) for one in fields(Sources)}
    return TracedSources(
        whole=sources,
        **given
        | {
            "fragments": {},
            "load_probes": dict,
            "load_program_parts": dict,
            "load_artefact": no_artefact,
            "drawn": _undrawn,
        },
    )


def _undrawn(source: str, draw: Callable[[str], bytes]) -> bytes:
    return source.encode()


@dataclass(frozen=True, slots=True)
class KeyPrinter(Printer):
    """A printer that returns the digest of the values for a page in place of the page; `texts` are those that pages ask
    for.
    """

    texts: dict[str, None] = field(default_factory=dict)

    def language(self, lang: str = "") -> PageLanguage:
        """Return the language without its words: catalogues are templates, on which every sheet depends."""
        return PageLanguage(lang or self.sources.config.language)

    def of_text(self, name: str, make: Callable[[str], Words]) -> Words:
        self.texts[name] = None
        return cast(Words, Markup(name))

    def html_of(self, what: object, make: Callable[[], str]) -> Markup:
        return Markup(digest_of(what).hex())

    def page(self, template: str, here: str, page: object, **frame: Any) -> tuple[str, str]:
        return output_path(here), digest_of((template, here, page, frame)).hex()

    def fragment(self, template: str, part: object, lang: str = "") -> Markup:
        return Markup(digest_of((template, part, lang)).hex())

    def text(self, template: str, url: str, page: object) -> tuple[str, str]:
        return output_path(url), digest_of((template, page)).hex()


class Quotation(str):
    """Plain words from a text.  A `NotingPrinter` knows them again among the values of a page, as it knows HTML."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class NotingPrinter(Printer):
    """A printer that also notes what a `KeyPrinter` would return for the same pages, so that no page is made twice."""

    texts: dict[str, None] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    """The digest of each page, by output path."""
    made: dict[int, tuple[str, str]] = field(default_factory=dict)
    """The name and the result of each call of `of_text`, by the `id` of the result."""
    differences: set[str] = field(default_factory=set)
    """The reasons for which the digests are not those of a `KeyPrinter`."""

    def language(self, lang: str = "") -> PageLanguage:
        spoken = Printer.language(self, lang)
        if spoken.words:
            self.differences.add("words of another language")
        return spoken

    def of_text(self, name: str, make: Callable[[str], Words]) -> Words:
        made = Printer.of_text(self, name, make)
        if type(made) is str:
            made = cast(Words, Quotation(made))
        self.texts[name] = None
        self.made[id(made)] = (name, made)
        if type(made) not in (Markup, Quotation):
            self.differences.add("parts of a text")
        return made

    def page(self, template: str, here: str, page: object, **frame: Any) -> tuple[str, str]:
        self.pages[output_path(here)] = digest_of((template, here, page, frame), self.made).hex()
        return Printer.page(self, template, here, page, **frame)

    def noted(self, files: Files) -> PageNotes | None:
        """Return the notes on the printed files; None when a `KeyPrinter` would return something else."""
        known = files.keys() == self.pages.keys() and not self.differences
        return PageNotes(digest_of(self.pages), tuple(self.texts), records=False) if known else None


@dataclass(frozen=True, slots=True)
class PageNotes:
    """The dependencies of the pages of a sheet, as a printer noted them."""

    view: bytes
    texts: tuple[str, ...]
    """The texts, by `document_key`."""
    records: bool


class Keys:
    """A decorator of sheets, which adds the digest of the values for its templates to the dependencies of each."""

    def __init__(self, shared: SharedDependencies) -> None:
        self._shared, self._sources, self._templates = shared, traced_sources(shared.sources), Templates()
        self._texts = {document_key(text): text for text in texts(shared.sources.site)}
        self._noted: dict[str, PageNotes] = {}
        """The notes of printing by the sheet's name, until the sheet's dependencies are asked for."""

    def keyed(self, sheet: Sheet) -> Sheet:
        make = sheet.make if sheet.measured else partial(self._make, sheet)
        return replace(sheet, dependencies=partial(self._dependencies, sheet), make=make)

    def _make(self, sheet: Sheet, printer: Printer) -> Files:
        noting = NotingPrinter(printer.sources, printer.templates, printer.kept, printer.footers)
        files = sheet.make(noting)
        if noted := noting.noted(files):
            self._noted[sheet.name] = noted
        return files

    def _trace(self, sheet: Sheet) -> PageNotes:
        self._sources.read.clear()
        printer = KeyPrinter(self._sources, self._templates)
        view = digest_of(sheet.make(printer))
        return PageNotes(view, tuple(printer.texts), bool(self._sources.read))

    def _dependencies(self, sheet: Sheet) -> tuple[Dependency, ...]:
        noted = self._noted.pop(sheet.name, None) or self._trace(sheet)
        return tuple(self._list_dependencies(sheet, noted))

    def _list_dependencies(self, sheet: Sheet, noted: PageNotes) -> Iterator[Dependency]:
        own = document_key(sheet.text.body) if sheet.text else ""
        if own in noted.texts:
            text = self._texts[own]
            yield Dependency(TEXT, self._content_id(text), (text.path,))
        yield from sheet.dependencies()
        yield from self._of_texts([self._texts[name] for name in noted.texts if name != own])
        if noted.texts:
            yield Dependency(
                "the targets of links", tuple([self._shared.hrefs(self._texts[name]).value for name in noted.texts])
            )
        if noted.records or any(map(self._shared.shows_kernels, noted.texts)):
            yield self._shared.measured
        yield Dependency(VIEW, noted.view)

    def _of_texts(self, others: Sequence[Markdown]) -> Iterator[Dependency]:
        if others:
            paths = dict.fromkeys(text.path for text in others)
            yield Dependency("the texts that it shows", tuple(map(self._content_id, others)), tuple(paths))

    def _content_id(self, text: Markdown) -> str | bytes:
        """Return the identity of a text's content: the digest of its file, or the words of a worklog day, because
        several days share a file.
        """
        return text.text or self._shared.file(text.path)


def digest_of(value: object, names: Mapping[int, tuple[str, str]] = NO_NAMES) -> bytes:
    """Return a digest of everything in `value`.  A value with a name in `names`, by `id`, is digested as its name.

    Raises TypeError for a type without a known digest.
    """
    return blake2b(
        marshal.dumps(_plain(value, names), 2), digest_size=16
    ).digest()  # in version 2 the value decides alone


def _plain(value: Any, names: Mapping[int, tuple[str, str]]) -> Any:
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple or kind is list:
        return tuple(_all_plain(value, names))
    if kind is Markup or kind is Quotation:
        return names[id(value)][0] if id(value) in names else str(value)
    if values := _values(kind):
        return (kind.__name__, *_all_plain(values(value), names))
    if kind is dict or isinstance(value, Mapping):
        return tuple([(_plain(key, names), _plain(one, names)) for key, one in value.items()])
    if isinstance(value, Enum):
        return _plain(value.value, names)
    if isinstance(value, dt.date):
        return value.isoformat()
    raise TypeError(f"a page shows a {kind.__name__}, of which there is no digest: {value!r}")


def _all_plain(values: Sequence[Any], names: Mapping[int, tuple[str, str]]) -> Sequence[Any]:
    """Return the values themselves when all are plain, as in the views that a page holds most of."""
    return values if _PLAIN.issuperset(map(type, values)) else [_plain(one, names) for one in values]


@cache
def _values(kind: type) -> Callable[[Any], tuple[Any, ...]] | None:
    """Return a function that returns the values of a dataclass in order; None for any other type."""
    if not is_dataclass(kind):
        return None
    names = [one.name for one in fields(kind)]
    if len(names) == 1:
        only = names[0]
        return lambda value: (getattr(value, only),)
    return attrgetter(*names) if names else lambda value: ()
