"""Turn the two words of `sitegen compare` into pairs of records.  A word is a file, or a revision of the site's git
repository.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import click

from sitegen.cli.common import report
from sitegen.execute.git import git
from sitegen.model.record import SCHEMA, Record
from sitegen.pipeline.in_memory import LoadedSite
from sitegen.read.source import decode
from sitegen.results.shape import parse

RecordName = tuple[str, str]
"""The name of a kernel, and the id of a GPU."""


@dataclass(frozen=True)
class Side:
    """The records that a word names."""

    records: Mapping[RecordName, Record]
    one_file: bool = False
    """Whether the word names one file.  Then only its kernel and its GPU are compared."""


def pairs(loaded: LoadedSite, before: str, after: str | None) -> list[tuple[Record, Record]]:
    """Return the records of each kernel and GPU on both sides; a record that one side lacks is empty there.  Without
    `after`, the second side are the present files of the site.  Exits with 1 when a record has mistakes, and with 2
    when a word names nothing.
    """
    old = _side(loaded.root, before)
    new = _side(loaded.root, after) if after else Side(loaded.records.kernels)
    if old.one_file and new.one_file:
        return list(zip(old.records.values(), new.records.values(), strict=True))
    both = old.records if old.one_file else new.records if new.one_file else {**old.records, **new.records}
    kernels = {kernel.name for kernel in loaded.site.kernels}
    return [
        (old.records.get(key) or _empty_record(key), new.records.get(key) or _empty_record(key))
        for key in sorted(both)
        if key[0] in kernels
    ]


def _empty_record(key: RecordName) -> Record:
    return Record(SCHEMA, *key, runs=(), evaluations=())


def _side(root: Path, word: str) -> Side:
    path = Path(word)
    if path.is_file():
        return Side(_by_key([_read(path.read_bytes(), word)]), one_file=True)
    commit = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{word}^{{commit}}")
    if commit is None:
        raise click.UsageError(f"`{word}` is no file, and no revision of a git repository here")
    return Side(_by_key(_of_commit(root, commit.decode().strip(), word)))


def _by_key(records: list[Record]) -> dict[RecordName, Record]:
    return {(record.kernel, record.gpu): record for record in records}


def _of_commit(root: Path, commit: str, word: str) -> list[Record]:
    paths = _paths(git(root, "ls-tree", "-r", "-z", "--name-only", commit, "--", "kernels") or b"")
    return [_read(git(root, "cat-file", "blob", f"{commit}:./{path}") or b"", f"{word}:{path}") for path in paths]


def _paths(listed: bytes) -> Iterator[str]:
    """Yield the paths of records among all files below kernels/, relative to the site's root."""
    for path in listed.decode("utf-8", "replace").split("\0"):
        if PurePosixPath(path).match("kernels/*/results/*.json"):
            yield path


def _read(data: bytes, name: str) -> Record:
    """Return a record.  Exits with 1 when the data is no record."""
    text, undecodable = decode(data, name)
    record, mistakes = parse(Record, text, name)
    report([*undecodable, *mistakes], {name: text})
    if record is None or undecodable:
        sys.exit(1)
    return record
