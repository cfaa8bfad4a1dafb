"""Read the size and kind of an image from its bytes, or find why no page can show it.

Pillow decodes the pixels, or verifies the checksums of a PNG; it is imported when there is an image that no build has
seen.  An SVG is read as XML and published unchanged, so an SVG with a script, or with a page of HTML in it, is refused:
the script would run when the file is opened by itself.  So is one that loads something of another site or of the
author's disk.
"""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import replace
from typing import Any
from xml.parsers import expat

from sitegen.model.image import BrokenImage, Image

MOST_PIXELS = 30_000_000
LONGEST_SIDE = 16_383
"""The most pixels of a side: as many as a WebP can have.  Pillow needs memory in the length of a side, too."""
MOST_BYTES = 32 * 2**20
_SHOWN = frozenset({"png", "jpeg", "gif", "webp", "avif"})
_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr"})
_TURNED = (5, 6, 7, 8)
"""Values of EXIF's orientation that exchange width and height."""
_ORIENTATION = 0x0112
_EXIF, _RAW_EXIF = b"eXIf", b"Raw profile type exif"
"""Bytes of a PNG that may turn it."""
_LENGTH = re.compile(r"\s*(\d{1,9}(?:\.\d{0,9})?)(?:px)?\s*")
_NUMBER = re.compile(r"-?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})(?:[eE]-?\d)?(?=[\s,]|$)")
_FOREIGN = frozenset(
    ["foreignobject", "iframe", "object", "embed", "audio", "video", "canvas", "body", "meta", "handler", "listener"]
)
"""Elements, in lower case, by which an SVG holds a page, which can hold a script."""
_MOVING = frozenset({"set", "animate"})
"""Elements that can change an address into a script after the file was checked."""

_LOADING = frozenset({"href", "src", "srcset", "data", "action", "poster", "base", "background"})
"""Attributes with an address that a browser loads; only that of an `<a>` waits for the reader."""
_ELSEWHERE = re.compile(r"(?!data:|#)[a-z][a-z0-9+.-]*:|[/\\]{2}", re.IGNORECASE)
"""The beginning of an address of another site or of a disk."""
_CSS_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|\r\n|[\n\r\f]|(.))")
_CSS_LOADS = re.compile(
    rf"@import|\b(?:image-set|image|src)\(|\burl\(\s*(?:[\"']\s*)?(?:{_ELSEWHERE.pattern})", re.IGNORECASE
)


def read_image(data: bytes, path: str) -> Image | BrokenImage:
    """Return the image, or the reason why it cannot be shown; it is read whole, so that truncation is noticed."""
    if len(data) > MOST_BYTES:
        return BrokenImage(f"has {len(data) / 2**20:.0f} MB, more than {MOST_BYTES // 2**20}", "scale it down")
    return _read_svg(data) if path.lower().endswith(".svg") else _read_pixels(data)


def _read_pixels(data: bytes) -> Image | BrokenImage:
    from PIL import Image as pillow
    from PIL import UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pillow.DecompressionBombWarning)
            opened = pillow.open(io.BytesIO(data))
        with opened:
            return _checked(opened, data)
    except UnidentifiedImageError:
        return BrokenImage("is no image", "save it as PNG, JPEG, WebP or AVIF, or draw it as SVG")
    except pillow.DecompressionBombError:
        return _too_large("too many")
    except Exception as error:  # a decoder raises anything when a file is broken
        return BrokenImage(f"is damaged: {error}", "save it again")


def _checked(opened: Any, data: bytes) -> Image | BrokenImage:
    kind, (width, height) = str(opened.format).lower(), opened.size
    if max(width, height) > LONGEST_SIDE:
        return BrokenImage(f"is {width} × {height} pixels, and a side may have {LONGEST_SIDE:,}", "scale it down")
    if width * height > MOST_PIXELS:
        return _too_large(f"{width * height / 1e6:.0f} million")
    if kind not in _SHOWN:
        return BrokenImage(f"is {opened.format}, which browsers do not show", "save it as PNG, JPEG, WebP or AVIF")
    image = Image(width, height, kind, as_is=getattr(opened, "is_animated", False) or opened.mode not in _MODES)
    if kind == "png" and _turn_is_known(opened, data):
        opened.verify()
        turned = "exif" in opened.info and opened.getexif().get(_ORIENTATION) in _TURNED
    else:
        opened.load()
        turned = opened.getexif().get(_ORIENTATION) in _TURNED
    return replace(image, width=height, height=width) if turned else image


def _turn_is_known(opened: Any, data: bytes) -> bool:
    """Return whether nothing behind the pixels of a PNG can say how it is turned.

    Its checksums then show all damage, in 1 % of the time of decoding it: of the 12 s of processor time for the 675
    images of a blog, and of the 5 s for 596 screenshots.
    """
    return data.count(_EXIF) == int("exif" in opened.info) and _RAW_EXIF not in data


