"""Read the texts of a site when they are asked for, so that ten thousand posts are never held in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from sitegen import inside
from sitegen.diagnostics import Diagnostic, Span
from sitegen.inside import OutsideError
from sitegen.read.source import decode


def read_text(root: Path, path: str) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """Return the text of a file, or None when it cannot be opened, and its mistakes."""
    try:
        data = inside.read_bytes(root, path)
    except OSError as error:
        return None, (unreadable(path, error),)
    return decode(data, path)


def unreadable(path: str, error: OSError) -> Diagnostic:
    """Return the diagnostic for a file that cannot be opened."""
    hint = "replace it by a regular file of the site" if isinstance(error, OutsideError) else ""
    return Diagnostic("SG022", f"the file cannot be read: {error.strerror}", Span(path), hint)


class LazyTexts(Mapping[str, str]):
    """The texts of a site by path, in the order of `text_files`; a file that has vanished since is empty.

    `published` turns a text and its path into the text that may be published.
    """

    def __init__(self, root: Path, paths: Iterable[str], published: Callable[[str, str], str]) -> None:
        self._paths = dict.fromkeys(paths)
        self._read = lru_cache(maxsize=256)(lambda path: published(read_text(root, path)[0] or "", path))

    def __getitem__(self, path: str) -> str:
        if path not in self._paths:
            raise KeyError(path)
        return self._read(path)

    def forget(self) -> None:
        """Forget the texts that were read, because their files may have changed."""
        self._read.cache_clear()

    def __contains__(self, path: object) -> bool:
        return path in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)
