"""The records on disk: `kernels/<k>/results/<gpu>.json` with its history and artefacts, and a JSON per cell and GPU.

The only part of results/ that opens files.  Writing is atomic: a reader sees the old file or the new one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.record import CellRecord, Evaluation, Record, Run
from sitegen.model.site import Site
from sitegen.results.history import history_line, parse_history
from sitegen.results.json_text import dump, stored
from sitegen.results.records import PastRun, Records, timed_unchecked
from sitegen.results.shape import parse, span_of

T = TypeVar("T", Record, CellRecord)


@dataclass(frozen=True, slots=True)
class Loaded:
    """One file: its path from the site's root, its text, the record in it."""

    path: str
    text: str
    record: Record | CellRecord | None
    diagnostics: tuple[Diagnostic, ...] = ()
    history: tuple[PastRun, ...] = ()


def load_records(root: Path, site: Site) -> tuple[Records, tuple[Diagnostic, ...]]:
    """Every record of the site's kernels and posts, and all mistakes in them."""
    kernels = [_load(root, path, Record) for kernel in site.kernels for path in _json(root, f"{kernel.folder}/results")]
    folders = {post.slug: post.folder for post in site.posts if post.folder}
    cells = {
        slug: [_load(root, path, CellRecord) for path in _json(root, f"{folder}/results", "*/*.json")]
        for slug, folder in folders.items()
    }
    histories = [
        _load_history(root, path)
        for kernel in site.kernels
        for path in _json(root, f"{kernel.folder}/results", "*.history.jsonl")
    ]
    everything = [*kernels, *(one for found in cells.values() for one in found), *histories]
    records = Records(
        {(one.record.kernel, one.record.gpu): one.record for one in kernels if isinstance(one.record, Record)},
        {
            (slug, one.record.label, one.record.gpu): one.record
            for slug, found in cells.items()
            for one in found
            if isinstance(one.record, CellRecord)
        },
        {_kernel_and_gpu(one.path): one.history for one in histories},
        {one.path: one.text for one in everything if one.diagnostics},
    )
    return records, tuple(d for one in everything for d in one.diagnostics)


def save_record(root: Path, record: Record, run: Run) -> None:
    """Writes the record beside its kernel, and the line of `run` in its history: one line per run."""
    folder = root / "kernels" / record.kernel / "results"
    _write(folder / f"{record.gpu}.json", dump(stored(record)))
    history = folder / f"{record.gpu}.history.jsonl"
    before = history.read_text(encoding="utf-8") if history.exists() else ""
    others = [line for line in before.splitlines(keepends=True) if json.loads(line).get("run") != run.id]
    _write(history, "".join([*others, history_line(record, run)]))


def save_cell(root: Path, folder: str, cell: CellRecord) -> None:
    """`folder` is the post's, from the site's root."""
    _write(root / folder / "results" / cell.gpu / f"{cell.label}.json", dump(stored(cell)))


def drop_cells(root: Path, folder: str, gpu: str, labels: Collection[str]) -> None:
    """Removes the records of cells that the post no longer has."""
    for path in sorted((root / folder / "results" / gpu).glob("*.json")):
        if path.stem not in labels:
            path.unlink()


def save_artefacts(root: Path, kernel: str, artefacts: Mapping[str, bytes]) -> None:
    """`artefacts`: the gzip of each, by `<sha256 of the content>.<ptx|sass|samples>`."""
    for name, packed in artefacts.items():
        path = _artefacts(root, kernel) / f"{name}.gz"
        if not path.exists():
            _write_bytes(path, packed)


def drop_unreferenced(root: Path, kernel: str, records: Iterable[Record]) -> None:
    """Removes the artefacts that none of the kernel's records names."""
    named = {name for record in records for evaluation in record.evaluations for name in artefacts_of(evaluation)}
    for path in sorted(_artefacts(root, kernel).glob("*.gz")):
        if path.name.removesuffix(".gz") not in named:
            path.unlink()


def artefacts_of(evaluation: Evaluation) -> Iterator[str]:
    """The names of the artefacts that an evaluation refers to."""
    compiled = evaluation.compilation
    kinds = {"samples": evaluation.samples}
    if compiled:
        kinds |= {"ptx": compiled.ptx, "sass": compiled.sass}
    return (f"{digest}.{kind}" for kind, digest in kinds.items() if digest)


def _artefacts(root: Path, kernel: str) -> Path:
    return root / "kernels" / kernel / "results" / "artefacts"


def _json(root: Path, folder: str, pattern: str = "*.json") -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in (root / folder).glob(pattern))


def _load(root: Path, path: str, cls: type[T]) -> Loaded:
    try:
        text = (root / path).read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        return Loaded(path, "", None, (Diagnostic("SG301", f"not UTF-8: byte {error.start}", Span(path)),))
    record, mistakes = parse(cls, text, path)
    mistakes += _misplaced(record, path, text) if record else []
    return Loaded(path, text, None if mistakes else record, tuple(mistakes))


def _load_history(root: Path, path: str) -> Loaded:
    try:
        text = (root / path).read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        return Loaded(path, "", None, (Diagnostic("SG301", f"not UTF-8: byte {error.start}", Span(path)),))
    history, mistakes = parse_history(text, path)
    return Loaded(path, text, None, mistakes, history)


def _kernel_and_gpu(path: str) -> tuple[str, str]:
    """Of `kernels/<kernel>/results/<gpu>.history.jsonl`."""
    return Path(path).parts[-3], Path(path).name.removesuffix(".history.jsonl")


def _misplaced(record: Record | CellRecord, path: str, text: str) -> list[Diagnostic]:
    """A record names itself; where it lies must say the same, or a page would show another one's figures."""
    parts = Path(path).parts
    if isinstance(record, Record):
        expected = {"kernel": parts[-3], "gpu": Path(path).stem}
    else:
        expected = {"gpu": parts[-2], "label": Path(path).stem}
    wrong = {name: value for name, value in expected.items() if getattr(record, name) != value}
    found = [
        Diagnostic("SG304", f"{name} is `{getattr(record, name)}` in a file of `{value}`", span_of(text, path, (name,)))
        for name, value in wrong.items()
    ]
    if isinstance(record, Record):
        found += [*_orphans(record, path, text), *_unchecked(record, path, text)]
    return found


def _orphans(record: Record, path: str, text: str) -> list[Diagnostic]:
    runs = {run.id for run in record.runs}
    return [
        Diagnostic("SG305", f"no run `{one.run}` in this record", span_of(text, path, (member, index, "run")))
        for member in ("evaluations", "rejections")
        for index, one in enumerate(getattr(record, member))
        if one.run not in runs
    ]


def _unchecked(record: Record, path: str, text: str) -> list[Diagnostic]:
    return [
        Diagnostic("SG306", f"{one.name} has a time and no check", span_of(text, path, ("evaluations", index, "name")))
        for index, one in enumerate(record.evaluations)
        if timed_unchecked(one)
    ]


def _write(path: Path, text: str) -> None:
    _write_bytes(path, text.encode())


def _write_bytes(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(data)
    beside.replace(path)
