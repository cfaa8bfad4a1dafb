"""Add the sizes of images to a linked site; a file that must not be published is a diagnostic at each of its uses.

A drawing that a text only links to is looked at as well, and a page of HTML is refused: a browser that opens such a
file by itself would run its scripts with the rights of the site.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import unquote

from sitegen.diagnostics import Diagnostic
from sitegen.model.document import Document, FileSlot, ImageSlot, LinkSlot
from sitegen.model.image import BrokenImage, Image
from sitegen.model.linked import Linked, document_key, texts
from sitegen.read.severity import worklog_never_fails

Slot = ImageSlot | LinkSlot | FileSlot
_PAGES = (".html", ".htm", ".xhtml", ".xht", ".shtml", ".xml", ".xsl", ".xslt", ".mht", ".mhtml")
"""Ends of the names of files that browsers show as a page, with its scripts."""
_PAGE = BrokenImage("is a page of its own, whose scripts could run as those of this site", "put it into a .zip file")
LookUp = Callable[[Sequence[str]], Mapping[str, Image | BrokenImage]]
"""Returns the image, or the fault of the image, for each of these files that can be read, by path from the site's root.
"""


def with_images(
    linked: Linked, documents: Mapping[str, Document], look: LookUp
) -> tuple[Linked, tuple[Diagnostic, ...]]:
    """Return `linked` with its images by URL, and the diagnostics; `look` reads the files."""
    uses = list(_uses(linked, documents))
    pages = {path: _PAGE for _, _, path in uses if path.lower().endswith(_PAGES)}
    seen = {**look(sorted({path for _, _, path in uses} - pages.keys())), **pages}
    images = {
        url: image
        for slot, url, path in uses
        if isinstance(slot, ImageSlot) and isinstance(image := seen.get(path), Image)
    }
    broken = [_mistake(slot, image) for slot, _, path in uses if isinstance(image := seen.get(path), BrokenImage)]
    return dataclasses.replace(linked, images=dict(sorted(images.items()))), worklog_never_fails(broken)


def _uses(linked: Linked, documents: Mapping[str, Document]) -> Iterator[tuple[Slot, str, str]]:
    """Yield each image, and each other file that a browser could execute, with its URL and its path."""
    for text in texts(linked.site) if linked.assets else ():
        key = document_key(text)
        for index, slot in enumerate(documents[key].slots if key in documents else ()):
            if not isinstance(slot, ImageSlot | LinkSlot | FileSlot):
                continue
            path = linked.assets.get(unquote(linked.hrefs.get((key, index), "").partition("#")[0]))
            if path and (isinstance(slot, ImageSlot) or path.lower().endswith((".svg", *_PAGES))):
                yield slot, linked.hrefs[key, index], path


def _mistake(slot: Slot, image: BrokenImage) -> Diagnostic:
    return Diagnostic("SG213", f"`{slot.target}` {image.reason}", slot.span, image.hint)
