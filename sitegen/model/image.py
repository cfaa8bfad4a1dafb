"""An image of a text: its size, and the smaller variants of it that a page offers to browsers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

WIDTHS = (480, 960, 1440, 1920)
"""Widths in pixels: a column of text on a phone and on a desk, at one and at two device pixels per CSS pixel."""
FORMATS = ("avif", "webp")
"""Formats with the smallest files first: a browser takes the first that it knows."""
_HAVE_VARIANTS = frozenset({"png", "jpeg", "webp"})


@dataclass(frozen=True, slots=True)
class Image:
    """Size and kind of an image file."""

    width: int
    """Pixels after the rotation that EXIF asks for; 0 for an SVG without a size."""
    height: int
    kind: str
    """`png`, `jpeg`, `gif`, `webp`, `avif` or `svg`."""
    as_is: bool = False
    """True when no variants are made: the image is animated, or has a pixel format that is not converted."""


@dataclass(frozen=True, slots=True)
class BrokenImage:
    """The reason why a file cannot be shown, and a hint what to do."""

    reason: str
    hint: str


@dataclass(frozen=True, slots=True)
class ImageVariant:
    """A copy of an image in another size or format."""

    url: str
    width: int
    format: str


def variants_of(url: str, image: Image) -> Iterator[ImageVariant]:
    """Yield the variants of the image at a URL; an SVG or an animated image has none."""
    if image.kind in _HAVE_VARIANTS and not image.as_is:
        widths = [*(width for width in WIDTHS if width < image.width), *([image.width] * (image.width <= WIDTHS[-1]))]
        yield from (ImageVariant(f"{url}.{width}.{kind}", width, kind) for kind in FORMATS for width in widths)
