"""Digest the dependencies of a sheet, so that two builds of it can be compared."""

from __future__ import annotations

import marshal
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

DAY = "the day"
"""The name of the dependency on the day of the build."""
TEXT = "the text itself"
"""The name of the dependency on a text's file, on the text's own page.  Every other page that shows a text shows no
more than its interface (`pipeline.text_interface`), or has the digest of the file among its values.
"""
FOUND_PAGES = "the pages that it finds"
"""The name of the dependency of the search index on all pages."""
VIEW = "another value that it shows"
"""The name of the dependency on all values that the templates of the pages receive (`rules.keys`)."""


class Dependency(NamedTuple):
    """One dependency of a sheet: a named value that the sheet shows."""

    name: str
    """The name in words, for `build --explain`: `the text itself`."""
    value: Any
    """Strings, numbers, bytes, and tuples of them."""
    files: tuple[str, ...] = ()
    """The files from which the value comes."""


def key_of(dependencies: Iterable[Dependency]) -> tuple[bytes, tuple[bytes, ...]]:
    """Return a digest of all dependencies, and one of each."""
    digests = tuple(digest_of_dependency(dependency) for dependency in dependencies)
    return key_of_digests(digests), digests


def key_of_digests(digests: Iterable[bytes]) -> bytes:
    return blake2b(b"".join(digests), digest_size=16).digest()


def digest_of_dependency(dependency: Dependency) -> bytes:
    data = marshal.dumps(dependency.value, 2)  # in version 2 the bytes depend on the value alone
    return blake2b(data, digest_size=8).digest()
