"""Files that an import would make → those of them that are missing, written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sitegen import inside
from sitegen.diagnostics import Diagnostic
from sitegen.inside import OutsideError
from sitegen.write.output import encoded, unwritable_error


@dataclass(frozen=True, slots=True)
class Planned:
    """What an import made of its source."""

    files: Mapping[str, str | bytes | Path]
    """By path from the site's root: a text, bytes, or the file to copy, as `inside.resolved` gives it."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Their paths are those of the source."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Of the source, for the frames of the diagnostics."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Paths from the site's root."""

    written: tuple[str, ...]
    same: tuple[str, ...]
    """Stood there already, as the import would write them."""
    kept: tuple[str, ...]
    """Stood there with other content, or in the other form of a post, and were left alone."""


def write_missing(root: Path, files: Mapping[str, str | bytes | Path]) -> Outcome:
    """Write the files that do not exist yet.  Raises OutputError when one cannot be written, or a link leads to it."""
    written, same, kept = list[str](), list[str](), list[str]()
    for path, content in files.items():
        if _standing(root, path) is not None:
            (same if _is_same(root, path, content) else kept).append(path)
            continue
        _write(root, path, content)
        written.append(path)
    return Outcome(tuple(written), tuple(same), tuple(kept))


def _standing(root: Path, path: str) -> Path | None:
    """The file, or the other form of a post: `posts/sum.md` is also `posts/sum/index.md`."""
    other = path.replace("/index.md", ".md") if path.endswith("/index.md") else path.replace(".md", "/index.md")
    forms = (path, other) if path.startswith("content/posts/") and path.endswith(".md") else (path,)
    return next((root / form for form in forms if os.path.lexists(root / form)), None)


def _is_same(root: Path, path: str, content: str | bytes | Path) -> bool:
    try:
        return inside.read_bytes(root, path) == _bytes(content)
    except OSError:
        return False


def _write(root: Path, path: str, content: str | bytes | Path) -> None:
    """Whole or not at all."""
    try:
        inside.write_bytes(root, path, _bytes(content))
    except OutsideError as error:
        raise unwritable_error(str(error.filename), error, "put the folder itself in its place") from error
    except OSError as error:
        raise unwritable_error(path, error, "mend its permissions, or choose another folder with `--into`") from error


def _bytes(content: str | bytes | Path) -> bytes:
    return inside.read_bytes(content.parent, content.name) if isinstance(content, Path) else encoded(content)
