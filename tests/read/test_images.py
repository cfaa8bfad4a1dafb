"""The size and the kind of an image follow from its bytes."""

from __future__ import annotations

import io
import struct
import time
import zlib
from unittest.mock import patch

import pytest
from PIL import Image as pillow

from sitegen.model.image import BrokenImage, Image
from sitegen.read.images import read_image
from tests.processor_time import within


def saved(kind: str, size: tuple[int, int] = (8, 4), mode: str = "RGB", **options: object) -> bytes:
    into = io.BytesIO()
    pillow.new(mode, size).save(into, kind, **options)
    return into.getvalue()


def reason(data: bytes, path: str = "a.png") -> str:
    seen = read_image(data, path)
    assert isinstance(seen, BrokenImage)
    return seen.reason


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "AVIF", "GIF"])
def test_size_and_kind(kind: str) -> None:
    assert read_image(saved(kind), "a") == Image(8, 4, kind.lower())


def test_photograph_that_lies_on_its_side_is_turned() -> None:
    exif = pillow.Exif()
    exif[0x0112] = 6
    assert read_image(saved("JPEG", exif=exif), "a.jpg") == Image(4, 8, "jpeg")


def test_png_that_names_its_turn_before_the_pixels_is_turned_and_not_decoded() -> None:
    """Screenshots have such a chunk, and decoding 596 of them took 5 s of processor time."""
    exif = pillow.Exif()
    exif[0x0112] = 6
    with patch("PIL.ImageFile.ImageFile.load", side_effect=AssertionError):
        assert read_image(saved("PNG", exif=exif), "a.png") == Image(4, 8, "png")
        exif[0x0112] = 1
        assert read_image(saved("PNG", exif=exif), "a.png") == Image(8, 4, "png")


def test_damaged_png_that_names_its_turn_is_damaged() -> None:
    exif = pillow.Exif()
    exif[0x0112] = 6
    data = bytearray(saved("PNG", exif=exif))
    data[data.index(b"IDAT") + 7] ^= 1
    assert reason(bytes(data)).startswith("is damaged: broken PNG file")
    assert reason(saved("PNG", (640, 640), exif=exif)[:-40]).startswith("is damaged")


def test_png_that_names_its_turn_behind_the_pixels_is_turned() -> None:
    exif = pillow.Exif()
    exif[0x0112] = 6
    data = saved("PNG", exif=exif)
    start = data.index(b"eXIf") - 4
    end = start + 12 + int.from_bytes(data[start : start + 4], "big")
    last = data.index(b"IEND") - 4
    assert read_image(data[:start] + data[end:last] + data[start:end] + data[last:], "a.png") == Image(4, 8, "png")


@pytest.mark.parametrize(("chunk", "why"), [(b"IHDR", "is no image"), (b"IDAT", "is damaged: broken PNG file")])
def test_png_with_a_wrong_byte_is_damaged(chunk: bytes, why: str) -> None:
    data = bytearray(saved("PNG"))
    data[data.index(chunk) + 7] ^= 1
    assert reason(bytes(data)).startswith(why)


def test_what_moves_stays_as_it_is() -> None:
    into = io.BytesIO()
    frames = [pillow.new("RGB", (8, 4), colour) for colour in ("red", "blue")]
    frames[0].save(into, "GIF", save_all=True, append_images=frames[1:])
    assert read_image(into.getvalue(), "a.gif") == Image(8, 4, "gif", as_is=True)


def test_sixteen_bits_a_pixel_stay_as_they_are() -> None:
    assert read_image(saved("PNG", mode="I;16"), "a.png") == Image(8, 4, "png", as_is=True)


def test_file_that_was_cut_off_is_damaged() -> None:
    assert reason(saved("JPEG", (64, 64))[:-40]).startswith("is damaged")
    assert reason(saved("PNG", (640, 640))[:-40]).startswith("is damaged")


def test_what_is_no_image() -> None:
    assert reason(b"%PDF-1.7") == "is no image"
    assert reason(b"") == "is no image"
    assert reason(saved("TIFF")) == "is TIFF, which browsers do not show"


def without_pixels(width: int, height: int) -> bytes:
    """Return the beginning of a PNG."""
    header = struct.pack(">II5B", width, height, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    end = struct.pack(">I", 0) + b"IDAT" + struct.pack(">I", zlib.crc32(b"IDAT"))
    return b"\x89PNG\r\n\x1a\n" + chunk + end


@pytest.mark.parametrize(("side", "count"), [(8_000, "64 million"), (20_000, "too many")])
def test_image_that_would_fill_the_memory_is_not_decoded(side: int, count: str) -> None:
    assert reason(without_pixels(side, side)) == f"has {count} pixels, more than 30 million"


@pytest.mark.parametrize(("width", "height"), [(16_384, 1), (1, 16_384), (49_000_000, 1), (1, 24_000_000)])
def test_a_side_has_a_bound(width: int, height: int) -> None:
    """Pillow needed 8 GB to scale a row of 49 million pixels; WebP has no side of more than 16,383."""
    assert reason(without_pixels(width, height)) == f"is {width} × {height} pixels, and a side may have 16,383"


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('width="480" height="240.4px"', (480, 240)),
        ('width="100%" viewBox="0 0 480 240"', (480, 240)),
        ('viewBox="-10,-10,480,240"', (480, 240)),
        ("", (0, 0)),
    ],
)
def test_size_of_a_drawing(attributes: str, size: tuple[int, int]) -> None:
    svg = f'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" {attributes}><path d="M0 0"/></svg>'
    assert read_image(svg.encode(), "a.svg") == Image(*size, "svg")


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("<script>1</script>", "holds a script (line 2)"),
        ('<g xmlns:s="http://www.w3.org/2000/svg"><s:script/></g>', "holds a script (line 2)"),
        ('<path onload="f()"/>', "holds a script (line 2)"),
        ('<a href=" java\nscript:f()"/>', "holds a script (line 2)"),
        ("<g>", "is not XML: mismatched tag (line 2)"),
    ],
)
def test_drawing_that_may_not_be_published(inside: str, said: str) -> None:
    assert reason(f"<svg>\n{inside}</svg>".encode(), "a.svg") == said


def test_drawing_defines_nothing_that_grows() -> None:
    assert reason(b'<!DOCTYPE svg [<!ENTITY a "a">]><svg>&a;</svg>', "a.svg") == "defines an entity (line 1)"
    assert reason(b"<html/>", "a.svg") == "is no SVG: it begins with <html>"


def test_many_spaces_in_a_style_take_time_in_their_number() -> None:
    began = time.process_time()
    assert isinstance(read_image(b"<svg><style>" + b"url(" + b" " * 2_000_000 + b"</style></svg>", "a.svg"), Image)
    assert isinstance(read_image(b"<svg>" + b"<style>a</style>" * 100_000 + b"</svg>", "a.svg"), Image)
    assert within(time.process_time() - began, 2.0)
