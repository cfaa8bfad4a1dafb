"""Look up the records of a site and the freshness of each evaluation and cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sitegen.model.document import Document
from sitegen.model.kernel import Kernel
from sitegen.model.linked import document_key, originals
from sitegen.model.record import CellRecord, Evaluation, MeasuredSweep, Record
from sitegen.model.site import Site
from sitegen.results.freshness import (
    Freshness,
    FreshnessState,
    cell_freshness,
    kernel_freshness,
    newest_versions,
    sweep_title,
)
from sitegen.results.records import Records, cell_name

FRESH = Freshness(FreshnessState.FRESH)
PlainFreshness = dict[tuple[str, ...], tuple[str, tuple[str, ...]]]
"""The state and the reasons of each evaluation or cell."""
PlainEvidence = tuple[dict[tuple[str, str], str], PlainFreshness, PlainFreshness]
"""What is known about records, as plain values: `Records.same_code`, and the freshness of evaluations and cells."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The records of a site, with the freshness of each evaluation and cell."""

    records: Records = field(default_factory=Records)
    evaluations: Mapping[tuple[str, str], Freshness] = field(default_factory=dict)
    """The freshness of evaluations and sweeps by GPU and title: `softmax/fused@8192x8192:float32`,
    `softmax/sweep/threads`.  What has no entry is fresh.
    """
    cells: Mapping[tuple[str, str, str], Freshness] = field(default_factory=dict)
    """The freshness of cells by post slug, label and GPU."""

    def of_evaluation(self, kernel: Kernel, record: Record, evaluation: Evaluation) -> Freshness:
        e = evaluation
        title = f"{kernel.name}/{e.name}@{cell_name(e.workload, e.dtype, e.params, kernel)}"
        return self.evaluations.get((record.gpu, title), FRESH)

    def of_sweep(self, record: Record, sweep: MeasuredSweep) -> Freshness:
        return self.evaluations.get((record.gpu, sweep_title(record.kernel, sweep.name)), FRESH)

    def of_cell(self, post: str, record: CellRecord) -> Freshness:
        return self.cells.get((post, record.label, record.gpu), FRESH)


def plain_evidence(evidence: Evidence) -> PlainEvidence:
    """Return all of the evidence but the records, for the next build with the same records and code."""
    return dict(evidence.records.same_code), _plain(evidence.evaluations), _plain(evidence.cells)


def known_evidence(records: Records, plain: PlainEvidence) -> Evidence:
    """Return the evidence from which `plain_evidence` made `plain`."""
    _, evaluations, cells = plain
    return Evidence(records, _from_plain(evaluations), _from_plain(cells))


def _plain(states: Mapping[Any, Freshness]) -> PlainFreshness:
    return {key: (one.state.value, one.reasons) for key, one in states.items()}


def _from_plain(states: PlainFreshness) -> Mapping[Any, Freshness]:
    return {key: Freshness(FreshnessState(state), reasons) for key, (state, reasons) in states.items()}


def gather(site: Site, documents: Mapping[str, Document], records: Records) -> Evidence:
    """Compare every record with the present code, and return the records with the freshness of each evaluation and
    cell.
    """
    newest = {gpu: newest_versions(records, gpu) for gpu in records.gpus()}
    evaluations = {
        (gpu, title): state
        for kernel in site.kernels
        for gpu, record in sorted(records.of_kernel(kernel.name).items())
        for title, state in kernel_freshness(kernel, site.files, record, newest[gpu], records.same_code).items()
    }
    cells = {
        (post.slug, label, gpu): state
        for post in originals(site)
        for gpu in records.gpus()
        if (
            of_post := {
                name: r for (slug, name, where), r in records.cells.items() if (slug, where) == (post.slug, gpu)
            }
        )
        for label, state in cell_freshness(
            post.body.path, documents[document_key(post.body)].cells, site.files, of_post, newest[gpu]
        ).items()
    }
    return Evidence(records, evaluations, cells)
