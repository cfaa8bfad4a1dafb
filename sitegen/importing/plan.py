"""Write those files of an import that do not exist yet, and those that were merged with it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sitegen import inside
from sitegen.diagnostics import Diagnostic
from sitegen.inside import OutsideError
from sitegen.write.fixes import encoded_like
from sitegen.write.output import OutputError, encoded, unwritable_error


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """The files and the diagnostics of an import, before anything is written."""

    files: Mapping[str, str | bytes | Path]
    """A text, bytes, or the file to copy (as `inside.resolved` returns it), by path from the site's root."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Mistakes in the source; their paths are those of its files."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The texts of the source by path, from which the frames of the diagnostics are cut."""
    merged: Mapping[str, str] = field(default_factory=dict)
    """New texts of files that exist, with every line of theirs or a cleaner form of it."""
    sources: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The file and the text of the source, without its front matter, by the path of the text that it became."""
    notes: tuple[str, ...] = ()
    """What the import did not bring, in a sentence for each kind, which the command prints at its end."""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The files of an import after writing, as paths from the site's root."""

    written: tuple[str, ...]
    same: tuple[str, ...]
    """Files that existed with the content that the import has."""
    kept: tuple[str, ...]
    """Files that existed with other content, or as the other form of a post, and were left alone."""


def write_missing(root: Path, files: Mapping[str, str | bytes | Path]) -> ImportResult:
    """Write the files that do not exist yet.  Raises OutputError when one cannot be written, or a link leads to it."""
    written, same, kept = list[str](), list[str](), list[str]()
    for path, content in files.items():
        if _existing(root, path) is not None:
            (same if _is_same(root, path, content) else kept).append(path)
            continue
        _write(root, path, content)
        written.append(path)
    return ImportResult(tuple(written), tuple(same), tuple(kept))


def write_merged(root: Path, files: Mapping[str, str]) -> None:
    """Write the new texts of files that exist.  Raises OutputError as `write_missing` does."""
    for path, text in files.items():
        try:
            content = encoded_like(text, inside.read_bytes(root, path))
        except UnicodeDecodeError as error:
            raise OutputError(path, f"`{path}` is not UTF-8", "save it as UTF-8 first") from error
        _write(root, path, content)


def _existing(root: Path, path: str) -> Path | None:
    """Return the file or the other form of a post: `posts/sum.md` is also `posts/sum/index.md`."""
    other = path.replace("/index.md", ".md") if path.endswith("/index.md") else path.replace(".md", "/index.md")
    forms = (path, other) if path.startswith("content/posts/") and path.endswith(".md") else (path,)
    return next((root / form for form in forms if os.path.lexists(root / form)), None)


def _is_same(root: Path, path: str, content: str | bytes | Path) -> bool:
    try:
        return inside.read_bytes(root, path) == _bytes(content)
    except OSError:
        return False


def _write(root: Path, path: str, content: str | bytes | Path) -> None:
    """Write a file whole or not at all.  Raises OutputError."""
    try:
        inside.write_bytes(root, path, _bytes(content))
    except OutsideError as error:
        raise unwritable_error(str(error.filename), error, "put the folder itself in its place") from error
    except OSError as error:
        raise unwritable_error(path, error, "mend its permissions, or choose another folder with `--into`") from error


def _bytes(content: str | bytes | Path) -> bytes:
    return inside.read_bytes(content.parent, content.name) if isinstance(content, Path) else encoded(content)
