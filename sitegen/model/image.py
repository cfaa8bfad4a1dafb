"""An image that a text shows: its size, and the smaller and lighter forms of it that a page offers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

WIDTHS = (480, 960, 1440, 1920)
"""Pixels: of a column of text on a phone and on a desk, at one and at two pixels for each of CSS."""
FORMATS = ("avif", "webp")
"""The lightest first: a browser takes the first that it knows."""
_HAVE_FORMS = frozenset({"png", "jpeg", "webp"})


@dataclass(frozen=True, slots=True)
class Image:
    width: int
    """Pixels as it is shown, turned as its camera says; 0 of an SVG that says none."""
    height: int
    kind: str
    """`png`, `jpeg`, `gif`, `webp`, `avif` or `svg`."""
    as_is: bool = False
    """No other form can be made of it: it moves, or its pixels are of a kind of their own."""


@dataclass(frozen=True, slots=True)
class BrokenImage:
    """A file that cannot be shown."""

    reason: str
    hint: str


@dataclass(frozen=True, slots=True)
class Form:
    """A copy of an image."""

    url: str
    width: int
    format: str


def forms(url: str, image: Image) -> Iterator[Form]:
    """Those of the image at a URL; none of a drawing or of what moves."""
    if image.kind in _HAVE_FORMS and not image.as_is:
        widths = [*(width for width in WIDTHS if width < image.width), *([image.width] * (image.width <= WIDTHS[-1]))]
        yield from (Form(f"{url}.{width}.{kind}", width, kind) for kind in FORMATS for width in widths)
