"""Add the sizes of images to a linked site; a file that must not be published is a diagnostic at each of its uses.
Such a file is left out, because a diagnostic in the worklog is only a warning.

A file that a text only links to is looked at as well: a browser that opens a drawing or a page of HTML or XML by itself
would run its scripts with the rights of the site.
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
LookUp = Callable[[Sequence[str]], Mapping[str, Image | BrokenImage]]
"""Returns the image, or the fault of the image, for each of these files that can be read, by path from the site's root.
"""
LookAtLinked = Callable[[Sequence[str]], Mapping[str, BrokenImage]]
"""Returns the fault of each of these files that must not be published."""


def with_images(
    linked: Linked, documents: Mapping[str, Document], look: LookUp, look_at_linked: LookAtLinked
) -> tuple[Linked, tuple[Diagnostic, ...]]:
    """Return `linked` with its images by URL, and the diagnostics; `look` and `look_at_linked` read the files."""
    uses = list(_uses(linked, documents))
    drawn = {path for slot, _, path in uses if isinstance(slot, ImageSlot) or path.lower().endswith(".svg")}
    linked_only = {path for _, _, path in uses} - drawn
    seen = {**look(sorted(drawn)), **look_at_linked(sorted(linked_only))}
    images = {
        url: image
        for slot, url, path in uses
        if isinstance(slot, ImageSlot) and isinstance(image := seen.get(path), Image)
    }
    broken = [_mistake(slot, image) for slot, _, path in uses if isinstance(image := seen.get(path), BrokenImage)]
    kept = {url: path for url, path in linked.assets.items() if not isinstance(seen.get(path), BrokenImage)}
    linked = dataclasses.replace(linked, images=dict(sorted(images.items())), assets=kept)
    return linked, worklog_never_fails(broken)


def _uses(linked: Linked, documents: Mapping[str, Document]) -> Iterator[tuple[Slot, str, str]]:
    """Yield each use of a file of the site with the URL and the path of the file."""
    for text in texts(linked.site) if linked.assets else ():
        key = document_key(text)
        for index, slot in enumerate(documents[key].slots if key in documents else ()):
            if not isinstance(slot, ImageSlot | LinkSlot | FileSlot):
                continue
            path = linked.assets.get(unquote(linked.hrefs.get((key, index), "").partition("#")[0]))
            if path:
                yield slot, linked.hrefs[key, index], path


def _mistake(slot: Slot, image: BrokenImage) -> Diagnostic:
    return Diagnostic("SG213", f"`{slot.target}` {image.reason}", slot.span, image.hint)
