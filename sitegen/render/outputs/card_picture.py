"""Draw a card: from the shapes of a drawing to a PNG file of 1200×630 pixels.

The file has a palette of at most 256 colours, because full colours take more than twice as long to pack.
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from io import BytesIO
from struct import pack

from PIL import Image, ImageDraw

from sitegen.render.outputs.card_letters import letters
from sitegen.render.outputs.card_shapes import Colour, DrawingError, Line, Picture, Polygon, Rectangle, shapes

WIDTH, HEIGHT = 1200, 630
_COLOURS = 256
_OF_PICTURE = 128
"""The most colours of a picture in a card."""
_SHADES = 15
"""The shades from no cover of a pixel to full cover, by which edges are smooth."""
_LEVELS = tuple(round(cover * _SHADES / 255) for cover in range(256))
_COVERED = bytes(255 if level else 0 for level in _LEVELS)
_MARGIN = 40
"""Pixels between a line of text and the edges of a card."""
_FINE = 4
"""A polygon is drawn this many times larger, and made smaller again."""
_WORK = 20 * WIDTH * HEIGHT
"""The most pixels of all shapes of a card and of the files of its pictures, so that every card is drawn soon."""
_PACKING = 3
"""The level of zlib: level 4 takes half as long again and saves a sixth, level 6 takes twice as long."""


def draw_png(svg: str) -> bytes:
    """Return the PNG file of a drawing.  Raises DrawingError."""
    canvas = _Canvas()
    for shape in shapes(svg):
        if isinstance(shape, Rectangle):
            canvas.fill(shape)
        elif isinstance(shape, Picture):
            canvas.show(shape)
        elif isinstance(shape, Polygon):
            canvas.cover(*_polygon(shape.points), shape.fill)
        else:
            canvas.write(shape)
    return canvas.png()


class _Canvas:
    """The pixels of a card as places in its palette.

    The first column is no pixel: a PNG file has a byte before each row, 0 for a row that is stored as it is.
    """

    def __init__(self) -> None:
        self._pixels = Image.new("L", (1 + WIDTH, HEIGHT))
        self._palette: dict[Colour, int] = {}
        self._shades: dict[tuple[int, Colour], bytes] = {}
        self._work = 0
        self._place((255, 255, 255))

    def fill(self, one: Rectangle) -> None:
        box = (1 + one.x, one.y, 1 + one.x + max(one.width, 0), one.y + max(one.height, 0))
        self._pixels.paste(self._place(one.fill), box)

    def cover(self, cover: Image.Image, x: int, y: int, colour: Colour) -> None:
        """Lay a colour over the pixels that `cover` covers, mixed with the colour at its upper left corner."""
        self._count(cover.width * cover.height)
        ground = self._ground(x, y)
        shades = self._shades.get((ground, colour)) or self._mixed(ground, colour)
        self._pixels.paste(_mapped(cover, shades), (1 + x, y), _mapped(cover, _COVERED))

    def write(self, line: Line) -> None:
        room = _room(line)
        if room > 0 and (found := letters(line.text, line.size, line.weight, room)):
            x, y = round(_start(line, found.width)) + found.left, round(line.y) - found.top
            self.cover(found.cover, x, y, line.fill)

    def show(self, one: Picture) -> None:
        ground = list(self._palette)[self._ground(one.x, one.y)]
        pixels, colours, work = _flattened(one.file, one.width, one.height, ground)
        self._count(work)
        places = [self._place(colour) for colour in colours]
        self._pixels.paste(_mapped(pixels, bytes(places).ljust(256)), (1 + one.x, one.y))

    def png(self) -> bytes:
        self._pixels.paste(0, (0, 0, 1, HEIGHT))
        head = pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0)
        palette = bytes(part for colour in self._palette for part in colour)
        data = zlib.compress(self._pixels.tobytes(), _PACKING)
        chunks = ((b"IHDR", head), (b"PLTE", palette), (b"IDAT", data), (b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, body) for name, body in chunks)

    def _count(self, pixels: int) -> None:
        self._work += pixels
        if self._work > _WORK:
            raise DrawingError(f"the texts, polygons and images of a card have more than {_WORK:,} pixels in all")

    def _ground(self, x: int, y: int) -> int:
        place = self._pixels.getpixel((1 + min(max(x, 0), WIDTH - 1), min(max(y, 0), HEIGHT - 1)))
        assert isinstance(place, int)
        return place

    def _mixed(self, ground: int, colour: Colour) -> bytes:
        """Return the place of the colour for each cover from 0 to 255."""
        below = list(self._palette)[ground]
        steps = [_between(below, colour, step / _SHADES) for step in range(_SHADES + 1)]
        places = [self._place(step) for step in steps]
        self._shades[ground, colour] = shades = bytes(places[level] for level in _LEVELS)
        return shades

    def _place(self, colour: Colour) -> int:
        if (place := self._palette.setdefault(colour, len(self._palette))) >= _COLOURS:
            raise DrawingError(f"a card has at most {_COLOURS} colours, those of smooth edges counted")
        return place


def _mapped(image: Image.Image, table: bytes) -> Image.Image:
    """Return a picture with `table[value]` in place of each value."""
    return Image.frombytes("L", image.size, image.tobytes().translate(table))


def _between(a: Colour, b: Colour, share: float) -> Colour:
    red, green, blue = (round(x + (y - x) * share) for x, y in zip(a, b, strict=True))
    return red, green, blue


def _chunk(name: bytes, body: bytes) -> bytes:
    return pack(">I", len(body)) + name + body + pack(">I", zlib.crc32(name + body))


def _start(line: Line, width: float) -> float:
    return line.x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[line.anchor]


def _room(line: Line) -> float:
    """Return the pixels that a line may fill, so that it does not come too near to the edge of the card."""
    before, behind = (edge - min(_MARGIN, edge / 2) for edge in (line.x, WIDTH - line.x))
    return {"start": behind, "middle": 2 * min(before, behind), "end": before}[line.anchor]


@lru_cache(maxsize=256)
def _polygon(points: tuple[tuple[float, float], ...]) -> tuple[Image.Image, int, int]:
    """Return how much of each pixel a polygon covers, and the place of the upper left corner."""
    xs, ys = zip(*points, strict=True)
    left, top = int(max(min(xs), -1)) - 1, int(max(min(ys), -1)) - 1
    width, height = int(min(max(xs), WIDTH)) + 2 - left, int(min(max(ys), HEIGHT)) + 2 - top
    large = Image.new("L", (max(width, 1) * _FINE, max(height, 1) * _FINE))
    ImageDraw.Draw(large).polygon([((x - left) * _FINE, (y - top) * _FINE) for x, y in points], 255)
    return large.reduce(_FINE), left, top


@lru_cache(maxsize=8)
def _flattened(file: bytes, width: int, height: int, ground: Colour) -> tuple[Image.Image, list[Colour], int]:
    """Return a picture as places in a palette of its own, that palette, and the pixels of the picture's file.

    `ground` is below its clear pixels.
    """
    if not (0 < width <= WIDTH and 0 < height <= HEIGHT):
        raise DrawingError(f"an image of a card is at most {WIDTH}×{HEIGHT} pixels large")
    try:
        with Image.open(BytesIO(file), formats=("PNG", "JPEG")) as image:
            if (work := image.width * image.height) > _WORK:
                raise DrawingError(f"an image file of a card has at most {_WORK:,} pixels")
            clear = image.convert("RGBA").resize((width, height), Image.Resampling.LANCZOS)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise DrawingError(f"an image of a card cannot be read: {error}") from None
    solid = Image.alpha_composite(Image.new("RGBA", clear.size, (*ground, 255)), clear).convert("RGB")
    small = solid.quantize(_OF_PICTURE)
    numbers = small.getpalette() or []
    colours = list(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True))
    return Image.frombytes("L", small.size, small.tobytes()), colours, work
