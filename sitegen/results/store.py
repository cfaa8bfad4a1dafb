"""Read and write records on disk: `kernels/<k>/results/<gpu>.json`, histories, artefacts, and a JSON per cell and GPU.

Only this module of results/ opens files, all of them through sitegen/inside.py.  Writing is atomic: a reader sees the
old file or the new one.
"""

from __future__ import annotations

import contextlib
import errno
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TypeVar

from sitegen import inside
from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.record import CellRecord, Evaluation, Record, Run
from sitegen.model.site import Site
from sitegen.model.sweep_points import evaluation_at
from sitegen.results.history import history_line, parse_history
from sitegen.results.json_text import dump, to_stored
from sitegen.results.keys import source_part
from sitegen.results.logs import log_text
from sitegen.results.records import PastRun, Records, runs_of_tools, timed_unchecked
from sitegen.results.run_gpus import run_on
from sitegen.results.same_code import SameCode, names_of_sources, same_code
from sitegen.results.samples import LARGEST_ARTEFACT, BadSamples, Samples, samples_of, unpacked
from sitegen.results.shape import parse, span_of

T = TypeVar("T", Record, CellRecord)
LARGEST_RECORD = 64 * 1024 * 1024
"""Most bytes of one record or history."""


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """One file: its path from the site's root, its text, and the record or history in it."""

    path: str
    text: str
    record: Record | CellRecord | None
    diagnostics: tuple[Diagnostic, ...] = ()
    history: tuple[PastRun, ...] = ()


def load_records(root: Path, site: Site, *, known: SameCode | None = None) -> tuple[Records, tuple[Diagnostic, ...]]:
    """Return every record of the site's kernels and posts, and all mistakes in them.

    `known` is the `same_code` of an earlier call with the same files, which found no mistake: then no value is checked
    again.  The checks take nine tenths of the time.
    """
    is_checked = known is not None
    load = partial(_load, root, is_checked=is_checked)
    kernels = [load(path, Record) for kernel in site.kernels for path in _json(root, f"{kernel.folder}/results")]
    folders = {post.slug: post.folder for post in site.posts if post.folder}
    cells = {
        slug: [load(path, CellRecord) for path in _json(root, f"{folder}/results", depth=1)]
        for slug, folder in folders.items()
    }
    histories = [
        _load_history(root, path, is_checked=is_checked)
        for kernel in site.kernels
        for path in _json(root, f"{kernel.folder}/results", suffix=".history.jsonl")
    ]
    everything = [*kernels, *(one for files in cells.values() for one in files), *histories]
    records = Records(
        {(one.record.kernel, one.record.gpu): one.record for one in kernels if isinstance(one.record, Record)},
        {
            (slug, one.record.label, one.record.gpu): one.record
            for slug, files in cells.items()
            for one in files
            if isinstance(one.record, CellRecord)
        },
        {_kernel_and_gpu(one.path): one.history for one in histories},
        dict(log for one in kernels if isinstance(one.record, Record) for log in _logs_of(root, one.record)),
        {one.path: one.text for one in everything if one.diagnostics},
        _same_code(root, site, [one.record for one in kernels if isinstance(one.record, Record)])
        if known is None
        else known,
    )
    return records, tuple(d for one in everything for d in one.diagnostics)


def save_record(root: Path, record: Record, run: Run) -> None:
    """Write a record beside its kernel, and the line of `run` in its history, which has one line per run.

    A run of sweeps or tools alone has no line: it timed no evaluation that could be compared with the run before.
    """
    inside.write_bytes(root, record_path(record.kernel, record.gpu), dump(to_stored(record)).encode())
    compared = {one.run for one in record.evaluations} | {one.run for one in record.rejections}
    if run.id in (runs_of_tools(record) | {one.run for one in record.sweeps}) - compared:
        return
    history = f"{_results(record.kernel)}/{_single_name(record.gpu)}.history.jsonl"
    before = _read_text(root, history) if inside.is_file(root, history) else ""
    others = [line for line in before.splitlines(keepends=True) if _run_of(line) != run.id]
    inside.write_bytes(root, history, "".join([*others, history_line(record, run)]).encode())


def save_cell(root: Path, folder: str, cell: CellRecord) -> None:
    """Write the record of a cell; `folder` is that of its post, from the site's root."""
    path = f"{folder}/results/{_single_name(cell.gpu)}/{_single_name(cell.label)}.json"
    inside.write_bytes(root, path, dump(to_stored(cell)).encode())


def drop_cells(root: Path, folder: str, gpu: str, labels: Collection[str]) -> None:
    """Remove the records of cells that a post no longer has."""
    for path in _json(root, f"{folder}/results/{_single_name(gpu)}"):
        if PurePosixPath(path).stem not in labels:
            inside.remove(root, path)


def save_artefacts(root: Path, kernel: str, artefacts: Mapping[str, bytes]) -> None:
    """Write artefacts that are not stored yet: gzips by `<sha256 of the content>.<ptx|sass|samples|log>`, and
    sources by `<part of a key>.source`.
    """
    for name, packed in artefacts.items():
        path = artefact_path(kernel, name)
        if not inside.is_file(root, path):
            inside.write_bytes(root, path, packed)


