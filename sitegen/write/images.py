"""Make the smaller variants of an image, each once, and keep them by the content of the image.

The output is the same on each run: one thread encodes, and of the file only pixels and colour profile are used.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from sitegen.model.image import ImageVariant

EncoderOptions = dict[str, dict[str, Any]]
"""Options of an encoder, by format."""

_PHOTOGRAPH: EncoderOptions = {"avif": {"quality": 60}, "webp": {"quality": 78}}
_GRAPHIC: EncoderOptions = {"avif": {"quality": 60, "subsampling": "4:4:4"}, "webp": {"quality": 85}}
"""Options for images that were saved without loss: full chroma resolution keeps the edges of colours."""
_UNSCALED: EncoderOptions = _GRAPHIC | {"webp": {"lossless": True}}
"""Options for such an image in its own size: flat colours take less space without loss than with it."""
_ALWAYS: EncoderOptions = {"avif": {"speed": 6, "max_threads": 1}, "webp": {"method": 4}}


def variant_contents(
    source: Callable[[], bytes], digest: bytes, wanted: Iterable[ImageVariant], folder: Path
) -> dict[str, bytes]:
    """Return the content of each variant by its URL.

    `source` reads the image; it is called when a variant is missing.  `digest` is that of the image; `folder`, in the
    user's cache, keeps the variants.
    """
    image: Any = None
    contents: dict[str, bytes] = {}
    for form in wanted:
        kept = folder / f"{digest.hex()}-{form.width}.{form.format}"
        if not kept.is_file():
            image = image or _open_image(source())
            _write_whole(kept, _encode(image, form))
        contents[form.url] = kept.read_bytes()
    return contents


def remove_unused_variants(folder: Path, digests: Collection[bytes]) -> None:
    """Remove the variants of images that the site no longer has; `digests` are those of all its image files."""
    if folder.is_dir():
        known = {digest.hex() for digest in digests}
        for path in folder.iterdir():
            if path.name.partition("-")[0] not in known:
                path.unlink(missing_ok=True)


def _open_image(source: bytes) -> Any:
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(source)) as opened:
        graphic = opened.format == "PNG"
        image = ImageOps.exif_transpose(opened)
        clear = "A" in image.getbands() or "transparency" in image.info
        image = image.convert("RGBA" if clear else "RGB")
        profile = None if opened.mode == "CMYK" else opened.info.get("icc_profile")
        image.info = {"graphic": graphic, "icc_profile": profile}
        return image


def _encode(image: Any, form: ImageVariant) -> bytes:
    from PIL import Image

    size = form.width, max(round(image.height * form.width / image.width), 1)
    scaled = image if size == image.size else image.resize(size, Image.Resampling.LANCZOS)
    of_graphic = _UNSCALED if size == image.size else _GRAPHIC
    how = (of_graphic if image.info["graphic"] else _PHOTOGRAPH)[form.format] | _ALWAYS[form.format]
    into = io.BytesIO()
    scaled.save(into, form.format.upper(), exif=b"", icc_profile=image.info["icc_profile"], **how)
    return into.getvalue()


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is whole or missing at every moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(data)
    partial.replace(path)
