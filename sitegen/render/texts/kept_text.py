"""Keep what a page with many texts makes of each, so that the next build makes only the texts again that changed.

After an edit of one of 24 posts with measurements, the page of all posts of their series takes 0.3 s instead of 2.3 s,
and a feed 0.1 s instead of 0.5 s.
"""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup

from sitegen.model.linked import document_key
from sitegen.model.site import Post, WorklogEntry
from sitegen.render.inputs.shown_by_texts import shows_kernels, targets_of
from sitegen.render.inputs.sources import Sources
from sitegen.render.shared.frame import Printer


def kept_text(
    printer: Printer, page: str, text: Post | WorklogEntry, make: Callable[[str], str], *also: object
) -> Markup:
    """Return what `make` makes of the HTML of a text, or what it made for that page in the build before.

    `also` are the values on which it depends beside the text, the targets of its links, the measurements, and what all
    pages depend on.  A text without measurements is not kept, because its slots are filled in less time.
    """
    name, sources = document_key(text.body), printer.sources

    def kept(html: str) -> Markup:
        if not shows_kernels(sources, name):
            return Markup(make(html))
        source = repr((page, also, html, *_dependencies(sources, text)))
        return Markup(printer.kept_texts(source, lambda _: make(html).encode()).decode())

    return printer.of_text(name, kept)


def _dependencies(sources: Sources, text: Post | WorklogEntry) -> tuple[object, ...]:
    file, targets = sources.digests.get(text.body.path), targets_of(sources, text.body)
    return text, sources.document(text.body), file, targets, sources.measured_digest
