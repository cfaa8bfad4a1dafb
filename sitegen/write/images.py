"""An image → its smaller and lighter forms, each made once and kept by the content of the image.

The same bytes come out each time: one thread encodes, and nothing of the file but its pixels and their colours goes in.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sitegen.model.image import ImageVariant

Options = dict[str, dict[str, Any]]
"""What an encoder is told, by format."""

_PHOTOGRAPH: Options = {"avif": {"quality": 60}, "webp": {"quality": 78}}
_GRAPHIC: Options = {"avif": {"quality": 60, "subsampling": "4:4:4"}, "webp": {"quality": 85}}
"""Of what was saved without loss: colours keep their edges."""
_UNSCALED: Options = _GRAPHIC | {"webp": {"lossless": True}}
"""Flat colours are still flat then, and take less without loss than with it."""
_ALWAYS: Options = {"avif": {"speed": 6, "max_threads": 1}, "webp": {"method": 4}}


def made(source: Callable[[], bytes], digest: bytes, wanted: Iterable[ImageVariant], folder: Path) -> dict[str, bytes]:
    """The content of each form by its URL.

    `source` reads the image, when a form of it is missing.  `digest` is that of the image; `folder`, in the user's
    cache, keeps what was made.
    """
    image: Any = None
    found: dict[str, bytes] = {}
    for form in wanted:
        kept = folder / f"{digest.hex()}-{form.width}.{form.format}"
        if not kept.is_file():
            image = image or _opened(source())
            _keep(kept, _encoded(image, form))
        found[form.url] = kept.read_bytes()
    return found


def _opened(source: bytes) -> Any:
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(source)) as opened:
        graphic = opened.format == "PNG"
        image = ImageOps.exif_transpose(opened)
        clear = "A" in image.getbands() or "transparency" in image.info
        image = image.convert("RGBA" if clear else "RGB")
        profile = None if opened.mode == "CMYK" else opened.info.get("icc_profile")
        image.info = {"graphic": graphic, "icc_profile": profile}
        return image


def _encoded(image: Any, form: ImageVariant) -> bytes:
    from PIL import Image

    size = form.width, max(round(image.height * form.width / image.width), 1)
    scaled = image if size == image.size else image.resize(size, Image.Resampling.LANCZOS)
    of_graphic = _UNSCALED if size == image.size else _GRAPHIC
    how = (of_graphic if image.info["graphic"] else _PHOTOGRAPH)[form.format] | _ALWAYS[form.format]
    into = io.BytesIO()
    scaled.save(into, form.format.upper(), exif=b"", icc_profile=image.info["icc_profile"], **how)
    return into.getvalue()


def _keep(path: Path, data: bytes) -> None:
    """Whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(data)
    partial.replace(path)
