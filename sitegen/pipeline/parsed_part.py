"""Define a parsed part of a site, and its form in the cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from sitegen.diagnostics import Diagnostic
from sitegen.model.document import Document
from sitegen.model.site import Page, Post, Term
from sitegen.read.load import SitePart
from sitegen.write.cache import pack, unpack
from sitegen.write.fragments import FragmentReference

PiecePlace = tuple[bytes, int, int]
"""The digest of the source of a piece of HTML, and the offsets in the HTML where the piece begins and ends."""
CacheEntry = tuple[bytes, bytes, bytes]
"""A digest of what a part was parsed from, the part itself, packed, and its documents with their pieces, packed."""
CacheEntries = Mapping[str, CacheEntry]
"""The entry of each part, by the part's name."""

NO_DOCUMENTS = pack(({}, {}))


@dataclass(frozen=True)
class ParsedPart:
    """A part with its documents, whose HTML is in a `FragmentStore`."""

    part: SitePart | None
    """The part; None for a file that only other parts read."""
    fragments: Mapping[str, FragmentReference] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    interface: bytes = b""
    """The `text_interface.interface_of_text` of a post without mistakes that is the whole of its file; else empty."""
    setting: bytes = b""
    """What a worklog was parsed with beside its files; empty for any other part."""
    packed: bytes = NO_DOCUMENTS
    """The documents and their pieces.  Most builds unpack few of them."""

    @cached_property
    def _unpacked(self) -> tuple[Mapping[str, Document], Mapping[str, tuple[PiecePlace, ...]]]:
        documents, pieces = unpack(self.packed)
        return documents, pieces

    @property
    def documents(self) -> Mapping[str, Document]:
        """The documents by `document_key`."""
        return self._unpacked[0]

    @property
    def pieces(self) -> Mapping[str, tuple[PiecePlace, ...]]:
        """The pieces of each fragment."""
        return self._unpacked[1]

    @property
    def keys(self) -> Iterable[str]:
        """The keys of its documents."""
        return self.fragments.keys() or self.documents.keys()


def from_entry(entry: CacheEntry) -> ParsedPart:
    """Return the part that an entry of the cache holds."""
    part, fragments, diagnostics, interface, setting = unpack(entry[1])
    return ParsedPart(part, fragments, diagnostics, interface, setting, entry[2])


def without_text(part: SitePart | None) -> SitePart | None:
    """Return a part without its text, which its file has.  The days of a worklog keep their texts, because several days
    share a page.
    """
    return replace(part, body=replace(part.body, text="")) if isinstance(part, Post | Page | Term) else part
