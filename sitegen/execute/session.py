"""What the author's machine does around jobs: plan them from a site, send or bundle them, store what comes back."""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sitegen.diagnostics import Diagnostic, Span
from sitegen.execute import bundle as bundles
from sitegen.execute.bundle import Results
from sitegen.execute.git import git
from sitegen.execute.plan import Inventory, plan, status
from sitegen.execute.progress import Report
from sitegen.execute.targets import Target
from sitegen.model.document import Document
from sitegen.model.job import Job, JobResult
from sitegen.model.linked import document_key, originals
from sitegen.model.plain import to_plain
from sitegen.model.record import Record
from sitegen.model.site import Site
from sitegen.results import store
from sitegen.results.accept import Accepted, RunHeader, accepted
from sitegen.results.formula_check import wrong_formulas
from sitegen.results.freshness import Freshness
from sitegen.results.measures import GoalResult, goal_results, implausible
from sitegen.results.records import Records

LARGEST_ARTEFACT = 256 * 1024
"""Bytes of the gzip; a page shows it, git keeps it for ever."""
_LARGEST_CONTENT = 16 << 20
_CORRECT = "correct `reads` and `writes`; or, if no implementation comes near the least yet, add one that does"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run or an `accept` came to."""

    results: Results | None = None
    stored: Accepted | None = None
    """None when nothing was stored: no GPU was there, or there was nothing to do."""
    diagnostics: tuple[Diagnostic, ...] = ()


def inventory_of(site: Site, documents: Mapping[str, Document], records: Records) -> Inventory:
    """`site` is the linked one, with the implementations that stand in cells; drafts may be in it."""
    cells = {post.slug: documents[document_key(post.body)].cells for post in originals(site)}
    return Inventory(site, records, {slug: found for slug, found in cells.items() if found})


def status_by_gpu(inventory: Inventory) -> dict[str, dict[str, Freshness]]:
    """By GPU (the site's own first, then whatever is recorded), the freshness of everything that can be recorded."""
    gpus = dict.fromkeys((*inventory.site.config.gpus, *inventory.records.gpus())) or {"": None}
    return {gpu: status(inventory, gpu) for gpu in gpus}


def bundle(
    root: Path, inventory: Inventory, path: Path, names: Sequence[str] = (), *, gpu: str = "", everything: bool = False
) -> tuple[Job, ...]:
    """Writes the jobs that are due on `gpu` (default: the site's first) to `path`; nothing is written when none is.
    Raises UnknownName.
    """
    jobs = plan(inventory, gpu or inventory.default_gpu, names, everything=everything)
    if jobs:
        bundles.write_bundle(jobs, commit_of(root), path)
    return jobs


def run(
    root: Path,
    inventory: Inventory,
    target: Target,
    names: Sequence[str] = (),
    *,
    everything: bool = False,
    progress: Report = lambda _: None,
) -> Outcome:
    """Runs what is due there and stores it; without a GPU everything is checked and nothing stored.
    Raises UnknownName.
    """
    jobs = plan(inventory, target.gpu or inventory.default_gpu, names, everything=everything)
    if not jobs:
        return Outcome()
    specs = [to_plain(job) for job in jobs]
    results = bundles.run_specs(specs, commit_of(root), target, progress, partial(keep, root, inventory))
    return keep(root, inventory, results)


def accept(root: Path, inventory: Inventory, path: Path) -> Outcome:
    """Stores the results in a file that `run --bundle` wrote, or says what is wrong with it.  Raises OSError."""
    results, mistakes = bundles.read_results(path)
    if results is None:
        return Outcome(diagnostics=tuple(mistakes))
    mistakes = list(artefact_mistakes(results.results, path.name))
    if mistakes:
        return Outcome(results, diagnostics=tuple(mistakes))
    return keep(root, inventory, results)


def keep(root: Path, inventory: Inventory, results: Results) -> Outcome:
    """Writes the records, cells and artefacts of a run; nothing when no GPU was there."""
    new = accepted(inventory.site, inventory.records, RunHeader(results.run, results.commit), results.results)
    if new is None:
        return Outcome(results)
    impossible = list(_impossible(inventory, new))
    if impossible:
        return Outcome(results, diagnostics=tuple(impossible))
    for record in new.records:
        store.save_record(root, record, new.run)
        store.save_artefacts(root, record.kernel, _artefacts_of(record, results.results))
        others = [r for gpu, r in inventory.records.of_kernel(record.kernel).items() if gpu != record.gpu]
        store.drop_unreferenced(root, record.kernel, [record, *others])
    folders = {post.slug: post.folder for post in inventory.site.posts if post.folder}
    for slug, cell in new.cells:
        if slug in folders:
            store.save_cell(root, folders[slug], cell)
            store.drop_cells(root, folders[slug], cell.gpu, [one.label for one in inventory.cells.get(slug, ())])
    return Outcome(results, new)


def goals_by_gpu(inventory: Inventory) -> dict[str, tuple[GoalResult, ...]]:
    """By GPU with records, every kernel's goals: met, missed or unknown."""
    records = inventory.records
    return {
        gpu: tuple(
            result
            for kernel in inventory.site.kernels
            for result in goal_results(kernel, records.kernels.get((kernel.name, gpu)))
        )
        for gpu in records.gpus()
    }


def artefact_mistakes(results: Iterable[JobResult], path: str) -> Iterator[Diagnostic]:
    """Artefacts that are not what their names say, or too large to be kept in a repository."""
    for result in results:
        for name, encoded in result.artefacts.items():
            if mistake := _artefact_mistake(name, encoded):
                yield Diagnostic("SG402", f"{result.id}: artefact {name}: {mistake}", Span(path))


def _impossible(inventory: Inventory, new: Accepted) -> Iterator[Diagnostic]:
    """A figure above what the GPU can do fails the run: whoever made it has an error in units, bytes or caches; and so
    does a formula that the counters contradict, since every figure stands on it.
    """
    kernels = {kernel.name: kernel for kernel in inventory.site.kernels}
    for record in new.records:
        kernel, place = kernels[record.kernel], Span(f"kernels/{record.kernel}/kernel.yaml")
        yield from (Diagnostic("SG403", text, place) for text in implausible(kernel, record, new.run))
        yield from (Diagnostic("SG404", text, place, _CORRECT) for text in wrong_formulas(kernel, record, new.run))


def commit_of(root: Path) -> str:
    """Abbreviated, with `+` when files other than results differ from it; empty outside of a git repository."""
    commit = (git(root, "rev-parse", "--short", "HEAD") or b"").decode().strip()
    words = ("status", "--porcelain", "--ignore-submodules=all", "--", ".", ":(exclude,glob)**/results/**")
    changed = (git(root, *words) or b"") if commit else b""
    return f"{commit}+" if changed.strip() else commit


def _artefact_mistake(name: str, encoded: str) -> str:
    digest, _, kind = name.partition(".")
    if kind not in ("ptx", "sass", "samples"):
        return "it is none of ptx, sass, samples"
    try:
        packed = base64.b64decode(encoded, validate=True)
        with gzip.open(io.BytesIO(packed)) as stream:
            content = stream.read(_LARGEST_CONTENT + 1)
    except (binascii.Error, ValueError, OSError, EOFError) as error:
        return f"it is not base64 of gzip ({error})"
    if len(packed) > LARGEST_ARTEFACT or len(content) > _LARGEST_CONTENT:
        return f"it is larger than {LARGEST_ARTEFACT // 1024} KB"
    return "" if hashlib.sha256(content).hexdigest() == digest else "its content has another hash"


def _artefacts_of(record: Record, results: Iterable[JobResult]) -> dict[str, bytes]:
    """Those that the record refers to; a job's other artefacts are of what was not stored."""
    named = {name for evaluation in record.evaluations for name in store.artefacts_of(evaluation)}
    return {
        name: base64.b64decode(encoded)
        for result in results
        for name, encoded in result.artefacts.items()
        if name in named
    }
