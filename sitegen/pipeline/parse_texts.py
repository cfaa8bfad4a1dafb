"""Turn the files of a site into parts and documents.  Texts that did not change come from the cache; the others are
parsed on all cores.

The values of a text that other pages may show (its front matter, its mistakes) are small and stay in memory.  Its
document is unpacked when it is needed.  Its HTML goes to the `FragmentStore` at once, in the process that parsed it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sitegen import inside
from sitegen.diagnostics import Diagnostic
from sitegen.markup.pieces import Pieces
from sitegen.model.document import Document
from sitegen.model.site import Post, Ref, SiteConfig
from sitegen.model.vocabulary import FOLDER
from sitegen.pipeline.additions import is_addition, site_additions
from sitegen.pipeline.catalogues import vocabularies
from sitegen.pipeline.fragments import Fragments, FragmentsInMemory, FragmentStore
from sitegen.pipeline.parsed_part import (
    NO_DOCUMENTS,
    CacheEntries,
    CacheEntry,
    ParsedPart,
    PiecePlace,
    from_entry,
    without_text,
)
from sitegen.pipeline.plugins import installed_versions, load_plugins
from sitegen.pipeline.read_files import SiteFiles
from sitegen.pipeline.site_cache import SiteCache
from sitegen.pipeline.text_interface import interface_of_text
from sitegen.pipeline.unchanged_days import unchanged_days, without_days
from sitegen.pipeline.workers import in_batches, map_batches
from sitegen.read.config import zone_of
from sitegen.read.load import WORKLOG, SitePart, Worklog, is_text, parse_part, parts_of
from sitegen.read.privacy import Privacy
from sitegen.read.root import SITE_FILE
from sitegen.read.source import decode
from sitegen.read.texts import unreadable
from sitegen.write.cache import pack
from sitegen.write.fragments import FragmentFiles, FragmentReference, LostFragmentError
from sitegen.write.scan import Signature, digest_file, digest_of

if TYPE_CHECKING:
    from sitegen.markup.parse import ParsedText

TEXTS = ("content/posts/", "content/pages/", "content/terms/", "content/exercises/", "content/worklog/")
"""The folders of the parts that have documents."""
CATALOGUES = f"templates/{FOLDER}"
_PRINTER = "sitegen.pipeline.print_pages"


@dataclass(frozen=True, slots=True)
class ParsedSite:
    """All parts of a site, parsed one by one.  No link is resolved."""

    files: SiteFiles
    parts: Mapping[str, ParsedPart]
    """The parts by name, in the order of their files."""
    digests: Mapping[str, bytes]
    """The digest of the content of every file, by path."""
    fragments: Mapping[str, str]
    """The HTML of each document, by `document_key`."""
    entries: CacheEntries
    """The parts in the form of the cache."""
    cache: SiteCache
    parser: TextParser


def parse_texts(files: SiteFiles) -> ParsedSite:
    """Parse the texts that changed since the last build, and take the others from the cache."""
    request = files.request
    store: FragmentStore = FragmentsInMemory() if request.in_memory else FragmentFiles(request.cache / "fragments")
    cache, parser = SiteCache(request), TextParser(request.root, files.signatures, store, request.privacy)
    if cache.is_new:
        store.clear()
    with request.steps.step("parse", len(parser.sources)) as tick:
        digests = known_digests(files)
        texts = parser.parse(digests, cache.entries, request.processes, tick, meanwhile=lambda: import_module(_PRINTER))
    fragments = Fragments(store, texts.parts, parser.html_of)
    return ParsedSite(files, texts.parts, texts.digests, fragments, texts.entries, cache, parser)


def known_digests(files: SiteFiles) -> dict[str, bytes]:
    """Return the digests of the files that did not change since the previous build, and of the files that are not
    texts.
    """
    previous, root, signatures = files.previous, files.request.root, files.signatures
    same = {path for path, now in signatures.items() if previous and previous.signatures.get(path) == now}
    known = {path: previous.digests[path] for path in same} if previous else {}
    return known | {path: digest_file(root, path) for path in signatures if path not in known and not is_text(path)}


@dataclass(frozen=True, slots=True)
class ParserSetting:
    """The values beside its own file on which the parsing of a text depends."""

    zone: dt.tzinfo = dt.UTC
    language: str = "en"
    catalogues: tuple[tuple[str, bytes], ...] = ()
    """The site's own catalogues, directives and data: path and digest."""
    plugins: tuple[Ref, ...] = ()
    """The names of the site's plugins."""