def drop_unreferenced(root: Path, kernel: str, records: Iterable[Record]) -> None:
    """Remove the artefacts that none of a kernel's records names."""
    named = {name for record in records for name in (*artefacts_of(record), *names_of_sources(record))}
    for path in _files(root, _artefacts(kernel), ".gz"):
        if PurePosixPath(path).name.removesuffix(".gz") not in named:
            inside.remove(root, path)


def read_samples(root: Path, kernel: str, digest: str) -> Samples:
    """Return the samples that a stored evaluation names.  Raises BadSamples."""
    try:
        packed = inside.read_bytes(root, artefact_path(kernel, f"{digest}.samples"), LARGEST_ARTEFACT)
    except OSError as error:
        raise BadSamples(f"the artefact with its samples cannot be read ({error.strerror})") from error
    return samples_of(unpacked(packed), digest)


def read_log(root: Path, kernel: str, digest: str) -> str:
    """Return the log that a stored failure names.  Raises BadSamples."""
    try:
        packed = inside.read_bytes(root, artefact_path(kernel, f"{digest}.log"), LARGEST_ARTEFACT)
    except OSError as error:
        raise BadSamples(f"the artefact with its log cannot be read ({error.strerror})") from error
    return log_text(packed, digest)


def read_source(root: Path, kernel: str, part: str) -> str | None:
    """Return the text of a source as it was measured, by the part of a key; None when none is kept.  Raises BadSamples
    when it is damaged.
    """
    path = artefact_path(kernel, f"{part}.source")
    if not inside.is_file(root, path):
        return None
    try:
        text = unpacked(inside.read_bytes(root, path, LARGEST_ARTEFACT)).decode()
    except OSError as error:
        raise BadSamples(f"it cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise BadSamples("it is not UTF-8") from error
    if source_part(text) != part:
        raise BadSamples("it has another hash than its name")
    return text


def artefact_text(root: Path, kernel: str, name: str) -> str:
    """Return the text of an artefact, `<sha256>.ptx` or `<sha256>.sass`; empty when it is missing, damaged, or not the
    content that its name promises.
    """
    try:
        content = unpacked(inside.read_bytes(root, artefact_path(kernel, name), LARGEST_ARTEFACT))
    except (OSError, BadSamples):
        return ""
    genuine = sha256(content).hexdigest() == name.partition(".")[0]
    return content.decode("utf-8", "replace") if genuine else ""


def record_path(kernel: str, gpu: str) -> str:
    """Return the path of the record of a kernel on a GPU, from the root."""
    return f"{_results(kernel)}/{_single_name(gpu)}.json"


def record_text(root: Path, path: str) -> str:
    """Return the text of a record that was loaded before; empty when it cannot be read any more."""
    return _text_of(root, path)[0]


def artefact_path(kernel: str, name: str) -> str:
    """Return the path of an artefact, from the root."""
    return f"{_artefacts(kernel)}/{_single_name(name)}.gz"


def artefacts_of(record: Record) -> Iterator[str]:
    """Yield the names of the artefacts that the evaluations and rejections of a record refer to."""
    for evaluation in record.evaluations:
        yield from _artefacts_of_evaluation(evaluation)
    yield from (f"{rejection.log}.log" for rejection in record.rejections if rejection.log)


def _artefacts_of_evaluation(evaluation: Evaluation) -> Iterator[str]:
    compiled = evaluation.compilation
    kinds = {"samples": evaluation.samples, "log": evaluation.log}
    if compiled:
        kinds |= {"ptx": compiled.ptx, "sass": compiled.sass}
    return (f"{digest}.{kind}" for kind, digest in kinds.items() if digest)


def _results(kernel: str) -> str:
    return f"kernels/{_single_name(kernel)}/results"


def _artefacts(kernel: str) -> str:
    return f"{_results(kernel)}/artefacts"


def _single_name(name: str) -> str:
    """Return the name of one file or folder.  Raises OutsideError when it is a path."""
    if "/" in name or "\\" in name:
        raise inside.OutsideError(errno.EPERM, "a record's name is no file name", name)
    return inside.checked(name)


def _run_of(line: str) -> str:
    """Return the run of a line of a history; empty when the line cannot be parsed."""
    try:
        return str(json.loads(line)["run"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""


def _json(root: Path, folder: str, *, depth: int = 0, suffix: str = ".json") -> list[str]:
    """Return the files with an ending in a folder, or `depth` folders below it."""
    return _files(root, folder, suffix, depth)


def _files(root: Path, folder: str, suffix: str, depth: int = 0) -> list[str]:
    level = folder.count("/") + 1 + depth
    paths = inside.files_below(root, folder)
    return sorted(path for path in paths if path.endswith(suffix) and path.count("/") == level)


def _read_text(root: Path, path: str) -> str:
    return inside.read_bytes(root, path, LARGEST_RECORD).decode("utf-8")


def _text_of(root: Path, path: str) -> tuple[str, tuple[Diagnostic, ...]]:
    """Return the text of a record, or an empty text and the reason."""
    try:
        return _read_text(root, path), ()
    except UnicodeDecodeError as error:
        return "", (Diagnostic("SG301", f"not UTF-8: byte {error.start}", Span(path)),)
    except OSError as error:
        return "", (Diagnostic("SG301", f"cannot be read: {error.strerror}", Span(path)),)


def _load(root: Path, path: str, cls: type[T], *, is_checked: bool) -> LoadedFile:
    text, mistakes = _text_of(root, path)
    if mistakes:
        return LoadedFile(path, text, None, mistakes)
    record, diagnostics = parse(cls, text, path, is_checked=is_checked)
    diagnostics += _misplaced(record, path, text) if record and not is_checked else []
    return LoadedFile(path, text, None if diagnostics else record, tuple(diagnostics))


def _same_code(root: Path, site: Site, records: Iterable[Record]) -> SameCode:
    """Return the stored parts that differ from today's in comments alone; a damaged artefact shows nothing."""

    def kept(kernel: str, part: str) -> str | None:
        with contextlib.suppress(BadSamples):
            return read_source(root, kernel, part)
        return None

    return same_code(records, site.files, kept)


def _logs_of(root: Path, record: Record) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the logs that a record names and that can be read, with kernel and SHA-256."""
    digests = {one.log for one in record.evaluations} | {one.log for one in record.rejections}
    for digest in sorted(digests - {""}):
        with contextlib.suppress(BadSamples):
            yield (record.kernel, digest), read_log(root, record.kernel, digest)


def _load_history(root: Path, path: str, *, is_checked: bool) -> LoadedFile:
    text, mistakes = _text_of(root, path)
    if mistakes:
        return LoadedFile(path, text, None, mistakes)
    history, mistakes = parse_history(text, path, is_checked=is_checked)
    return LoadedFile(path, text, None, mistakes, history)


def _kernel_and_gpu(path: str) -> tuple[str, str]:
    """Return kernel and GPU of `kernels/<kernel>/results/<gpu>.history.jsonl`."""
    return Path(path).parts[-3], Path(path).name.removesuffix(".history.jsonl")


def _misplaced(record: Record | CellRecord, path: str, text: str) -> list[Diagnostic]:
    """Return a diagnostic when the path of a record names another kernel, GPU or cell than the record, or when its
    evaluations do not fit its runs or checks.
    """
    parts = Path(path).parts
    if isinstance(record, Record):
        expected = {"kernel": parts[-3], "gpu": Path(path).stem}
    else:
        expected = {"gpu": parts[-2], "label": Path(path).stem}
    wrong = {name: value for name, value in expected.items() if getattr(record, name) != value}
    diagnostics = [
        Diagnostic(
            "SG304",
            f"the {name} of the record is `{getattr(record, name)}`, and that of its path is `{value}`",
            span_of(text, path, (name,)),
        )
        for name, value in wrong.items()
    ]
    if isinstance(record, Record):
        diagnostics += _orphans(record, path, text)
        diagnostics += _unknown_gpus(record, path, text)
        diagnostics += _unchecked(record, path, text)
    return diagnostics


def _orphans(record: Record, path: str, text: str) -> list[Diagnostic]:
    runs = {run.id for run in record.runs}
    return [
        Diagnostic("SG305", f"no run `{one.run}` in this record", span_of(text, path, (member, index, "run")))
        for member in ("evaluations", "rejections", "sweeps")
        for index, one in enumerate(getattr(record, member))
        if one.run not in runs
    ] + [
        Diagnostic("SG305", f"no run `{run}` in this record", span_of(text, path, ("evaluations", index, *where)))
        for index, one in enumerate(record.evaluations)
        for run, where in (
            (one.counters.run if one.counters else "", ("counters", "run")),
            (one.sanitizer_run, ("sanitizer_run",)),
        )
        if run and run not in runs
    ]


def _unknown_gpus(record: Record, path: str, text: str) -> list[Diagnostic]:
    runs = {run.id: run for run in record.runs}
    return [
        Diagnostic(
            "SG305",
            f"no GPU `{one.gpu_hash}` in the run `{one.run}`, so there are no ceilings for its times",
            span_of(text, path, (member, index, "gpu_hash")),
        )
        for member in ("evaluations", "sweeps")
        for index, one in enumerate(getattr(record, member))
        if one.run in runs and run_on(runs[one.run], one.gpu_hash) is None
    ]


def _unchecked(record: Record, path: str, text: str) -> list[Diagnostic]:
    return [
        Diagnostic(
            "SG306",
            f"{one.name} has a time but no correctness check",
            span_of(text, path, ("evaluations", index, "name")),
        )
        for index, one in enumerate(record.evaluations)
        if timed_unchecked(one)
    ] + [
        Diagnostic(
            "SG306",
            f"a point of the sweep {sweep.name} has a time but no correctness check",
            span_of(text, path, ("sweeps", index, "points", number, "status")),
        )
        for index, sweep in enumerate(record.sweeps)
        for number, point in enumerate(sweep.points)
        if timed_unchecked(evaluation_at(sweep, point))
    ]
