"""The image of a slot → its element."""

from __future__ import annotations

from markupsafe import Markup

from sitegen.model.document import ImageSlot
from sitegen.model.urls import relative


def render_image(slot: ImageSlot, url: str, here: str) -> Markup:
    """`url` is that of its file."""
    attributes = {"src": relative(url, here), **dict(slot.attributes)}
    if not slot.first:
        attributes.setdefault("loading", "lazy")
    return Markup("<img{}>").format(Markup("").join(Markup(' {}="{}"').format(*pair) for pair in attributes.items()))
