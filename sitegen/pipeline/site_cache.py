"""Keep the parsed texts of a site in the file `texts.cache`, which the builds of all its outputs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sitegen.diagnostics import Diagnostic
from sitegen.pipeline.parsed_part import CacheEntries
from sitegen.pipeline.request import BuildRequest
from sitegen.write import cache

if TYPE_CHECKING:
    from sitegen.linking.link import Resolved
    from sitegen.render.inputs.evidence import PlainEvidence

ResolvedByKey = dict[bytes, tuple[dict[tuple[str, int], str], dict[str, str], tuple[str, ...]]]
"""The fields of a `Resolved`, by the digest of a site."""


class SiteCache:
    """The parsed parts of a site, the mistakes in its records, what is known about them, and the targets of its links.

    The cache of a build in memory is empty, and is not saved.
    """

    def __init__(self, request: BuildRequest) -> None:
        self._path, self._version = request.cache / "texts.cache", request.version
        self._is_kept = not request.in_memory
        values = cache.load(self._path, request.version) if self._is_kept else None
        self.is_new = values is None
        entries, mistakes, evidence, links = values or ({}, {}, (b"", None), {})
        self.entries: CacheEntries = entries
        """The parts of the last build."""
        self._mistakes: dict[str, tuple[bytes, bytes]] = mistakes
        self._evidence: tuple[bytes, PlainEvidence | None] = evidence
        self._links: ResolvedByKey = links
        self._loaded: tuple[object, ...] = (entries, mistakes, evidence, links)

    def mistakes(self, where: str, key: bytes, find: Callable[[], tuple[Diagnostic, ...]]) -> tuple[Diagnostic, ...]:
        """Return the mistakes in something with that key.  `find` is called only when the key is another than last
        time.
        """
        known, packed = self._mistakes.get(where, (b"", b""))
        if known == key:
            return tuple(cache.unpack(packed))
        mistakes = find()
        self._mistakes = {**self._mistakes, where: (key, cache.pack(mistakes))}
        return mistakes

    def evidence(self, key: bytes) -> PlainEvidence | None:
        """Return what is known about the records with that key."""
        return self._evidence[1] if self._evidence[0] == key else None

    def keep_evidence(self, key: bytes, evidence: PlainEvidence | None) -> None:
        self._evidence = (key, evidence)

    def links(self, key: bytes) -> Resolved | None:
        """Return the targets of the links of the site with that key; None when they are not known."""
        from sitegen.linking.link import Resolved

        values = self._links.get(key)
        return Resolved(*values) if values else None

    def keep_links(self, key: bytes, links: Resolved) -> None:
        """Keep the targets of links, and those of one other site: the published posts are one site, and the posts that
        `serve` shows are another.
        """
        others = list(self._links.items())[-1:]
        self._links = {**dict(others), key: (dict(links.hrefs), dict(links.assets), tuple(links.rich))}

    def save(self, entries: CacheEntries) -> None:
        """Write the cache with these parts, if anything in it is new."""
        values = (entries, self._mistakes, self._evidence, self._links)
        if self._is_kept and values != self._loaded:
            cache.save(self._path, self._version, (dict(entries), *values[1:]))
