"""Read the drawing of a card: from what the template `card.svg` gives, to the shapes of the picture.

A drawing is SVG of four elements, `rect`, `polygon`, `text` and `image`, directly in `svg`, in the order in which they
are drawn.  An image is in the drawing itself, so no drawing opens a file.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from PIL import ImageColor

Colour = tuple[int, int, int]


class DrawingError(Exception):
    """A drawing has something that no card can show; the message says what."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    x: int
    y: int
    width: int
    height: int
    fill: Colour


@dataclass(frozen=True, slots=True)
class Polygon:
    points: tuple[tuple[float, float], ...]
    fill: Colour


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text; `y` is its base line, and `x` its left end, its middle or its right end, as `anchor` says."""

    x: float
    y: float
    anchor: str
    size: float
    weight: float
    fill: Colour
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG or JPEG file that is drawn in the size of its box."""

    x: int
    y: int
    width: int
    height: int
    file: bytes


Shape = Rectangle | Polygon | Line | Picture

_SVG = "{http://www.w3.org/2000/svg}"
_BLACK = {"fill": "#000000"}
_BOX = {"x": "0", "y": "0", "width": "", "height": ""}
_ATTRIBUTES: dict[str, dict[str, str]] = {
    "rect": _BOX | _BLACK,
    "polygon": {"points": ""} | _BLACK,
    "text": {"x": "0", "y": "0", "font-size": "", "font-weight": "400", "text-anchor": "start"} | _BLACK,
    "image": _BOX | {"href": ""},
}
"""The attributes of each element, and what stands for one that is left out; an empty value says that it is needed."""
_FAR = 2000
"""The largest number in a drawing."""
_MOST = 1000
"""The most shapes of a drawing."""
_ANCHORS = ("start", "middle", "end")
_DATA = re.compile(r"data:image/(?:png|jpeg);base64,(.+)", re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]+")
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that a title may have and that XML has not."""


def shapes(svg: str) -> Iterator[Shape]:
    """Yield the shapes of a drawing, the lowest first.  Raises DrawingError."""
    if "<!DOCTYPE" in svg:  # it could define entities that grow without end
        raise DrawingError("a card has no DOCTYPE")
    try:
        root = ElementTree.fromstring(_NO_XML.sub("", svg))
    except ElementTree.ParseError as error:
        raise DrawingError(f"a card is XML, and this is none: {error}") from None
    if root.tag != f"{_SVG}svg":
        raise DrawingError('the outer element of a card is `svg`, with xmlns="http://www.w3.org/2000/svg"')
    if len(root) > _MOST:
        raise DrawingError(f"a card has at most {_MOST} elements, and this one has {len(root)}")
    for element in root:
        yield _shape(element)


def _shape(element: ElementTree.Element) -> Shape:
    name = element.tag.removeprefix(_SVG)
    if name not in _ATTRIBUTES:
        raise DrawingError(f"a card has no `{name}`, only {', '.join(_ATTRIBUTES)}")
    if len(element):
        raise DrawingError(f"`{name}` of a card has no elements in it")
    values = _attributes(name, element.attrib)
    if name == "polygon":
        return Polygon(_points(values["points"]), _colour(values))
    if name == "text":
        return _line(values, element.text or "")
    x, y, width, height = (round(_number(values, key)) for key in _BOX)
    if name == "rect":
        return Rectangle(x, y, width, height, _colour(values))
    return Picture(x, y, width, height, _file(values["href"]))


def _attributes(name: str, given: Mapping[str, str]) -> dict[str, str]:
    known = _ATTRIBUTES[name]
    for key in given.keys() - known.keys():
        raise DrawingError(f"`{name}` of a card has no `{key}`, only {', '.join(known)}")
    values = {**known, **given}
    for key in (key for key, value in values.items() if not value):
        raise DrawingError(f"`{name}` of a card needs `{key}`")
    return values


def _line(values: Mapping[str, str], text: str) -> Line:
    if (anchor := values["text-anchor"]) not in _ANCHORS:
        raise DrawingError(f"`text-anchor` is one of {', '.join(_ANCHORS)}, not `{anchor}`")
    x, y, size, weight = (_number(values, key) for key in ("x", "y", "font-size", "font-weight"))
    return Line(x, y, anchor, size, weight, _colour(values), _SPACE.sub(" ", text).strip(" "))


def _number(values: Mapping[str, str], key: str) -> float:
    try:
        number = float(values[key])
    except ValueError:
        raise DrawingError(f"`{key}` is a number of pixels, not `{values[key]}`") from None
    if not abs(number) <= _FAR:
        raise DrawingError(f"`{key}` is at most {_FAR}, not `{values[key]}`")
    return number


def _points(text: str) -> tuple[tuple[float, float], ...]:
    numbers = [_number({"points": one}, "points") for one in text.replace(",", " ").split()]
    if len(numbers) < 6 or len(numbers) % 2:
        raise DrawingError("`points` are at least three pairs of numbers")
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))


def _colour(values: Mapping[str, str]) -> Colour:
    try:
        return ImageColor.getrgb(values["fill"])[:3]
    except ValueError:
        raise DrawingError(f"`fill` is a colour such as #16191c, not `{values['fill']}`") from None


def _file(href: str) -> bytes:
    match = _DATA.fullmatch(href.strip())
    try:
        return b64decode(match[1]) if match else _not_inside(href)
    except ValueError:  # binascii.Error is one, and a letter outside of ASCII raises a plain one
        raise DrawingError("the base64 of an image cannot be read") from None


def _not_inside(href: str) -> bytes:
    raise DrawingError(f"`href` of an image is data:image/png;base64,… or data:image/jpeg;base64,…, not `{href[:40]}`")
