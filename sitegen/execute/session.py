"""A site → the jobs of a run, sent or bundled, and their results → records in the site; on the author's machine."""

from __future__ import annotations

import base64
import binascii
import contextlib
import datetime as dt
import hashlib
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sitegen.diagnostics import Diagnostic, Span
from sitegen.execute import bundle as bundles
from sitegen.execute.archive import BadArchive
from sitegen.execute.attestation import NotAttested, signed_run
from sitegen.execute.bundle import Bundle, Results
from sitegen.execute.git import git
from sitegen.execute.plan import Inventory, only_named, plan, status, without_tools
from sitegen.execute.progress import Report
from sitegen.execute.sent import recall, remember
from sitegen.execute.targets import Target
from sitegen.inside import OutsideError
from sitegen.model.document import Document
from sitegen.model.gpu import yours
from sitegen.model.job import CeilingsJob, Job, JobResult, NotebookJob
from sitegen.model.linked import document_key, originals
from sitegen.model.plain import to_plain
from sitegen.model.record import Record
from sitegen.model.site import Site
from sitegen.results import store
from sitegen.results.accept import AcceptedRun, RunHeader, accept_results
from sitegen.results.freshness import Freshness
from sitegen.results.goals import GoalResult, goal_results
from sitegen.results.judge import doubts
from sitegen.results.logs import log_mistake
from sitegen.results.records import Records
from sitegen.results.returned_results import reasons_to_refuse, run_time_mistake, with_printable_messages
from sitegen.results.same_code import source_artefacts
from sitegen.results.samples import BadSamples, Samples, samples_of, unpacked
from sitegen.results.verify import CORRECT, one_for_the_formulas

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """Results of a run or of an `accept`, and what was stored."""

    results: Results | None = None
    stored: AcceptedRun | None = None
    """The stored records; None when no GPU was there, or there was nothing to do."""
    diagnostics: tuple[Diagnostic, ...] = ()


def inventory_of(site: Site, documents: Mapping[str, Document], records: Records) -> Inventory:
    """Return the inventory of a site.

    `site` is the linked one, with the implementations that stand in cells; it may contain drafts.
    """
    cells = {post.slug: documents[document_key(post.body)].cells for post in originals(site)}
    return Inventory(site, records, {slug: several for slug, several in cells.items() if several})


def status_by_gpu(inventory: Inventory) -> dict[str, dict[str, Freshness]]:
    """Return the freshness of everything that can be recorded, by GPU: the site's first, then those with records."""
    gpus = dict.fromkeys((*inventory.site.config.gpus, *inventory.records.gpus())) or {"": None}
    return {gpu: status(inventory, gpu) for gpu in gpus}


def bundle(
    root: Path, inventory: Inventory, path: Path, names: Sequence[str] = (), *, gpu: str = "", everything: bool = False
) -> tuple[Job, ...]:
    """Write the jobs that are due on `gpu` (default: the site's first) to `path`, and return them.

    Nothing is written when no job is due.  Raises UnknownName and OSError.
    """
    jobs = plan(inventory, gpu or inventory.default_gpu, names, everything=everything)
    if jobs:
        bundles.write_bundle(jobs, commit_of(root), path, secrets.token_hex(16))
        with contextlib.suppress(OSError):  # without a copy, `accept` needs the bundle itself
            remember(path.read_bytes(), bundles.read_bundle(path).id.sha256)
    return jobs


def run(
    root: Path,
    inventory: Inventory,
    target: Target,
    names: Sequence[str] = (),
    *,
    everything: bool = False,
    beside: bool = False,
    progress: Report = lambda _: None,
) -> RunOutcome:
    """Run the jobs that are due on the target, and store the results.

    With `beside` they are stored as those of the reader's own GPU, and the published ones stay.  Without a GPU
    everything that is named is checked, and nothing is stored.  Raises UnknownName and NoTarget.
    """
    model = target.gpu or inventory.default_gpu
    jobs = plan(inventory, yours(model) if beside else model, names, everything=everything)
    if not jobs:
        return RunOutcome()
    if target.devices and not target.gpu:
        jobs = without_tools(only_named(jobs, names))
    specs = [to_plain(job) for job in jobs]
    keep = partial(store_results, root, inventory, jobs, beside=beside)
    results = bundles.run_specs(specs, commit_of(root), target, progress, keep)
    return keep(results)


