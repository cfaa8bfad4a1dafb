"""Digest the files and the cells on which the measurements of a site depend, so that two builds can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b

from sitegen.diagnostics import Span
from sitegen.model.document import Cell, Document
from sitegen.model.linked import Linked, document_key

_NO_SPAN = Span("")


def digest_of_measured(linked: Linked, documents: Mapping[str, Document], digests: Mapping[str, bytes]) -> bytes:
    """Return a digest of every file on which a shown measurement or its freshness may depend.

    Freshness compares all records of a GPU, so one more record may mark those of other kernels as outdated.
    """
    hashed = blake2b(digest_size=16)
    for path, digest in sorted(digests.items()):  # a build may add new files in another order
        if path.startswith("kernels/") or "/results/" in path or path.endswith((".py", ".cu", ".cuh", ".h", ".hpp")):
            hashed.update(path.encode() + digest)
    rich = frozenset(linked.rich)
    for post in (post for post in linked.site.posts if document_key(post.body) in rich):
        if cells := documents[document_key(post.body)].cells:
            shown = (post.slug, post.folder, post.body.path, post.lang, [_without_place(cell) for cell in cells])
            hashed.update(repr(shown).encode())
    hashed.update(repr([(k.name, [i.file for i in k.implementations]) for k in linked.site.kernels]).encode())
    return hashed.digest()


def _without_place(cell: Cell) -> Cell:
    """Return a cell without its lines in the file.  No page shows them, and each new line above the cell changes them:
    on a site with 300 pages of measurements a new paragraph printed 150 of them again.
    """
    return replace(cell, span=_NO_SPAN, line=0)
