"""What all pages are made from, as one value, and the few questions that several of them ask of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sitegen.model.dates import day_of
from sitegen.model.document import Document
from sitegen.model.kernel import Implementation, Kernel
from sitegen.model.linked import Linked, document_key
from sitegen.model.record import CellRecord, Record, Run
from sitegen.model.site import Markdown, Post, Site, SiteConfig
from sitegen.model.urls import post_url
from sitegen.read.config import zone_of
from sitegen.render.evidence import Evidence
from sitegen.render.measured import Group
from sitegen.results.records import PastRun


@dataclass(frozen=True, slots=True)
class Sources:
    linked: Linked
    documents: Mapping[str, Document]
    evidence: Evidence
    as_of: dt.date
    assets: Mapping[str, str]
    """URL of each asset of the theme, by its name: `site.css`."""
    probes: Mapping[str, str]
    """The CUDA source of each probe of a ceiling, by file name: `l2.cu`."""
    measured: Mapping[tuple[str, str], tuple[Group, ...]]
    """All rows of a kernel on a GPU, by (kernel, GPU): several pages show the same."""

    def document(self, text: Markdown) -> Document:
        return self.documents[document_key(text)]

    @property
    def site(self) -> Site:
        return self.linked.site

    @property
    def config(self) -> SiteConfig:
        return self.linked.site.config

    def day_of(self, date: dt.date | dt.datetime) -> dt.date:
        """In the site's time zone, as publication counts it."""
        return day_of(date, zone_of(self.config))

    def post_url(self, post: Post) -> str:
        return post_url(post, self.config)

    def records(self, kernel: str) -> tuple[Record, ...]:
        """Those of the site's own GPUs first, in their order, then by name."""
        found = self.evidence.records.of_kernel(kernel)
        return tuple(found[gpu] for gpu in self._in_order(found))

    def groups(self, record: Record) -> tuple[Group, ...]:
        return self.measured[record.kernel, record.gpu]

    def histories(self, record: Record) -> tuple[PastRun, ...]:
        """Every run of the record's kernel on its GPU, oldest first."""
        return self.evidence.records.histories.get((record.kernel, record.gpu), ())

    def ceilings_run(self, gpu: str) -> Run | None:
        """The newest run that measured the ceilings of a GPU."""
        records = [self.evidence.records.kernels.get((kernel.name, gpu)) for kernel in self.site.kernels]
        measured = (run for record in records if record for run in record.runs if run.ceilings)
        return max(measured, key=lambda run: run.id, default=None)

    def cell_records(self, post: str, label: str) -> tuple[CellRecord, ...]:
        found = {gpu: r for (*cell, gpu), r in self.evidence.records.cells.items() if cell == [post, label]}
        return tuple(found[gpu] for gpu in self._in_order(found))

    def _in_order(self, gpus: Iterable[str]) -> list[str]:
        first = self.config.gpus
        return sorted(gpus, key=lambda gpu: (first.index(gpu) if gpu in first else len(first), gpu))

    def kernel(self, name: str) -> Kernel | None:
        return next((kernel for kernel in self.site.kernels if kernel.name == name), None)

    def post(self, slug: str) -> Post | None:
        return next((post for post in self.site.posts if post.slug == slug), None)


def source_of(site: Site, implementation: Implementation) -> str:
    """The text of an implementation: of its file, or of its cell."""
    return implementation.source or site.files.get(implementation.file, "")
