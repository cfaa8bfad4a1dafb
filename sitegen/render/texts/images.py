"""Print the image of a slot as an element with its size, and with the other forms of it that the site offers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from markupsafe import Markup, escape

from sitegen.model.document import ImageSlot
from sitegen.model.image import ImageVariant, variants_of
from sitegen.model.linked import Linked
from sitegen.model.urls import relative

SIZES = "(min-width: 44rem) 40rem, calc(100vw - 2rem)"
"""The width of a column of text, from which a browser chooses a form before it has the style sheet."""


def render_image(slot: ImageSlot, url: str, linked: Linked, here: str) -> Markup:
    """Return the element of an image; `url` is the URL of its file."""
    image = linked.images.get(url)
    attributes = {"src": relative(url, here), **dict(slot.attributes)}
    if image and image.width and not {"width", "height"} & attributes.keys():
        attributes |= {"width": str(image.width), "height": str(image.height)}
    if not slot.first:
        attributes.setdefault("loading", "lazy")
    shown = _element("img", attributes)
    offered = variants_of(url, image) if image and linked.site.config.images else ()
    sources = Markup("").join(_sources(offered, here))
    return Markup(f"<picture>{sources}{shown}</picture>") if sources else shown


def _sources(offered: Iterable[ImageVariant], here: str) -> Iterable[Markup]:
    for kind, same in groupby(offered, key=lambda form: form.format):
        files = ", ".join(f"{relative(form.url, here)} {form.width}w" for form in same)
        yield _element("source", {"type": f"image/{kind}", "srcset": files, "sizes": SIZES})


def _element(name: str, attributes: dict[str, str]) -> Markup:
    written = "".join([f' {escape(key)}="{escape(value)}"' for key, value in attributes.items()])
    return Markup(f"<{name}{written}>")