def setting_of(config: SitePart | None, digests: Mapping[str, bytes]) -> ParserSetting:
    """Return the setting for a site with that configuration; `digests` are those of all its files."""
    if not isinstance(config, SiteConfig):
        return ParserSetting()
    catalogues = sorted(pair for pair in digests.items() if pair[0].startswith(CATALOGUES) or is_addition(pair[0]))
    return ParserSetting(zone_of(config), config.language, tuple(catalogues), config.plugins)


@dataclass(slots=True)
class ParsedTexts:
    """The parts that were parsed or taken from the cache so far."""

    digests: dict[str, bytes]
    """The digest of the content of every file, by path."""
    entries: dict[str, CacheEntry] = field(default_factory=dict)
    parts: dict[str, ParsedPart] = field(default_factory=dict)

    def add(self, name: str, entry: CacheEntry) -> None:
        self.entries[name], self.parts[name] = entry, from_entry(entry)

    def sorted_as(self, names: Iterable[str]) -> ParsedTexts:
        """Return the same parts in the order of `names`."""
        order = tuple(names)
        return ParsedTexts(
            self.digests, {name: self.entries[name] for name in order}, {name: self.parts[name] for name in order}
        )


@dataclass(frozen=True, slots=True)
class ParsedEntry:
    """One part, as a worker process returns it."""

    name: str
    digests: Mapping[str, bytes]
    """The digests of its files now."""
    new: CacheEntry | None
    """The new entry for the cache; None when the present entry is still right."""