def accept(
    root: Path,
    inventory: Inventory,
    path: Path,
    bundle_path: Path | None = None,
    attestation: tuple[Path, str] | None = None,
) -> RunOutcome:
    """Store the results in a file that `run --bundle` wrote, or say what is wrong with it.  Raises OSError.

    `bundle_path` is the bundle that the results answer; without it, it must be one that this machine wrote.
    `attestation` is the file of the signature, and the repository on GitHub whose workflow must have made it.
    """
    results, mistakes = bundles.read_results(path)
    if results is None:
        return RunOutcome(diagnostics=tuple(mistakes))
    try:
        sent = _answered_bundle(results, bundle_path)
    except BadArchive as error:
        hint = "give the bundle from which it was made: `sitegen accept RESULT --bundle BUNDLE`"
        return RunOutcome(diagnostics=(Diagnostic("SG405", str(error), Span(path.name), hint),))
    try:
        run = signed_run(path, *attestation, results.commit) if attestation else ""
    except NotAttested as error:
        hint = "nothing was stored; without --attestation the results are stored as made by hand"
        return RunOutcome(diagnostics=(Diagnostic("SG410", str(error), Span(path.name), hint),))
    return store_results(root, inventory, sent.jobs, results, path.name, measured_by=run)


def _answered_bundle(results: Results, path: Path | None) -> Bundle:
    """Return the bundle that the results answer.  Raises BadArchive when it is not known, or when `path` is another."""
    if results.answers is None:
        raise BadArchive("it does not say which bundle it answers")
    file = path or recall(results.answers.sha256)
    if file is None:
        raise BadArchive("it answers a bundle that this machine did not write, or of which it no longer has a copy")
    sent = bundles.read_bundle(file)
    if sent.id != results.answers:
        raise BadArchive(f"it answers another bundle than {file.name}")
    if sent.commit != results.commit:
        raise BadArchive("its commit is not that of its bundle")
    return sent


def store_results(
    root: Path,
    inventory: Inventory,
    jobs: Sequence[Job],
    results: Results,
    name: str = "the results",
    *,
    beside: bool = False,
    measured_by: str = "",
) -> RunOutcome:
    """Write the records, cells and artefacts of a run; with `beside`, as those of the reader's own GPU.

    Nothing is written when no GPU was there, or when the results are not those of the jobs.  A diagnostic names the
    file of the results by `name`.
    """
    if not any(result.environment for result in results.results) or _waits_for_ceilings(results):
        return RunOutcome(results)
    results = replace(results, results=tuple(map(with_printable_messages, results.results)))
    if mistakes := _wrong_results(jobs, results, name):
        return RunOutcome(results, diagnostics=tuple(mistakes))
    header = RunHeader(results.run, results.commit, measured_by)
    new = accept_results(inventory.site, inventory.records, header, results.results, jobs, beside=beside)
    if new is None:
        return RunOutcome(results)
    if mistakes := _wrong_records(jobs, new, results, name):
        return RunOutcome(results, diagnostics=tuple(mistakes))
    try:
        _store(root, inventory, jobs, new, results)
    except OutsideError as error:
        return RunOutcome(results, diagnostics=(Diagnostic("SG408", f"{error.strerror}", Span(str(error.filename))),))
    except OSError as error:
        hint = "mend the cause, and accept or run them again: every file is whole"
        mistake = Diagnostic("SG408", f"the records cannot be written: {error.strerror}", Span(name), hint)
        return RunOutcome(results, diagnostics=(mistake,))
    return RunOutcome(results, new)


def _wrong_results(jobs: Sequence[Job], results: Results, name: str) -> list[Diagnostic]:
    """Return what is wrong with results: their time, results of other jobs, artefacts that do not match their names."""
    wrong = run_time_mistake(results.run, dt.datetime.now(dt.UTC))
    refused = [wrong] if wrong else list(reasons_to_refuse(jobs, results.results))
    hint = "nothing was stored: run the bundle again"
    mistakes = [Diagnostic("SG406", sentence, Span(name), hint) for sentence in refused]
    return mistakes or list(artefact_mistakes(results.results, name))


def _wrong_records(jobs: Sequence[Job], new: AcceptedRun, results: Results, name: str) -> list[Diagnostic]:
    """Return what is wrong with the records that would be stored: implausible figures, or nothing that is newer."""
    mistakes = list(one_for_the_formulas(_doubts(jobs, new, results.results, name)))
    if not mistakes and new.older and not (new.records or new.cells):
        mistakes = [Diagnostic("SG407", "; ".join(new.older[:3]), Span(name), "nothing in it is newer")]
    return mistakes


