"""The outputs of a cell → the outputs that are kept: text, errors, PNG images and our own JSON type, up to a size.

HTML, SVG and scripts are dropped in favour of their text/plain.  Paths of the machine that ran the cell are removed.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sitegen.model.failure_log import without_library_paths
from sitegen.model.record import Output

DATA_TYPE = "application/vnd.sitegen+json"
LARGEST_TEXT = 32_768
"""The most characters of one output."""
LARGEST_IMAGE = 512 * 1024
"""The most bytes of one image."""
MOST_OUTPUTS = 32
DROPPED = ("text/html", "image/svg+xml", "text/latex", "application/javascript", "image/jpeg", "application/pdf")
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-_]")
_CELL_FILE = re.compile(r"(?:/[^\s:\"']*)?/ipykernel_\d+/\d+\.py")
_RULE = re.compile(r"\A-{20,}\n")
_PNG = b"\x89PNG\r\n\x1a\n"
_ANCILLARY_KEPT = (b"tRNS", b"gAMA", b"sRGB", b"pHYs")


def kept(outputs: Sequence[Mapping[str, Any]], folder: Path) -> tuple[Output, ...]:
    """Return the outputs to keep, at most MOST_OUTPUTS.

    `outputs` are those of nbformat, and `folder` is where the cell ran.
    """
    whole = list(_joined([clean for raw in outputs for clean in _kept(raw, folder)]))
    if len(whole) > MOST_OUTPUTS:
        more = Output("text", f"… and {len(whole) - MOST_OUTPUTS} more outputs, which are not kept")
        whole = [*whole[:MOST_OUTPUTS], more]
    return tuple(whole)


def without_paths(text: str, folder: Path) -> str:
    """Return the text without paths of this machine.

    Paths below the cell's folder become relative; of packages and of the cell's own file only the name stays.
    """
    for known in {str(folder), str(folder.resolve())}:
        text = text.replace(f"{known}/", "").replace(known, ".")
    text = _CELL_FILE.sub("<cell>", text)
    text = without_library_paths(text)
    return text.replace(sys.prefix, "<python>")


def _kept(raw: Mapping[str, Any], folder: Path) -> Iterator[Output]:
    kind = raw["output_type"]
    if kind == "stream":
        yield Output("stream", plain_text(raw["text"], folder))
    elif kind == "error":
        traceback = "\n".join(raw["traceback"]) or f"{raw['ename']}: {raw['evalue']}"
        traceback = _RULE.sub("", _ANSI.sub("", traceback))
        yield Output("error", _capped(plain_text(traceback, folder), last=True))
    else:
        yield from _richest(raw["data"], folder)


def _richest(data: Mapping[str, Any], folder: Path) -> Iterator[Output]:
    """Yield one output for one value: our JSON type, otherwise an image, otherwise text."""
    if DATA_TYPE in data:
        text = json.dumps(data[DATA_TYPE], sort_keys=True)
        if len(text) <= LARGEST_TEXT:
            yield Output("data", text)
            return
    if "image/png" in data:
        image = bare_png(data["image/png"])
        if image:
            yield Output("image", image)
            return
    if "text/plain" in data:
        yield Output("text", _capped(plain_text(data["text/plain"], folder)))


def dropped(outputs: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the MIME types among the outputs of a cell that are not kept."""
    types = {mime for raw in outputs for mime in raw.get("data", {})}
    return tuple(sorted(types & set(DROPPED)))


def bare_png(encoded: str) -> str:
    """Return a PNG in base64 without comments, times and embedded profiles; empty when it is no PNG, or too large."""
    try:
        data = base64.b64decode("".join(encoded.split()), validate=True)
        parts = list(_chunks(data))
    except (binascii.Error, ValueError, struct.error):
        return ""
    image = _PNG + b"".join(part for name, part in parts if name[:1].isupper() or name in _ANCILLARY_KEPT)
    return base64.b64encode(image).decode() if len(image) <= LARGEST_IMAGE else ""


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not data.startswith(_PNG):
        raise ValueError("no PNG")
    at = len(_PNG)
    while at < len(data):
        length, name = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        if end > len(data):
            raise ValueError("the image is cut off")
        yield name, data[at:end]
        at = end


def _joined(outputs: Iterable[Output]) -> Iterator[Output]:
    """Yield the outputs with neighbouring pieces of a stream joined, without empty streams."""
    pending: list[str] = []
    for output in outputs:
        if output.kind == "stream":
            pending.append(output.text)
            continue
        yield from _stream(pending)
        pending = []
        yield output
    yield from _stream(pending)


def _stream(pieces: Sequence[str]) -> Iterator[Output]:
    text = "".join(pieces)
    if text.strip():
        yield Output("stream", _capped(text))


def plain_text(text: str, folder: Path) -> str:
    """Return the text without colours, without overwritten progress bars, and without paths of this machine."""
    plain = _ANSI.sub("", text).replace("\r\n", "\n")
    plain = "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in plain.split("\n"))
    return without_paths(plain, folder)


def _capped(text: str, *, last: bool = False) -> str:
    """Return the beginning of a text; with `last` the end, where a traceback names its cause."""
    more = len(text) - LARGEST_TEXT
    if more <= 0:
        return text
    return f"… {more} characters\n{text[more:]}" if last else f"{text[:LARGEST_TEXT]}\n… {more} more characters"