@dataclass(frozen=True, slots=True)
class ReadPart:
    """A part of the site that is read from its files, and whose texts are not parsed yet."""

    key: bytes
    """The key of its new entry in the cache."""
    part: SitePart | None
    mistakes: tuple[Diagnostic, ...]
    before: ParsedPart
    unchanged: Mapping[str, Document]
    """The documents of a worklog that are as they were, by `document_key`."""

    @property
    def to_parse(self) -> SitePart | None:
        """The part without the days that are as they were."""
        return without_days(self.part, self.unchanged)


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document that was parsed now; its HTML is in the store."""

    document: Document
    html: FragmentReference
    pieces: tuple[PiecePlace, ...]
    mistakes: tuple[Diagnostic, ...]


NewDocuments = Mapping[str, NewDocument]
"""The new documents of a part by `document_key`."""


class TextParser:
    """A parser of the texts of one site, for one build."""

    def __init__(self, root: Path, signatures: Mapping[str, Signature], store: FragmentStore, privacy: Privacy) -> None:
        self.root, self.signatures, self.store, self.privacy = root, signatures, store, privacy
        texts = [path for path in signatures if is_text(path)]
        self.sources = {path: (path,) for path in texts} | parts_of(texts)
        """The files from which each part is parsed, by the part's name."""
        self._content = lru_cache(maxsize=512)(lambda path: content_of(root, path))
        self.use(ParserSetting())

    def use(self, setting: ParserSetting) -> None:
        """Parse all further texts in that setting."""
        self.setting, self.vocabulary_of = setting, vocabularies(self.root, setting.language)
        self.plugins, of_plugins = load_plugins(setting.plugins)
        self.added, of_files = site_additions(self.root, self.plugins)
        self.mistakes_of_additions = (*of_plugins, *of_files)
        self._setting_key = (
            f"{setting.zone} {setting.language} {setting.catalogues} {installed_versions(setting.plugins)}".encode()
        )

    def parse(
        self,
        digests: Mapping[str, bytes],
        cached: CacheEntries,
        processes: int,
        tick: Callable[[int], object],
        meanwhile: Callable[[], object] = lambda: None,
    ) -> ParsedTexts:
        """Return all parts of the site.

        `digests` are those that are known already.  `tick` is called with the number of further parts that are done.
        `meanwhile` is called while other processes parse.
        """
        texts = ParsedTexts(dict(digests))
        self._parse_config(texts, cached)
        waiting = self._take_from_cache(texts, cached)
        for answers in self._parse_batches(waiting, cached, processes, meanwhile):
            for one in answers:
                texts.digests.update(one.digests)
                texts.add(one.name, one.new or cached[one.name])
                _ = texts.parts[one.name].documents  # unpacked while workers parse, because linking needs all
            tick(len(answers))
        self.store.close()
        return texts.sorted_as(self.sources)

    def _parse_config(self, texts: ParsedTexts, cached: CacheEntries) -> None:
        """Parse the configuration, which decides with the additions of the site how all other texts are parsed."""
        additions = [path for path in self.signatures if is_addition(path) and path not in texts.digests]
        texts.digests.update((path, digest_of(self._content(path))) for path in additions)
        [config] = self._entries([SITE_FILE], cached, "0")
        texts.digests.update(config.digests)
        texts.add(SITE_FILE, config.new or cached[SITE_FILE])
        self.use(setting_of(texts.parts[SITE_FILE].part, texts.digests))

    def _take_from_cache(self, texts: ParsedTexts, cached: CacheEntries) -> list[str]:
        """Take the parts whose files are known not to have changed, and return the names of the others."""
        waiting, known = [], texts.digests
        for name, paths in self.sources.items():
            if name in cached and all(path in known for path in paths) and cached[name][0] == self._key(name, known):
                texts.add(name, cached[name])
            elif name != SITE_FILE:
                waiting.append(name)
        return waiting

    def _parse_batches(
        self, names: Sequence[str], cached: CacheEntries, processes: int, meanwhile: Callable[[], object]
    ) -> Iterator[list[ParsedEntry]]:
        """Parse the parts of these names on all cores, batch by batch.

        A worklog is one part, which this process reads; its days are parsed in batches as other texts are.
        """
        size_of, texts = self.signatures, [name for name in names if name != WORKLOG]
        batches: list[Sequence[str] | Worklog] = [
            *in_batches(texts, processes, lambda name: sum(size_of[path][0] for path in self.sources[name]))
        ]
        if names:
            import_module("sitegen.markup.documents")  # imported once, and inherited by the workers
        digests = self._digests(WORKLOG) if WORKLOG in names else {}
        worklog = self._read(WORKLOG, digests, cached) if digests else None
        batches += _batches_of_days(worklog, processes) if worklog else ()
        self.store.close()

        def work(batch: Sequence[str] | Worklog, worker: int) -> list[ParsedEntry] | NewDocuments:
            if worklog and isinstance(batch, Worklog):
                return self._documents([self._texts(worklog, batch)], str(worker))[0]
            assert not isinstance(batch, Worklog)
            return self._entries(batch, cached, str(worker))

        days: dict[str, NewDocument] = {}
        for answer in map_batches(work, batches, processes, meanwhile):
            if isinstance(answer, list):
                yield answer
            else:
                days |= answer
        if digests:
            new = self._new_entry(worklog, dict(sorted(days.items()))) if worklog else None
            yield [ParsedEntry(WORKLOG, digests, new)]

    def html_of(self, name: str) -> dict[str, str]:
        """Return the HTML of a part's documents, parsed again."""
        from sitegen.markup.documents import documents_of

        part = self._read_part(name)[0]
        documents = documents_of(part, self.vocabulary_of, self.added) if part else ()
        return {key: document.html for key, (document, _) in documents}

    def _entries(self, names: Sequence[str], cached: CacheEntries, file: str) -> list[ParsedEntry]:
        """Return the entry of each part; new HTML goes to that file of the store."""
        digests = {name: self._digests(name) for name in names}
        read = {name: part for name in names if (part := self._read(name, digests[name], cached))}
        parsed = self._documents([self._texts(part, part.to_parse) for part in read.values()], file) if read else []
        new = {
            name: self._new_entry(part, documents) for (name, part), documents in zip(read.items(), parsed, strict=True)
        }
        return [ParsedEntry(name, digests[name], new.get(name)) for name in names]

    def _digests(self, name: str) -> dict[str, bytes]:
        return {path: digest_of(self._content(path)) for path in self.sources[name]}

    def _read(self, name: str, digests: Mapping[str, bytes], cached: CacheEntries) -> ReadPart | None:
        """Read a part from its files; None when its entry in the cache is still right."""
        key = self._key(name, digests)
        if name in cached and cached[name][0] == key:
            return None
        part, mistakes = self._read_part(name)
        before = from_entry(cached[name]) if name in cached else ParsedPart(None)
        unchanged = unchanged_days(part, before) if before.setting == self._setting_key else {}
        return ReadPart(key, part, mistakes, before, unchanged)

    def _texts(self, read: ReadPart, part: SitePart | None) -> dict[str, ParsedText]:
        """Return the texts of a part, or of some of its days, by `document_key`, with what is known of their pieces."""
        from sitegen.markup.documents import texts_of

        pieces_of = partial(self._known_pieces, read.before)
        return dict(texts_of(part, self.vocabulary_of, pieces_of, self.added)) if part else {}

    def _documents(self, texts: Sequence[Mapping[str, ParsedText]], file: str) -> list[NewDocuments]:
        """Return the documents of the texts of each part; their HTML goes to that file of the store.

        Each step runs for all parts before the next step runs for any.  That is a fifth faster than one part after
        another, because the processor's caches hold the code of a step from the second part on.
        """
        from sitegen.markup.parse import document_of, highlight_ahead

        highlight_ahead(text for of_part in texts for text in of_part.values())
        parsed = [{key: (text, *document_of(text)) for key, text in of_part.items()} for of_part in texts]
        return [{key: self._stored(*one, file) for key, one in of_part.items()} for of_part in parsed]

    def _stored(self, text: ParsedText, document: Document, mistakes: tuple[Diagnostic, ...], file: str) -> NewDocument:
        html, pieces = self.store.put(file, document.html), text.into.pieces.places(document.html)
        return NewDocument(replace(document, html=""), html, pieces, mistakes)

    def _new_entry(self, read: ReadPart, new: NewDocuments) -> CacheEntry:
        """Return the entry of a part with its new documents and those that are as they were."""
        part, before, unchanged = read.part, read.before, read.unchanged
        mistakes = (*read.mistakes, *(mistake for one in new.values() for mistake in one.mistakes))
        fragments = {key: one.html for key, one in new.items()} | {key: before.fragments[key] for key in unchanged}
        pieces = {key: one.pieces for key, one in new.items()} | {key: before.pieces[key] for key in unchanged}
        documents = {**{key: one.document for key, one in new.items()}, **unchanged}
        setting = self._setting_key if isinstance(part, Worklog) else b""
        interface = self._interface(part, documents) if isinstance(part, Post) and not mistakes else b""
        packed = pack((documents, pieces)) if documents else NO_DOCUMENTS
        return read.key, pack((without_text(part), fragments, mistakes, interface, setting)), packed

    def _interface(self, post: Post, documents: Mapping[str, Document]) -> bytes:
        path, [document] = post.body.path, documents.values()
        data = self._content(path)
        if isinstance(data, OSError) or self.sources[path] != (path,):
            return b""
        text = self.privacy.published(decode(data, path)[0], path)
        return interface_of_text(text.removesuffix(post.body.text), document)

    def _known_pieces(self, before: ParsedPart, key: str) -> Pieces:
        return Pieces(self._pieces(before, key))

    def _pieces(self, before: ParsedPart, key: str) -> dict[bytes, str]:
        """Return the known HTML of the pieces of a text, from its HTML before the edit."""
        try:
            html = self.store.get(before.fragments[key]) if before.pieces.get(key) else ""
        except LostFragmentError:
            return {}
        return {piece: html[start:end] for piece, start, end in before.pieces.get(key, ())}

    def _key(self, name: str, digests: Mapping[str, bytes]) -> bytes:
        """Return a digest of everything that a part is parsed from."""
        key = blake2b(self._setting_key if name.startswith(TEXTS) else b"", digest_size=16)
        for path in self.sources[name]:
            key.update(path.encode() + b"\0" + digests[path])
        return key.digest()

    def _read_part(self, name: str) -> tuple[SitePart | None, tuple[Diagnostic, ...]]:
        contents = {path: self._content(path) for path in self.sources[name]}
        return read_part(name, contents, self.setting.zone, self.privacy)


