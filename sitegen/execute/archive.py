"""Named JSON values ↔ one zip with a manifest of their sizes and hashes; the same values give the same bytes.

An archive may come from a stranger: names, sizes and hashes are checked before a byte is used.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCHEMA = 1
LARGEST = 1 << 30
"""The most bytes of all entries together."""
_NAME = re.compile(r"[a-z]+/\d{4}\.json")
_MANIFEST = "manifest.json"


class BadArchive(ValueError):
    """An archive that cannot be used; the text is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive that was read and checked."""

    head: Mapping[str, Any]
    """The manifest without its entries: kind, commit, the version that wrote it, …"""
    entries: Mapping[str, Any]
    """JSON values by name, in order of name."""


def pack(head: Mapping[str, Any], entries: Mapping[str, Any]) -> bytes:
    """Return the zip as bytes; `entries` are JSON values by name (`jobs/0001.json`)."""
    texts = {name: _text(value) for name, value in sorted(entries.items())}
    listed = {name: {"size": len(text), "sha256": _hash(text)} for name, text in texts.items()}
    manifest = _text({**head, "schema": SCHEMA, "entries": listed})
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, text in {_MANIFEST: manifest, **texts}.items():
            archive.writestr(_entry(name), text, zipfile.ZIP_DEFLATED, 6)
    return packed.getvalue()


def write(path: Path, head: Mapping[str, Any], entries: Mapping[str, Any]) -> None:
    """Write an archive atomically: the file at `path` is always whole.  Raises OSError."""
    beside = path.with_name(f".{path.name}.part")
    beside.write_bytes(pack(head, entries))
    beside.replace(path)


def read(path: Path, kind: str) -> Archive:
    """Read and check an archive.

    Raises BadArchive when it is not a whole, unchanged archive of that kind, OSError when it cannot be opened.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive, kind)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, zlib.error) as error:
        if isinstance(error, BadArchive):
            raise
        raise BadArchive(f"not a zip file, or a damaged one ({error})") from error


def _read(archive: zipfile.ZipFile, kind: str) -> Archive:
    names = archive.namelist()
    strange = sorted(name for name in names if name != _MANIFEST and not _NAME.fullmatch(name))
    if strange:
        raise BadArchive(f"`{strange[0]}` is no name of an entry")
    if len(set(names)) != len(names) or _MANIFEST not in names:
        raise BadArchive("it needs one manifest.json, and each entry only once")
    if sum(info.file_size for info in archive.infolist()) > LARGEST:
        raise BadArchive("its entries together are larger than 1 GB")
    manifest = _manifest(_bytes(archive, _MANIFEST), kind)
    listed = manifest.pop("entries")
    if set(listed) != set(names) - {_MANIFEST}:
        raise BadArchive("its entries are not those that its manifest lists")
    return Archive(manifest, {name: _value(_checked(archive, name, listed[name])) for name in sorted(listed)})


def _manifest(data: bytes, kind: str) -> dict[str, Any]:
    manifest = _value(data)
    if not isinstance(manifest, dict) or not isinstance(manifest.get("entries"), dict):
        raise BadArchive("its manifest is not one of sitegen")
    if manifest.get("schema") != SCHEMA:
        raise BadArchive(f"it has schema {manifest.get('schema')}; this sitegen reads {SCHEMA}")
    if manifest.get("kind") != kind:
        raise BadArchive(f"it holds {manifest.get('kind')}, not {kind}")
    return manifest


def _checked(archive: zipfile.ZipFile, name: str, listed: Any) -> bytes:
    data = _bytes(archive, name)
    if not isinstance(listed, dict) or listed.get("size") != len(data) or listed.get("sha256") != _hash(data):
        raise BadArchive(f"`{name}` is not what the manifest says: its size or hash differs")
    return data


def _bytes(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the bytes of an entry, at most as many as it declares, so that a zip bomb ends here."""
    size = archive.getinfo(name).file_size
    with archive.open(name) as stream:
        data = stream.read(size + 1)
    if len(data) != size:
        raise BadArchive(f"`{name}` is not as long as it says")
    return data


def _value(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # of JSON, of UTF-8, and of int() for thousands of digits
        raise BadArchive(f"an entry is not JSON ({error})") from error


def _text(value: Any) -> bytes:
    # keys keep the order of the model, because a constant may use the constants before it
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _entry(name: str) -> zipfile.ZipInfo:
    """Return the header of an entry, without a time and without this machine's file modes."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.create_system, entry.external_attr = 3, 0o644 << 16
    return entry
