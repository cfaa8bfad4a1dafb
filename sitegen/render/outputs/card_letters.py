"""Draw a line of text for a card: from the text, its size and its weight, to a grey picture of its letters.

HarfBuzz places and draws the letters.  The fonts come from packages, so that a card is the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

from PIL import Image

FONTS = (
    ("fontpkg_ibm_plex_sans", "files/IBMPlexSans[[]wdth,wght[]].ttf", 0),
    ("manimgx_fonts_cjk", "NotoSansCJK*.ttc", 1),  # the Korean forms of the letters
)
"""The package of each font, its file, and its number in the file.  The first font that has a letter draws it."""


@dataclass(frozen=True, slots=True)
class Letters:
    """A line of text: how much of each pixel its letters cover, and where its start on the base line is."""

    cover: Image.Image
    left: int
    """Pixels from the start of the line to the left edge of the picture."""
    top: int
    """Pixels from the upper edge of the picture to the base line."""
    width: float
    """Pixels from the start of the line to its end."""


@lru_cache(maxsize=256)
def letters(text: str, size: float, weight: float, room: float) -> Letters | None:
    """Return a line of text in letters of `size` pixels, and in smaller ones where the line would be wider than `room`.

    A weight is 400 for regular and 600 for semibold letters.  A line without ink is None.
    """
    import uharfbuzz as hb

    glyphs, width = _placed(text, weight)
    size = min(size, room / width) if width else size
    raster = hb.RasterDraw()
    for glyph in glyphs:
        font = _font(glyph.face, weight)
        scale = size / font.face.upem
        raster.transform = (scale, 0, 0, scale, glyph.x * size, glyph.y * size)
        raster.draw_glyph(font, glyph.number)
    image = raster.render()
    if not image or not image.buffer:
        return None
    extents = image.extents
    area = (extents.width, extents.height)
    cover = Image.frombytes("L", area, image.buffer, "raw", "L", extents.stride, -1)
    return Letters(cover, extents.x_origin, extents.y_origin + extents.height, width * size)


@dataclass(frozen=True, slots=True)
class _Glyph:
    """A glyph by its number in a font, and its place on the line in units of the size of the letters."""

    face: int
    number: int
    x: float
    y: float


def _placed(text: str, weight: float) -> tuple[list[_Glyph], float]:
    """Return the glyphs of a line, and the width of the line in units of the size of its letters."""
    import uharfbuzz as hb

    glyphs, pen = [], 0.0
    for face, run in groupby(text, _face_of):
        font, buffer = _font(face, weight), hb.Buffer()
        buffer.add_str("".join(run))
        buffer.guess_segment_properties()
        hb.shape(font, buffer)
        em = font.face.upem
        for info, place in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True):
            glyphs.append(_Glyph(face, info.codepoint, pen + place.x_offset / em, place.y_offset / em))
            pen += place.x_advance / em
    return glyphs, pen


@lru_cache(maxsize=4096)
def _face_of(letter: str) -> int:
    """Return the place of the font that draws a letter; the first font draws a box for a letter that no font has."""
    return next((n for n, face in enumerate(_faces()) if _font(n, 400).get_nominal_glyph(ord(letter))), 0)


@lru_cache
def _font(face: int, weight: float) -> Any:
    import uharfbuzz as hb

    font = hb.Font(_faces()[face])
    font.set_variations({"wght": weight})
    return font


@lru_cache
def _faces() -> tuple[Any, ...]:
    """Return the fonts whose packages are installed.  Their files are mapped, not read."""
    import uharfbuzz as hb

    found = ((path, number) for package, file, number in FONTS for path in _files(package, file))
    return tuple(hb.Face(hb.Blob.from_file_path(path), number) for path, number in found)


def _files(package: str, file: str) -> list[Path]:
    spec = find_spec(package)
    return sorted(Path(spec.origin).parent.glob(file)) if spec and spec.origin else []