def _batches_of_days(read: ReadPart, processes: int) -> Iterator[Worklog]:
    """Yield the days of a worklog that are to be parsed in parts for `map_batches`, and its introduction."""
    if isinstance(worklog := read.to_parse, Worklog):
        for days in in_batches(worklog.entries, processes):
            yield Worklog(tuple(days), None)
        if worklog.intro:
            yield Worklog((), worklog.intro)


def content_of(root: Path, path: str) -> bytes | OSError:
    """Return the content of a file, or the error for which it cannot be read."""
    try:
        return inside.read_bytes(root, path)
    except OSError as error:
        return error


def read_part(
    name: str, contents: Mapping[str, bytes | OSError], zone: dt.tzinfo, privacy: Privacy
) -> tuple[SitePart | None, tuple[Diagnostic, ...]]:
    """Return the part of that name and the mistakes in it; None for a file that only other parts read."""
    files: dict[str, str] = {}
    mistakes: list[Diagnostic] = []
    for path, data in contents.items():
        if isinstance(data, OSError):
            mistakes.append(unreadable(path, data))
        else:
            text, undecodable = decode(data, path)
            files[path] = privacy.published(text, path)
            mistakes += undecodable
    if name not in parts_of(files):
        return None, tuple(mistakes)
    part, mistakes_of_part = parse_part(name, files, zone)
    return part, (*mistakes, *mistakes_of_part)