def _too_large(pixels: str) -> BrokenImage:
    return BrokenImage(f"has {pixels} pixels, more than {MOST_PIXELS // 1_000_000} million", "scale it down")


_LOADS = "loads a file of another site or of a disk (line {})"


class _RefusedError(Exception):
    """The content of an SVG that must not be published."""


def _read_svg(data: bytes) -> Image | BrokenImage:
    root: dict[str, str] = {}
    inside: list[str] = []
    styles: list[list[str]] = []
    parser = expat.ParserCreate()

    def element(name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2]
        if not root:
            root.update(attributes, tag=tag)
        inside.append(tag.lower())
        if inside[-1] == "style":
            styles.append([])
        if tag.lower() == "script" or any(_is_script(key, value) for key, value in attributes.items()):
            raise _RefusedError(f"holds a script (line {parser.CurrentLineNumber})")
        if tag.lower() in _FOREIGN or (tag.lower() in _MOVING and _moves_an_address(attributes)):
            raise _RefusedError(f"holds <{tag}>, which can hold a script (line {parser.CurrentLineNumber})")
        if any(_loads(tag, key, value) for key, value in attributes.items()):
            raise _RefusedError(_LOADS.format(parser.CurrentLineNumber))

    def end(_: str) -> None:
        if inside.pop() == "style" and _css_loads("".join(styles.pop())):
            raise _RefusedError(_LOADS.format(parser.CurrentLineNumber))

    def text(data: str) -> None:
        if styles:
            styles[-1].append(data)

    def entity(*_: object) -> None:
        raise _RefusedError(f"defines an entity (line {parser.CurrentLineNumber})")

    def instruction(target: str, _: str) -> None:
        raise _RefusedError(f"names a style sheet, which can hold a script (line {parser.CurrentLineNumber})")

    parser.StartElementHandler, parser.EndElementHandler, parser.EntityDeclHandler = element, end, entity
    parser.CharacterDataHandler, parser.buffer_text = text, True
    parser.ProcessingInstructionHandler = instruction
    try:
        parser.Parse(data, True)
    except _RefusedError as refused:
        return BrokenImage(str(refused), "export it without")
    except expat.ExpatError as error:
        return BrokenImage(f"is not XML: {expat.ErrorString(error.code)} (line {error.lineno})", "export it again")
    except (ValueError, LookupError) as error:  # an encoding that Python does not know, or not for expat
        return BrokenImage(f"is not XML: {error}", "export it as UTF-8")
    if root["tag"] != "svg":
        return BrokenImage(f"is no SVG: it begins with <{root['tag']}>", "export it again")
    return Image(*_size(root), "svg")


def _is_script(name: str, value: str) -> bool:
    """Return whether an attribute is a handler or a page, or its value an address that browsers execute."""
    local = name.rpartition(":")[2].lower()
    address = re.sub(r"[\s\x00-\x20]", "", value).lower()
    executed = address.startswith(("javascript:", "vbscript:", "data:text/html", "data:application/", "data:image/svg"))
    return local.startswith("on") or local == "srcdoc" or executed


def _loads(tag: str, name: str, value: str) -> bool:
    """Return whether a browser would load something from elsewhere for an attribute."""
    address = re.sub(r"[\s\x00-\x20]", "", value)
    loading = tag.lower() != "a" and name.rpartition(":")[2].lower() in _LOADING
    return bool(loading and _ELSEWHERE.match(address)) or _css_loads(value)


def _css_loads(css: str) -> bool:
    """Return whether a browser would load something from elsewhere for a style, or for an attribute as `fill`."""
    return bool(_CSS_LOADS.search(_CSS_ESCAPE.sub(_unescaped, css).replace("\t", "")))


def _unescaped(escape: re.Match[str]) -> str:
    return chr(min(int(escape[1], 16), 0x10FFFF)) if escape[1] else escape[2] or ""


def _moves_an_address(attributes: dict[str, str]) -> bool:
    return attributes.get("attributeName", "").rpartition(":")[2].lower() in ("href", "src")


def _size(root: dict[str, str]) -> tuple[int, int]:
    """Return the size by `width` and `height` in pixels, else by the view box, else (0, 0)."""
    sides = [_LENGTH.fullmatch(root.get(name, "")) for name in ("width", "height")]
    if sides[0] and sides[1]:
        return round(float(sides[0][1])), round(float(sides[1][1]))
    box = _NUMBER.findall(root.get("viewBox", ""))
    return (round(float(box[2])), round(float(box[3]))) if len(box) == 4 else (0, 0)
