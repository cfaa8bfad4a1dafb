"""Build all pages of a site in memory, without a previous build: for commands that need no output folder."""

from __future__ import annotations

import datetime as dt
from collections import ChainMap
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import cast

from sitegen.diagnostics import Diagnostic, has_errors, in_reading_order
from sitegen.model.document import Document
from sitegen.model.linked import Linked
from sitegen.model.site import Site
from sitegen.pipeline.build import Route, build
from sitegen.pipeline.check_warnings import CheckWarnings
from sitegen.pipeline.link_site import LinkedSite, link
from sitegen.pipeline.mistakes import texts_of
from sitegen.pipeline.parse_texts import parse_texts
from sitegen.pipeline.plan import FullPlan, plan_all_pages
from sitegen.pipeline.print_pages import PagesInMemory, print_in_memory
from sitegen.pipeline.read_files import read_files_from_scratch
from sitegen.pipeline.request import make_request
from sitegen.pipeline.template_links import dead_links, unused_templates
from sitegen.pipeline.typed_figures import TYPED_FIGURE
from sitegen.read.load import WORKLOG
from sitegen.render.inputs.evidence import Evidence, gather
from sitegen.results.quantities import Measured
from sitegen.results.records import Records
from sitegen.results.store import record_text


@dataclass(frozen=True)
class LoadedSite:
    """A linked site with its records, and every mistake in it."""

    root: Path
    as_of: dt.date
    linked: Linked
    documents: Mapping[str, Document]
    """The document of each text, by `document_key`, without its HTML."""
    records: Records
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    """The text of every file of the site, by path."""

    @property
    def site(self) -> Site:
        return self.linked.site

    @property
    def texts(self) -> Mapping[str, str]:
        """The text of every file that a diagnostic may point into."""
        return ChainMap(cast(dict[str, str], self.records.files), cast(dict[str, str], self.sources))

    @cached_property
    def evidence(self) -> Evidence:
        """The records with everything that pages derive from them."""
        return gather(self.site, self.documents, self.records)

    @cached_property
    def measured(self) -> Measured:
        """The records, from which figures and claims are read."""
        config, kernels = self.site.config, {kernel.name: kernel for kernel in self.site.kernels}
        return Measured(kernels, self.records, self.evidence.of_evaluation, config.gpus, config.gpu_aliases)


@dataclass(frozen=True)
class SiteInMemory:
    """A site that was built in memory."""

    loaded: LoadedSite
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    """The content of each file, by its path below the output folder; empty when a template of the site fails."""
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether there are errors."""
        return has_errors(self.diagnostics)

    @property
    def has_typed_figures(self) -> bool:
        """Whether a figure is typed into a text other than the worklog."""
        typed = (d.span.path for d in self.diagnostics if d.code == TYPED_FIGURE)
        return any(not path.startswith(WORKLOG) for path in typed)

    @property
    def has_worklog_habits(self) -> bool:
        """Whether there is anything to say about the worklog, besides its typed figures: they are those of a day."""
        return any(d.span.path.startswith(WORKLOG) and d.code != TYPED_FIGURE for d in self.diagnostics)


def load(root: Path, *, as_of: dt.date | None = None, everything: bool = False) -> LoadedSite:
    """Read, parse and link a site, without a previous build.

    With `everything`, drafts and posts of the future are included: they are measured and previewed, never published.
    Raises OutputError when there is no folder for the cache.
    """
    request = make_request(root, as_of=as_of, everything=everything, in_memory=True)
    return _loaded(link(parse_texts(read_files_from_scratch(request))))


def build_in_memory(
    root: Path, *, as_of: dt.date | None = None, everything: bool = False, with_forms: bool = True
) -> SiteInMemory:
    """Build every file of a site; with errors, every page that can be printed.

    New forms of images take long to make; without `with_forms` they are left out.
    """
    request = make_request(root, as_of=as_of, everything=everything, in_memory=True)
    return build(request, full_route(with_forms=with_forms))


def check(root: Path, *, as_of: dt.date | None = None, redacted: bool = True) -> SiteInMemory:
    """Build the published pages of a site, and find the mistakes in drafts and posts of the future, too.

    Without `redacted`, the places of mistakes are those in the author's files, and the pages must not be published.
    """
    request = make_request(root, as_of=as_of, in_memory=True, redacted=redacted)
    return build(request, replace(full_route(with_forms=False), publish=_with_mistakes_in_drafts))


def full_route(*, with_forms: bool = True) -> Route[FullPlan, PagesInMemory, SiteInMemory]:
    """Return the route that parses all texts and prints all pages, in this process."""
    return Route(
        read=read_files_from_scratch,
        finish_early=lambda files: None,
        parse=parse_texts,
        link=link,
        plan=partial(plan_all_pages, with_forms=with_forms),
        stage=lambda request: nullcontext(),
        print=print_in_memory,
        publish=_site_in_memory,
    )


def _site_in_memory(pages: PagesInMemory) -> SiteInMemory:
    return SiteInMemory(_loaded(pages.site), dict(sorted(pages.files.items())), pages.mistakes)


def _with_mistakes_in_drafts(pages: PagesInMemory) -> SiteInMemory:
    """Link the texts again, with drafts and posts of the future, without parsing them again, and search all texts for
    what only a check warns of, and the site's own templates for dead links.
    """
    parsed = pages.site.parsed
    request = replace(parsed.files.request, everything=True)
    unpublished = link(replace(parsed, files=replace(parsed.files, request=request)))
    theme = pages.site.theme
    warnings = (*CheckWarnings().of(unpublished), *dead_links(theme, pages.files), *unused_templates(theme))
    mistakes = dict.fromkeys((*pages.mistakes, *unpublished.mistakes, *warnings))
    return SiteInMemory(_loaded(unpublished), pages.files, in_reading_order(mistakes))


def _loaded(site: LinkedSite) -> LoadedSite:
    root, records, mistakes = site.request.root, site.records.records, site.mistakes
    doubted = {mistake.span.path for mistake in mistakes if "/results/" in mistake.span.path}
    files = {path: record_text(root, path) for path in doubted}
    records = replace(records, files={**files, **records.files})
    sources = texts_of(site.parsed.files)
    return LoadedSite(root, site.texts.as_of, site.texts.linked, site.texts.documents, records, mistakes, sources)
