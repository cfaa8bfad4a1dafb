"""A linked site and its records → every page: output path to content.  Pure: the same values give the same bytes."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from sitegen.render.cells import image_url
from sitegen.render.frame import Printer
from sitegen.render.home import render_home
from sitegen.render.kernels import render_kernels
from sitegen.render.plain import render_feed, render_plain, render_sitemap
from sitegen.render.posts import render_posts
from sitegen.render.series import render_series_pages
from sitegen.render.sources import Sources
from sitegen.render.theme import Theme, environment
from sitegen.render.worklog import render_worklog


def render_site(sources: Sources, theme: Theme) -> dict[str, str | bytes]:
    """All pages, feeds and data files by output path, sorted; the theme's assets are the caller's to write."""
    printer = Printer(sources, environment(theme))
    pages: dict[str, str] = {}
    for render in (render_home, render_posts, render_series_pages, render_kernels, render_worklog, render_plain):
        pages |= render(printer)
    pages |= render_feed(printer)
    pages |= render_sitemap(printer, pages)
    return dict(sorted({**pages, **_images(sources)}.items()))


def _images(sources: Sources) -> Mapping[str, bytes]:
    """What cells drew, as files beside their post."""
    return {
        image_url(post, cell.label, n): base64.b64decode(output.text)
        for post in sources.posts
        for cell in sources.document(post.body).cells
        for record in sources.cell_records(post.slug, cell.label)[:1]
        for n, output in enumerate(record.outputs)
        if output.kind == "image"
    }
