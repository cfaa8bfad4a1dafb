"""A linked site and its records → every page: output path to content.  Pure: the same values give the same bytes."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Mapping

from sitegen.model.document import Document
from sitegen.model.linked import Linked
from sitegen.render.ceilings import render_ceilings
from sitegen.render.cells import image_url
from sitegen.render.evidence import Evidence
from sitegen.render.frame import Printer
from sitegen.render.home import render_home
from sitegen.render.kernels import render_kernels
from sitegen.render.measured import groups
from sitegen.render.plain import render_feed, render_plain, render_redirects, render_sitemap
from sitegen.render.posts import render_posts
from sitegen.render.series import render_series_pages
from sitegen.render.sources import Sources
from sitegen.render.theme import Theme, environment
from sitegen.render.worklog import render_worklog

_KINDS = (
    render_home,
    render_posts,
    render_series_pages,
    render_kernels,
    render_ceilings,
    render_worklog,
    render_plain,
)


def render_site(
    linked: Linked,
    documents: Mapping[str, Document],
    evidence: Evidence,
    *,
    as_of: dt.date,
    theme: Theme,
    assets: Mapping[str, str],
    probes: Mapping[str, str],
) -> dict[str, str | bytes]:
    """All pages, feeds and data files by output path, sorted.

    `documents` are named by `document_key`; `assets` gives the URL of each asset of the theme by its name
    (`site.css`), which the caller writes; `probes` are the sources of the ceilings' probes, by file name.
    """
    measured = {
        (kernel.name, gpu): groups(kernel, record, evidence)
        for kernel in linked.site.kernels
        for gpu, record in evidence.records.of_kernel(kernel.name).items()
    }
    sources = Sources(linked, documents, evidence, as_of, assets, probes, measured)
    printer = Printer(sources, environment(theme))
    pages: dict[str, str | bytes] = {}
    for render in _KINDS:
        pages |= render(printer)
    pages |= render_feed(printer) | render_sitemap(printer, pages)
    pages |= render_redirects(printer)  # not in the sitemap: nobody should be led there
    pages |= _images(sources)
    return dict(sorted(pages.items()))


def _images(sources: Sources) -> dict[str, str | bytes]:
    """What cells drew, as files beside their post."""
    return {
        image_url(sources, post, cell.label, n): base64.b64decode(output.text)
        for post in sources.site.posts
        for cell in sources.document(post.body).cells
        for record in sources.cell_records(post.slug, cell.label)[:1]
        for n, output in enumerate(record.outputs)
        if output.kind == "image"
    }
