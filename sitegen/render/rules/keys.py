"""Digest everything that the templates of a sheet receive, so that no part of its key can be forgotten.

The functions that print pages run with a printer that fills no template.  It digests what each template would be given,
field by field.  Texts and records are not read for that: a page says by asking for them that it depends on them, and
their files are parts of its key.
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
from sitegen.render.inputs.sources import Sources
from sitegen.render.rules.dependencies import TEXT, VIEW, KeyPart
from sitegen.render.rules.rule import Files, SharedParts, Sheet
from sitegen.render.shared.frame import Printer, Words
from sitegen.render.shared.language import Language
from sitegen.render.shared.templates import Templates

if TYPE_CHECKING:
    from sitegen.model.record import CellRecord
    from sitegen.render.inputs.evidence import Evidence

NO_NAMES: Mapping[int, tuple[str, str]] = MappingProxyType({})
_PLAIN = frozenset({str, int, float, bool, bytes, type(None)})


@dataclass(frozen=True)
class TracedSources(Sources):
    """Sources without the contents of texts and records; `read` notes that somebody asked for a record."""

    read: set[str] = field(default_factory=set, repr=False)

    @property
    def evidence(self) -> Evidence:
        from sitegen.render.inputs.evidence import Evidence

        self.read.add("records")
        return Evidence()

    def cell_records(self, post: str, label: str) -> tuple[CellRecord, ...]:
        self.read.add("records")
        return ()


def traced(sources: Sources) -> TracedSources:
    """Return the same sources without contents: to read a text from them is a KeyError."""
    given = {one.name: getattr(sources, one.name) for one in fields(Sources)}
    return TracedSources(**given | {"fragments": {}, "load_probes": dict, "drawn": _undrawn})


def _undrawn(source: str, draw: Callable[[str], bytes]) -> bytes:
    return source.encode()


@dataclass(frozen=True, slots=True)
class KeyPrinter(Printer):
    """Gives for each page the digest of what its template would receive; `texts` are those that pages ask for."""

    texts: dict[str, None] = field(default_factory=dict)

    def language(self, lang: str = "") -> Language:
        """The language without its words: catalogues are templates, which every key has."""
        return Language(lang or self.sources.config.language)

    def of_text(self, name: str, make: Callable[[str], Words]) -> Words:
        self.texts[name] = None
        return cast(Words, Markup(name))

    def page(self, template: str, here: str, page: object, **frame: Any) -> tuple[str, str]:
        return output_path(here), digest_of((template, here, page, frame)).hex()

    def fragment(self, template: str, part: object, lang: str = "") -> Markup:
        return Markup(digest_of((template, part, lang)).hex())

    def text(self, template: str, url: str, page: object) -> tuple[str, str]:
        return output_path(url), digest_of((template, page)).hex()


@dataclass(frozen=True, slots=True)
class NotingPrinter(Printer):
    """Prints, and notes what a `KeyPrinter` would give for the same pages, so that nothing is made twice."""

    texts: dict[str, None] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    """Digest by output path."""
    made: dict[int, tuple[str, str]] = field(default_factory=dict)
    """What was made of a text, with the name of the text, by `id`."""
    unlike: set[str] = field(default_factory=set)
    """Why the digests are not those of a `KeyPrinter`."""

    def language(self, lang: str = "") -> Language:
        spoken = Printer.language(self, lang)
        if spoken.words:
            self.unlike.add("words of another language")
        return spoken

    def of_text(self, name: str, make: Callable[[str], Words]) -> Words:
        made = Printer.of_text(self, name, make)
        self.texts[name] = None
        self.made[id(made)] = (name, made)
        if type(made) is not Markup:
            self.unlike.add("a quotation")
        return made

    def page(self, template: str, here: str, page: object, **frame: Any) -> tuple[str, str]:
        self.pages[output_path(here)] = digest_of((template, here, page, frame), self.made).hex()
        return Printer.page(self, template, here, page, **frame)

    def noted(self, files: Files) -> Noted | None:
        """Return what is known of the files that were printed; None where a `KeyPrinter` would say something else."""
        known = files.keys() == self.pages.keys() and not self.unlike
        return Noted(digest_of(self.pages), tuple(self.texts), records=False) if known else None


@dataclass(frozen=True, slots=True)
class Noted:
    """What the pages of a sheet depend on."""

    view: bytes
    texts: tuple[str, ...]
    """By `document_key`."""
    records: bool


class Keys:
    """Adds the digest of what its templates receive to the key of each sheet of a site."""

    def __init__(self, shown: SharedParts) -> None:
        self._shown, self._sources, self._templates = shown, traced(shown.sources), Templates()
        self._texts = {document_key(text): text for text in texts(shown.sources.site)}
        self._noted: dict[str, Noted] = {}
        """What was noted while a sheet was printed, by its name, until its key is asked for."""

    def keyed(self, sheet: Sheet) -> Sheet:
        make = sheet.make if sheet.measured else partial(self._make, sheet)
        return replace(sheet, shows=partial(self._shows, sheet), make=make)

    def _make(self, sheet: Sheet, printer: Printer) -> Files:
        noting = NotingPrinter(printer.sources, printer.templates, printer.kept)
        files = sheet.make(noting)
        if noted := noting.noted(files):
            self._noted[sheet.name] = noted
        return files

    def _look(self, sheet: Sheet) -> Noted:
        self._sources.read.clear()
        printer = KeyPrinter(self._sources, self._templates)
        view = digest_of(sheet.make(printer))
        return Noted(view, tuple(printer.texts), bool(self._sources.read))

    def _shows(self, sheet: Sheet) -> tuple[KeyPart, ...]:
        noted = self._noted.pop(sheet.name, None) or self._look(sheet)
        return tuple(self._parts(sheet, noted))

    def _parts(self, sheet: Sheet, noted: Noted) -> Iterator[KeyPart]:
        own = document_key(sheet.text.body) if sheet.text else ""
        if own in noted.texts:
            text = self._texts[own]
            yield KeyPart(TEXT, self._written(text), (text.path,))
        yield from sheet.shows()
        yield from self._of_texts([self._texts[name] for name in noted.texts if name != own])
        if noted.texts:
            yield KeyPart(
                "where links lead", tuple([self._shown.hrefs(self._texts[name]).value for name in noted.texts])
            )
        if noted.records or any(map(self._shown.shows_kernels, noted.texts)):
            yield self._shown.measured
        yield KeyPart(VIEW, noted.view)

    def _of_texts(self, others: Sequence[Markdown]) -> Iterator[KeyPart]:
        if others:
            paths = dict.fromkeys(text.path for text in others)
            yield KeyPart("the texts that it shows", tuple(map(self._written, others)), tuple(paths))

    def _written(self, text: Markdown) -> str | bytes:
        """Return what identifies the content of a text: the digest of its file, or the words of a day of the worklog,
        which shares a file with other days.
        """
        return text.text or self._shown.file(text.path)


def digest_of(value: object, names: Mapping[int, tuple[str, str]] = NO_NAMES) -> bytes:
    """Return a digest of everything in `value`; what has a name, by `id`, is digested as that.

    Raises TypeError for a type of which no digest is known.
    """
    return blake2b(marshal.dumps(_plain(value, names), 2), digest_size=16).digest()  # version 2: only the value decides


def _plain(value: Any, names: Mapping[int, tuple[str, str]]) -> Any:
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple or kind is list:
        return tuple(_all_plain(value, names))
    if kind is Markup:
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
    """Return the values themselves when all are plain, as in the views that a page holds most of: links, lines, facts."""
    return values if _PLAIN.issuperset(map(type, values)) else [_plain(one, names) for one in values]


@cache
def _values(kind: type) -> Callable[[Any], tuple[Any, ...]] | None:
    """Return what gives the values of a dataclass, in order; None for any other type."""
    if not is_dataclass(kind):
        return None
    names = [one.name for one in fields(kind)]
    if len(names) == 1:
        only = names[0]
        return lambda value: (getattr(value, only),)
    return attrgetter(*names) if names else lambda value: ()
