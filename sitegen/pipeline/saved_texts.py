"""Parse the saved files of a parsed site in memory.

Only the parts of the saved files are parsed again.  Nothing is written.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import cast

from sitegen.markup.pieces import Pieces
from sitegen.pipeline.parse_texts import ParsedSite, TextParser, content_of, read_part, setting_of
from sitegen.pipeline.parsed_part import ParsedPart, without_text
from sitegen.pipeline.read_files import SITE_FOLDERS, SiteFiles
from sitegen.read.root import SITE_FILE
from sitegen.write.cache import pack
from sitegen.write.scan import Signature, digest_of, scan, signature_of


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes that the last save made in a site."""

    paths: Set[str] = frozenset()
    """The files that are new, gone or have other content."""
    parts_before: Mapping[str, ParsedPart | None] = field(default_factory=dict)
    """The parts that were parsed again, before the save, by name; None for a new part."""
    is_moved: bool = False
    """Whether a file is new or gone."""


def read_saved_files(files: SiteFiles, saved: Collection[str] | None) -> SiteFiles:
    """Look at the files that may have been saved, at all when `saved` is None.  Those that may differ are `edited`."""
    before, signatures = files.signatures, _signatures(files, saved)
    edited = {path for path in signatures if before.get(path) != signatures[path]}
    edited |= set(saved or ()) & signatures.keys()
    return replace(files, signatures=signatures, previous=None, edited=tuple(edited))


def _signatures(files: SiteFiles, saved: Collection[str] | None) -> Mapping[str, Signature]:
    """Return the signatures of all files.  When only known files may have changed, only those are read."""
    signatures = dict(files.signatures)
    for path in saved or ():
        try:
            status = (files.request.root / path).stat()
        except OSError:
            if path in signatures:
                break
            continue  # a temporary file of an editor, removed since
        if path not in signatures:
            break
        signatures[path] = signature_of(status)
    else:
        if saved is not None:
            return signatures
    return scan(files.request.root, SITE_FOLDERS)


class SavedTexts:
    """The parsed texts of a site that somebody edits."""

    def __init__(self, parsed: ParsedSite) -> None:
        self._parser = parsed.parser
        self._html: dict[str, str] = {}
        self._pieces: dict[str, Mapping[bytes, str]] = {}
        self._fragments: Mapping[str, str] = ChainMap(self._html, cast(dict[str, str], parsed.fragments))
        self.parsed = replace(parsed, fragments=self._fragments)
        self.changes = Changes()
        """The changes of the last save."""

    def parse(self, files: SiteFiles) -> ParsedSite:
        """Parse the parts whose files were edited; `files` are the site's files now."""
        before, root = self.parsed.files.signatures, files.request.root
        contents = {path: content_of(root, path) for path in files.edited or ()}
        digests = dict(self.parsed.digests)
        new = {path: data for path, data in contents.items() if digest_of(data) != digests.get(path)}
        is_moved = files.signatures.keys() != before.keys()
        stale = self._stale(files, new, is_moved) if new or is_moved else {}
        parsed = {name: self._parse_part(name, paths, new, files) for name, paths in stale.items()}
        gone = before.keys() - files.signatures.keys()
        self.changes = Changes(new.keys() | gone, {name: self.parsed.parts.get(name) for name in stale}, is_moved)
        digests.update((path, digest_of(data)) for path, data in new.items())
        kept = {path: digest for path, digest in digests.items() if path not in gone} if gone else digests
        parts = {**self.parsed.parts, **parsed}
        in_order = {name: parts[name] for name in self._parser.sources}
        self.parsed = replace(self.parsed, files=files, parts=in_order, digests=kept, parser=self._parser)
        return self.parsed

    def has_other_setting(self) -> bool:
        """Return whether texts were parsed for another time zone, language or catalogue than the site has now."""
        return setting_of(self.parsed.parts[SITE_FILE].part, self.parsed.digests) != self._parser.setting

    def _stale(self, files: SiteFiles, new: Collection[str], is_moved: bool) -> dict[str, tuple[str, ...]]:
        """Return the parts whose files are others than before or changed, each with its files."""
        before = self._parser.sources
        if is_moved:
            setting, store = self._parser.setting, self._parser.store
            self._parser = TextParser(files.request.root, files.signatures, store, files.request.privacy)
            self._parser.use(setting)
        changed = set(new)
        return {
            name: paths
            for name, paths in self._parser.sources.items()
            if before.get(name) != paths or not changed.isdisjoint(paths)
        }

    def _parse_part(
        self, name: str, paths: tuple[str, ...], new: Mapping[str, bytes | OSError], files: SiteFiles
    ) -> ParsedPart:
        from sitegen.markup.documents import texts_of  # imported here, because often nothing is new
        from sitegen.markup.parse import document_of

        contents = {path: new[path] if path in new else content_of(files.request.root, path) for path in paths}
        part, mistakes_of_part = read_part(name, contents, self._parser.setting.zone, files.request.privacy)
        documents, mistakes = {}, list(mistakes_of_part)

        def pieces_of(key: str) -> Pieces:
            return Pieces(self._pieces_of(name, key))

        for key, text in texts_of(part, self._parser.vocabulary_of, pieces_of, self._parser.added) if part else ():
            document, of_document = document_of(text)
            documents[key] = replace(document, html="")
            self._html[key], self._pieces[key] = document.html, text.into.pieces.used
            mistakes += of_document
        return ParsedPart(without_text(part), diagnostics=tuple(mistakes), packed=pack((documents, {})))

    def _pieces_of(self, name: str, key: str) -> Mapping[bytes, str]:
        """Return the known HTML of the pieces of a text, from its HTML before the save."""
        if key in self._pieces or name not in self.parsed.parts:
            return self._pieces.get(key, {})
        places = self.parsed.parts[name].pieces.get(key, ())
        html = self._fragments[key] if places else ""
        return {piece: html[start:end] for piece, start, end in places}
