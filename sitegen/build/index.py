"""What the builds before found out about the texts of a site → what of it still holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sitegen.build.texts import Entries
from sitegen.build.update import Job
from sitegen.diagnostics import Diagnostic
from sitegen.read.load import is_text
from sitegen.write import cache
from sitegen.write.fragments import FragmentFiles
from sitegen.write.scan import digest_file

if TYPE_CHECKING:
    from sitegen.linking.link import Resolved

Links = dict[bytes, tuple[dict[tuple[str, int], str], dict[str, str], tuple[str, ...]]]
"""By the key of a site, what a `Resolved` has."""


class Index:
    """What is known of the texts of a site, whichever output they are printed for."""

    def __init__(self, job: Job, shelf: FragmentFiles) -> None:
        self._path, self._version = job.cache / "texts.cache", job.version
        found = cache.load(self._path, job.version)
        if found is None:
            shelf.clear()
        entries, records, links = found or ({}, (b"", b""), {})
        self.entries: Entries = entries
        self._records: tuple[bytes, bytes] = records
        self._links: Links = links
        self._loaded: tuple[Entries, tuple[bytes, bytes], Links] = (entries, records, links)

    def mistakes_in_records(self, key: bytes, find: Callable[[], tuple[Diagnostic, ...]]) -> tuple[Diagnostic, ...]:
        """Those of the records with that key, found only when it is another than last time."""
        if self._records[0] == key:
            return tuple(cache.unpack(self._records[1]))
        found = find()
        self._records = (key, cache.pack(found))
        return found

    def links(self, key: bytes) -> Resolved | None:
        """Where the links of the site with that key lead."""
        from sitegen.linking.link import Resolved

        found = self._links.get(key)
        return Resolved(*found) if found else None

    def keep_links(self, key: bytes, found: Resolved) -> None:
        """For the next time; besides, those of one other site: what is published, and what `serve` shows."""
        others = list(self._links.items())[-1:]
        self._links = {**dict(others), key: (dict(found.hrefs), dict(found.assets), tuple(found.rich))}

    def save(self, entries: Entries) -> None:
        if (entries, self._records, self._links) != self._loaded:
            cache.save(self._path, self._version, (dict(entries), self._records, self._links))


def known_digests(job: Job) -> dict[str, bytes]:
    """Digests of the files that are as the last build saw them, and of those that no reader takes."""
    last = job.last
    same = {p for p, seen in job.seen.items() if last and last.signatures.get(p) == seen}
    known = {path: last.digests[path] for path in same} if last else {}
    return known | {p: digest_file(job.root, p) for p in job.seen if p not in known and not is_text(p)}
