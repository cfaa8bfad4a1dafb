"""A part of a site → a digest of all that other pages may show of it, link to, or find wrong."""

from __future__ import annotations

from hashlib import blake2b

from sitegen.build.elsewhere import seen_elsewhere
from sitegen.build.texts import Parsed, without_text
from sitegen.model.site import Page, Post, Term


def face_of(parsed: Parsed) -> bytes | None:
    """Two texts of one file with equal faces give the same linked site, and no page changes but those that hold the
    text as a whole: its own, and feeds.

    The mistakes that point into the file are no part of it: those of the text itself, and those of linking, for the
    lines of its links may move.  None where every page may show anything of it: configuration, series, kernels,
    worklog, a file that is no text of its own.
    """
    part = parsed.part
    if not isinstance(part, Post | Page | Term):
        return None
    shown = (without_text(part), [(key, seen_elsewhere(document)) for key, document in parsed.documents.items()])
    return blake2b(repr(shown).encode(), digest_size=16).digest()
