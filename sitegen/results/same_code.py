"""Decide whether a stored key is that of today's code, although comments in the sources have changed since.

The artefacts of a kernel keep each source as it was measured, under the part of the key that stands for it.  Where
such a text has the code of today's file (code_text.py), the stored part counts as today's.  Every comparison of a
stored key, or of its parts, with another one is made by this module.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

from sitegen.model.job import Key
from sitegen.model.record import Record
from sitegen.results.code_text import code_of
from sitegen.results.dependencies import SourceTexts
from sitegen.results.keys import source_part, with_lf

SameCode = Mapping[tuple[str, str], str]
"""Today's part of a source, by its path and the part of an older text that has the same code."""
Parts = Mapping[str, str]
"""`key_parts`"""


def same_code(records: Iterable[Record], files: SourceTexts, kept: Callable[[str, str], str | None]) -> SameCode:
    """Return the stored parts that differ from today's in comments alone.

    `kept` returns the text of a source by kernel and part; None when there is none.
    """
    return {
        (path, part): source_part(files[path])
        for record in records
        for path, part in other_sources(record, files)
        if (then := kept(record.kernel, part)) is not None and _has_code_of(path, then, files[path])
    }


def other_sources(record: Record, files: SourceTexts) -> Iterator[tuple[str, str]]:
    """Yield path and stored part of each source that has another text today; each once."""
    today = {path: source_part(files[path]) for path, _ in _sources(record) if path in files}
    yield from (one for one in _sources(record) if one[0] in today and today[one[0]] != one[1])


def place_of_part(record: Record, path: str, part: str) -> tuple[str | int, ...]:
    """Return the place in a record of the first key with this part."""
    return next(
        (member, index, "key_parts", path)
        for member in ("evaluations", "rejections", "sweeps")
        for index, one in enumerate(getattr(record, member))
        if one.key_parts.get(path) == part
    )


def source_artefacts(record: Record, texts: Iterable[str]) -> dict[str, bytes]:
    """Return the artefacts of those texts with which the record was measured: gzips by `<part>.source`."""
    named = set(names_of_sources(record))
    by_name = {f"{source_part(text)}.source": with_lf(text) for text in texts}
    return {name: gzip.compress(text.encode(), mtime=0) for name, text in by_name.items() if name in named}


def names_of_sources(record: Record) -> Iterator[str]:
    """Yield the name of the artefact of each source that the keys of a record name: `<part>.source`."""
    return (f"{part}.source" for _, part in _sources(record))


def is_same_key(now: Key, digest: str, parts: Parts, same: SameCode) -> bool:
    """Tell whether a stored key, its digest and its parts, is that of the code of another key."""
    if now.digest == digest:
        return True
    return now.parts != parts and as_today(now.parts, same) == as_today(parts, same)


def as_today(parts: Parts, same: SameCode) -> dict[str, str]:
    """Return the parts of a key with today's part for each source that has the same code."""
    return {name: same.get((name, part), part) for name, part in parts.items()}


def _has_code_of(path: str, then: str, now: str) -> bool:
    return code_of(path, with_lf(then)) == code_of(path, with_lf(now))


def _sources(record: Record) -> Iterable[tuple[str, str]]:
    """Return path and part of each source file in the keys of a record; each once."""
    keys = chain(
        (one.key_parts for one in record.evaluations),
        (one.key_parts for one in record.rejections),
        (one.key_parts for one in record.sweeps),
    )
    parts = {part for key in keys for part in key.items()}
    return sorted((path, part) for path, part in parts if "/" in path and "#" not in path)
