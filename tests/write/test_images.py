"""The variants of an image are made once, and are the same each time."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image as pillow

from sitegen.model.image import Image, ImageVariant, variants_of
from sitegen.write.images import remove_unused_variants, variant_contents


def drawn(path: Path, mode: str = "RGB", size: tuple[int, int] = (600, 300), **options: object) -> Path:
    image = pillow.radial_gradient("L").resize(size).convert(mode)
    if mode == "LA":
        image.putalpha(pillow.linear_gradient("L").resize(size))
    image.save(path, **options)
    return path


def test_forms_are_narrower_than_the_image_or_of_its_width() -> None:
    assert [(form.width, form.format) for form in variants_of("a.png", Image(600, 300, "png"))] == [
        *((480, "avif"), (600, "avif")),
        *((480, "webp"), (600, "webp")),
    ]
    assert max(form.width for form in variants_of("a.png", Image(4000, 300, "png"))) == 1920


@pytest.mark.parametrize("image", [Image(600, 300, "svg"), Image(600, 300, "gif"), Image(600, 300, "png", as_is=True)])
def test_what_has_no_other_form(image: Image) -> None:
    assert list(variants_of("a", image)) == []


def test_forms_keep_their_proportions_and_what_shines_through(tmp_path: Path) -> None:
    source = drawn(tmp_path / "a.png", "LA")
    found = variant_contents(source.read_bytes, b"1", variants_of("a.png", Image(600, 300, "png")), tmp_path / "kept")
    opened = {url: pillow.open(io.BytesIO(data)) for url, data in found.items()}
    assert {url: (image.format, image.size, image.mode) for url, image in opened.items()} == {
        "a.png.480.avif": ("AVIF", (480, 240), "RGBA"),
        "a.png.600.avif": ("AVIF", (600, 300), "RGBA"),
        "a.png.480.webp": ("WEBP", (480, 240), "RGBA"),
        "a.png.600.webp": ("WEBP", (600, 300), "RGBA"),
    }


def test_photograph_is_turned_and_its_place_is_not_told(tmp_path: Path) -> None:
    exif = pillow.Exif()
    exif[0x0112], exif[0x010F] = 6, "Camera"
    source = drawn(tmp_path / "a.jpg", exif=exif)
    (data,) = variant_contents(source.read_bytes, b"1", [ImageVariant("a", 150, "webp")], tmp_path / "kept").values()
    image = pillow.open(io.BytesIO(data))
    assert (image.size, dict(image.getexif())) == ((150, 300), {})


def test_the_same_image_gives_the_same_bytes(tmp_path: Path) -> None:
    source, wanted = drawn(tmp_path / "a.png"), list(variants_of("a.png", Image(600, 300, "png")))
    assert variant_contents(source.read_bytes, b"1", wanted, tmp_path / "one") == variant_contents(
        source.read_bytes, b"1", wanted, tmp_path / "two"
    )


def test_what_was_made_is_not_made_again(tmp_path: Path) -> None:
    source, wanted = drawn(tmp_path / "a.png"), [ImageVariant("a.webp", 480, "webp")]
    first = variant_contents(source.read_bytes, b"1", wanted, tmp_path / "kept")
    source.unlink()
    assert variant_contents(source.read_bytes, b"1", wanted, tmp_path / "kept") == first


def test_forms_of_what_is_gone_are_thrown_away(tmp_path: Path) -> None:
    source, wanted = drawn(tmp_path / "a.png"), [ImageVariant("a.webp", 480, "webp")]
    for digest in (b"1", b"2"):
        variant_contents(source.read_bytes, digest, wanted, tmp_path / "kept")
    remove_unused_variants(tmp_path / "kept", {b"2"})
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["32-480.webp"]
