"""Tell what a text shows beside its own words: the targets of its links, images and works, and measurements."""

from __future__ import annotations

from typing import Any

from sitegen.model.document import (
    BenchmarkSlot,
    CellSlot,
    ClaimSlot,
    ListingSlot,
    OutputSlot,
    PlotSlot,
    RooflineSlot,
    ValueSlot,
)
from sitegen.model.linked import document_key
from sitegen.model.site import Markdown
from sitegen.render.inputs.sources import Sources

_OF_KERNELS = (
    ListingSlot,
    CellSlot,
    OutputSlot,
    BenchmarkSlot,
    RooflineSlot,
    PlotSlot,
    ValueSlot,
    ClaimSlot,
)
"""The slots that show code or a record."""


def targets_of(sources: Sources, text: Markdown) -> tuple[Any, ...]:
    """Return the targets of a text's links, and the images and works that the text shows."""
    key, linked = document_key(text), sources.linked
    leads = tuple(linked.hrefs.get((key, index), "") for index in range(len(sources.document(text).slots)))
    shown = [linked.images[url] for url in leads if url in linked.images]
    return (*leads, repr((shown, linked.references.get(key))))


def shows_kernels(sources: Sources, name: str) -> bool:
    """Return whether a text shows code or measurements of a kernel or a cell; `name` is its `document_key`."""
    slots = sources.documents[name].slots if name in sources.rich else ()
    return any(isinstance(slot, _OF_KERNELS) for slot in slots)