def _waits_for_ceilings(results: Results) -> bool:
    """Return whether these are results of a run whose ceilings are not measured yet, so that they cannot be judged."""
    return not results.complete and not any(result.ceilings for result in results.results)


def _store(root: Path, inventory: Inventory, jobs: Sequence[Job], new: AcceptedRun, results: Results) -> None:
    """Write artefacts before the record that names them, so that a record is right whenever the process is killed."""
    texts = {*inventory.site.files.values(), *(text for job in jobs for text in _sources_of(job).values())}
    for record in new.records:
        store.save_artefacts(
            root, record.kernel, _artefacts_of(record, results.results) | source_artefacts(record, texts)
        )
        store.save_record(root, record, new.run)
        others = [r for gpu, r in inventory.records.of_kernel(record.kernel).items() if gpu != record.gpu]
        store.drop_unreferenced(root, record.kernel, [record, *others])
    folders = {post.slug: post.folder for post in inventory.site.posts if post.folder}
    for slug, cell in new.cells:
        if slug in folders:
            store.save_cell(root, folders[slug], cell)
            store.drop_cells(root, folders[slug], cell.gpu, [one.label for one in inventory.cells.get(slug, ())])


def _sources_of(job: Job) -> Mapping[str, str]:
    return {} if isinstance(job, CeilingsJob) else job.sources


def goals_by_gpu(inventory: Inventory) -> dict[str, tuple[GoalResult, ...]]:
    """Return the goals of every kernel, met, missed or unknown, by GPU with records."""
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
    """Yield a diagnostic for each artefact that its name does not describe, or that is too large for a repository."""
    for result in results:
        for name, encoded in result.artefacts.items():
            if mistake := _artefact_mistake(name, encoded):
                yield Diagnostic("SG402", f"{result.id}: artefact {name}: {mistake}", Span(path))


def _doubts(jobs: Sequence[Job], new: AcceptedRun, results: Sequence[JobResult], name: str) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each implausible figure in the records that would be stored.

    They are judged by kernel.yaml as it was sent.  A figure above what the GPU can do has an error in units, bytes or
    caches.  A formula that the counters contradict makes every figure of its kernel wrong.
    """
    sent = {job.kernel.name: job.kernel for job in jobs if not isinstance(job, CeilingsJob | NotebookJob)}
    packed = {digest: data for result in results for digest, data in result.artefacts.items()}
    for record in new.records:
        kernel = sent[record.kernel]
        for doubt in doubts(kernel, record, lambda _: True, partial(_sent_samples, packed), new.run.id):
            place = Span(f"{kernel.folder}/kernel.yaml") if doubt.code in ("SG403", "SG404") else Span(name)
            yield Diagnostic(doubt.code, doubt.message, place, CORRECT if doubt.code == "SG404" else "")


def _sent_samples(artefacts: Mapping[str, str], digest: str) -> Samples:
    encoded = artefacts.get(f"{digest}.samples")
    if encoded is None:
        raise BadSamples("its samples were not sent")
    return samples_of(unpacked(base64.b64decode(encoded)), digest)


def commit_of(root: Path) -> str:
    """Return the abbreviated commit, with `+` when files other than results differ from it; empty without git."""
    commit = (git(root, "rev-parse", "--short", "HEAD") or b"").decode().strip()
    words = ("status", "--porcelain", "--ignore-submodules=all", "--", ".", ":(exclude,glob)**/results/**")
    changed = (git(root, *words) or b"") if commit else b""
    return f"{commit}+" if changed.strip() else commit


def _artefact_mistake(name: str, encoded: str) -> str:
    digest, _, kind = name.partition(".")
    if kind not in ("ptx", "sass", "samples", "log"):
        return "it is none of ptx, sass, samples, log"
    if not _SHA256.fullmatch(digest):
        return "its name has no SHA-256"
    try:
        content = unpacked(base64.b64decode(encoded, validate=True))
    except (binascii.Error, ValueError) as error:  # also BadSamples
        return f"it is not base64 of gzip ({error})"
    if hashlib.sha256(content).hexdigest() != digest:
        return "its content has another hash"
    return log_mistake(content) if kind == "log" else ""


def _artefacts_of(record: Record, results: Iterable[JobResult]) -> dict[str, bytes]:
    """Return the artefacts that the record refers to; the others belong to evaluations that are not stored."""
    named = set(store.artefacts_of(record))
    return {
        name: base64.b64decode(encoded)
        for result in results
        for name, encoded in result.artefacts.items()
        if name in named
    }
