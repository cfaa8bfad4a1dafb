"""Add the sizes of images to a linked site; a broken image is a diagnostic at each of its uses."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import unquote

from sitegen.diagnostics import Diagnostic
from sitegen.model.document import Document, ImageSlot
from sitegen.model.image import BrokenImage, Image
from sitegen.model.linked import Linked, document_key, texts
from sitegen.read.severity import worklog_never_fails

LookUp = Callable[[Sequence[str]], Mapping[str, Image | BrokenImage]]
"""Returns the image, or the fault of the image, for each of these files that can be read, by path from the site's root.
"""


def with_images(
    linked: Linked, documents: Mapping[str, Document], look: LookUp
) -> tuple[Linked, tuple[Diagnostic, ...]]:
    """Return `linked` with its images by URL, and the diagnostics; `look` reads the files."""
    uses = list(_uses(linked, documents))
    seen = look(sorted({path for _, _, path in uses}))
    images = {url: image for _, url, path in uses if isinstance(image := seen.get(path), Image)}
    broken = [_mistake(slot, image) for slot, _, path in uses if isinstance(image := seen.get(path), BrokenImage)]
    return dataclasses.replace(linked, images=dict(sorted(images.items()))), worklog_never_fails(broken)


def _uses(linked: Linked, documents: Mapping[str, Document]) -> Iterator[tuple[ImageSlot, str, str]]:
    """Yield each image of a text, its URL and its file."""
    for text in texts(linked.site) if linked.assets else ():
        key = document_key(text)
        for index, slot in enumerate(documents[key].slots if key in documents else ()):
            if isinstance(slot, ImageSlot) and (path := linked.assets.get(unquote(linked.hrefs.get((key, index), "")))):
                yield slot, linked.hrefs[key, index], path


def _mistake(slot: ImageSlot, image: BrokenImage) -> Diagnostic:
    return Diagnostic("SG213", f"`{slot.target}` {image.reason}", slot.span, image.hint)
