"""Parts of a key: what a sheet shows, and the digests by which two builds of it are compared."""

from __future__ import annotations

import marshal
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

DAY = "the day"
"""Name of the part for the day of the build, where a page shows it."""
TEXT = "the text itself"
"""The digest of a text's file, on its own page.  Whatever else shows a text shows no more of it than its interface
(`pipeline.text_interface`), or has the digest of the file among its values.
"""
VIEW = "something else that it shows"
"""The digest of all that the templates of its pages receive (`rules.keys`)."""


class KeyPart(NamedTuple):
    """One thing that a sheet shows."""

    what: str
    """In words, for `build --explain`: `the text itself`."""
    value: Any
    """Strings, numbers, bytes and tuples of them."""
    files: tuple[str, ...] = ()
    """The files that it comes from."""


def key_of(shows: Iterable[KeyPart]) -> tuple[bytes, tuple[bytes, ...]]:
    """A digest of everything that is shown, and one of each part."""
    parts = tuple(digest_of_part(part) for part in shows)
    return key_of_parts(parts), parts


def key_of_parts(parts: Iterable[bytes]) -> bytes:
    return blake2b(b"".join(parts), digest_size=16).digest()


def digest_of_part(part: KeyPart) -> bytes:
    return blake2b(marshal.dumps(part.value, 2), digest_size=8).digest()  # version 2: bytes depend on the value alone
