"""The files of a site → its parts and documents: what has not changed comes from the cache, the rest is parsed anew,
on all cores.

What other pages may show of a text (its front matter, mistakes) is small and stays in memory; its document is unpacked
when somebody asks for it, and its HTML goes to the shelf at once, by whichever process made it.  What parses a text is
imported when one is parsed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sitegen import inside
from sitegen.build.catalogues import vocabularies
from sitegen.build.elsewhere import face_of_text
from sitegen.build.own_pages import Piece
from sitegen.build.workers import each, in_batches
from sitegen.diagnostics import Diagnostic
from sitegen.markup.pieces import Pieces
from sitegen.model.document import Document
from sitegen.model.site import Page, Post, SiteConfig, Term
from sitegen.model.vocabulary import FOLDER
from sitegen.read.config import zone_of
from sitegen.read.load import SitePart, is_text, parse_part, parts_of
from sitegen.read.root import SITE_FILE
from sitegen.read.source import decode
from sitegen.read.texts import unreadable
from sitegen.write.cache import pack, unpack
from sitegen.write.fragments import FragmentFiles, FragmentReference, LostFragmentError
from sitegen.write.scan import Signature, digest_of

if TYPE_CHECKING:
    from sitegen.markup.parse import Text

Entry = tuple[bytes, bytes, bytes]
"""A digest of what a part was read from, the part itself, packed, and its documents with their pieces, packed."""
Entries = Mapping[str, Entry]
"""By the name of a part."""
TEXTS = ("content/posts/", "content/pages/", "content/terms/", "content/worklog/")
"""Where the parts stand that have documents."""
CATALOGUES = f"templates/{FOLDER}"


_NO_DOCUMENTS = pack(({}, {}))


@dataclass(frozen=True)
class Parsed:
    """A part with its documents, whose HTML is on the shelf."""

    part: SitePart | None
    """None of a file that is only looked at by others."""
    fragments: Mapping[str, FragmentReference] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    face: bytes = b""
    """Of a post without mistakes that is all of its file: `elsewhere.face_of_text`."""
    packed: bytes = _NO_DOCUMENTS
    """The documents and their pieces: most are of no interest to most builds."""

    @cached_property
    def _unpacked(self) -> tuple[Mapping[str, Document], Mapping[str, tuple[Piece, ...]]]:
        documents, pieces = unpack(self.packed)
        return documents, pieces

    @property
    def documents(self) -> Mapping[str, Document]:
        """By `document_key`."""
        return self._unpacked[0]

    @property
    def pieces(self) -> Mapping[str, tuple[Piece, ...]]:
        """Of each fragment."""
        return self._unpacked[1]

    @property
    def keys(self) -> Iterable[str]:
        """Of its documents."""
        return self.fragments.keys() or self.documents.keys()


@dataclass(frozen=True, slots=True)
class Read:
    """All parts of a site."""

    parsed: Mapping[str, Parsed]
    digests: Mapping[str, bytes]
    """Of the content of every file, by path."""
    entries: Entries
    """For the cache of the next build."""
    anew: tuple[str, ...]
    """The names of the parts that were parsed now."""


class Fragments(Mapping[str, str]):
    """The HTML of each document, read from the shelf when it is asked for; a lost one is made again."""

    def __init__(
        self, shelf: FragmentFiles, parsed: Mapping[str, Parsed], again: Callable[[str], Mapping[str, str]]
    ) -> None:
        self._shelf, self._again = shelf, again
        self._places = {key: (name, at) for name, one in parsed.items() for key, at in one.fragments.items()}

    def __getitem__(self, key: str) -> str:
        name, reference = self._places[key]
        try:
            return self._shelf.get(reference)
        except LostFragmentError:
            return self._again(name)[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@dataclass(frozen=True, slots=True)
class Setting:
    """What decides beside its own file how a text is read."""

    zone: dt.tzinfo = dt.UTC
    language: str = "en"
    catalogues: tuple[tuple[str, bytes], ...] = ()
    """Those of the site itself: path and digest."""


def setting_of(config: SitePart | None, digests: Mapping[str, bytes]) -> Setting:
    """`digests` are those of all files of the site."""
    if not isinstance(config, SiteConfig):
        return Setting()
    catalogues = sorted((path, digest) for path, digest in digests.items() if path.startswith(CATALOGUES))
    return Setting(zone_of(config), config.language, tuple(catalogues))


class Reader:
    """Reads one site in one build."""

    def __init__(self, root: Path, seen: Mapping[str, Signature], shelf: FragmentFiles) -> None:
        self.root, self.seen, self.shelf = root, seen, shelf
        texts = [path for path in seen if is_text(path)]
        self.wanted = {path: (path,) for path in texts} | parts_of(texts)
        self._data = lru_cache(maxsize=512)(self._open)
        self.settle(Setting())

    def settle(self, setting: Setting) -> None:
        self.setting, self.spoken = setting, vocabularies(self.root, setting.language)
        self._setting_key = f"{setting.zone} {setting.language} {setting.catalogues}".encode()

    def read(
        self,
        digests: Mapping[str, bytes],
        cached: Entries,
        processes: int,
        tick: Callable[[int], object],
        meanwhile: Callable[[], object] = lambda: None,
    ) -> Read:
        """`digests` are those that are known already; `tick` hears how many texts were read; `meanwhile` is done while
        other processes read.
        """
        known = dict(digests)
        entries: dict[str, Entry] = {}
        parsed: dict[str, Parsed] = {}
        anew: list[str] = []

        def keep(name: str, digests: Mapping[str, bytes], made: Entry | None) -> None:
            known.update(digests)
            entries[name] = made or cached[name]
            parsed[name] = self._unpacked(entries[name])
            anew.extend([name] if made else [])

        keep(*self._entries([SITE_FILE], cached, "0")[0])
        self.settle(setting_of(parsed[SITE_FILE].part, digests))
        waiting = []
        for name, paths in self.wanted.items():
            if name in cached and all(p in known for p in paths) and cached[name][0] == self._key(name, known):
                entries[name], parsed[name] = cached[name], self._unpacked(cached[name])
            elif name != SITE_FILE:
                waiting.append(name)
        batches = in_batches(waiting, processes, lambda name: sum(self.seen[path][0] for path in self.wanted[name]))
        if batches:
            import_module("sitegen.markup.documents")  # once, before workers inherit it
        self.shelf.close()

        def work(batch: Sequence[str], worker: int) -> list[tuple[str, dict[str, bytes], Entry | None]]:
            return self._entries(batch, cached, str(worker))

        for answer in each(work, batches, processes, meanwhile):
            for made in answer:
                keep(*made)
                _ = parsed[made[0]].documents  # unpacked while others read: linking asks for all
            tick(len(answer))
        self.shelf.close()
        return Read(
            {name: parsed[name] for name in self.wanted},
            known,
            {name: entries[name] for name in self.wanted},
            tuple(anew),
        )

    def html_of(self, name: str) -> dict[str, str]:
        """The HTML of a part's documents, parsed again."""
        from sitegen.markup.documents import documents_of

        found = self._parse(name)[0]
        return {key: document.html for key, (document, _) in (documents_of(found, self.spoken) if found else ())}

    def _entries(
        self, names: Sequence[str], cached: Entries, shelf: str
    ) -> list[tuple[str, dict[str, bytes], Entry | None]]:
        """Of each part its name, digests of its files as they are now, and its entry, or None when the cache has it.

        Each step is done for all before the next for any: a fifth faster than one part after another, as what a step
        needs of a processor's caches is there from the second part on.
        """
        digests = {name: {path: digest_of(self._data(path)) for path in self.wanted[name]} for name in names}
        keys = {name: self._key(name, digests[name]) for name in names}
        anew = [name for name in names if name not in cached or cached[name][0] != keys[name]]
        made: dict[str, Entry] = {}
        if anew:
            from sitegen.markup.parse import document_of, highlight_ahead

            parts = [self._parse(name) for name in anew]
            texts = [self._texts(part, cached.get(name)) for name, (part, _) in zip(anew, parts, strict=True)]
            highlight_ahead(text for each in texts for text in each.values())
            parsed = [{key: document_of(text) for key, text in each.items()} for each in texts]
            for name, read, each, documents in zip(anew, parts, texts, parsed, strict=True):
                made[name] = (keys[name], *self._packed(*read, each, documents, shelf))
        return [(name, digests[name], made.get(name)) for name in names]

    def _texts(self, part: SitePart | None, before: Entry | None) -> dict[str, Text]:
        """By `document_key`, with what is known of their pieces."""
        from sitegen.markup.documents import texts_of

        old = self._unpacked(before) if before else Parsed(None)
        return dict(texts_of(part, self.spoken, lambda key: Pieces(self._pieces(old, key)))) if part else {}

    def _packed(
        self,
        part: SitePart | None,
        found: Sequence[Diagnostic],
        texts: Mapping[str, Text],
        parsed: Mapping[str, tuple[Document, Sequence[Diagnostic]]],
        shelf: str,
    ) -> tuple[bytes, bytes]:
        """The part, and its documents with their pieces; their HTML goes to the shelf."""
        mistakes = (*found, *(mistake for _, of_text in parsed.values() for mistake in of_text))
        fragments = {key: self.shelf.put(shelf, document.html) for key, (document, _) in parsed.items()}
        pieces = {key: texts[key].into.pieces.places(document.html) for key, (document, _) in parsed.items()}
        documents = {key: replace(document, html="") for key, (document, _) in parsed.items()}
        face = self._face(part, documents) if isinstance(part, Post) and not mistakes else b""
        packed = pack((documents, pieces)) if documents else _NO_DOCUMENTS
        return pack((without_text(part), fragments, mistakes, face)), packed

    def _face(self, post: Post, documents: Mapping[str, Document]) -> bytes:
        path, [document] = post.body.path, documents.values()
        data = self._data(path)
        if isinstance(data, OSError) or self.wanted[path] != (path,):
            return b""
        return face_of_text(decode(data, path)[0].removesuffix(post.body.text), document)

    def _pieces(self, before: Parsed, key: str) -> dict[bytes, str]:
        """What is known of the pieces of a text from its HTML as it was."""
        try:
            html = self.shelf.get(before.fragments[key]) if before.pieces.get(key) else ""
        except LostFragmentError:
            return {}
        return {piece: html[start:end] for piece, start, end in before.pieces.get(key, ())}

    def _key(self, name: str, digests: Mapping[str, bytes]) -> bytes:
        found = blake2b(self._setting_key if name.startswith(TEXTS) else b"", digest_size=16)
        for path in self.wanted[name]:
            found.update(path.encode() + b"\0" + digests[path])
        return found.digest()

    def _parse(self, name: str) -> tuple[SitePart | None, tuple[Diagnostic, ...]]:
        return read_part(name, {path: self._data(path) for path in self.wanted[name]}, self.setting.zone)

    def _open(self, path: str) -> bytes | OSError:
        try:
            return inside.read_bytes(self.root, path)
        except OSError as error:
            return error

    @staticmethod
    def _unpacked(entry: Entry) -> Parsed:
        part, fragments, diagnostics, face = unpack(entry[1])
        return Parsed(part, fragments, diagnostics, face, entry[2])


def without_text(part: SitePart | None) -> SitePart | None:
    """What is kept of a part: its file has its text, but for the days of a worklog, of which several share a page."""
    return replace(part, body=replace(part.body, text="")) if isinstance(part, Post | Page | Term) else part


def read_part(
    name: str, contents: Mapping[str, bytes | OSError], zone: dt.tzinfo
) -> tuple[SitePart | None, tuple[Diagnostic, ...]]:
    """The part of that name and the mistakes in it; None of a file that is only looked at by others."""
    files: dict[str, str] = {}
    found: list[Diagnostic] = []
    for path, data in contents.items():
        if isinstance(data, OSError):
            found.append(unreadable(path, data))
        else:
            files[path], mistakes = decode(data, path)
            found += mistakes
    if name not in parts_of(files):
        return None, tuple(found)
    part, mistakes = parse_part(name, files, zone)
    return part, (*found, *mistakes)
