"""Look up the path of a URL in a preview: the content there, and its version."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote

EMPTY = "<!DOCTYPE html><html lang=en><head><title>sitegen</title></head><body><p>Nothing here.</p></body></html>"
"""The 404 page of a site without a page of its own."""
_REFERRED = re.compile(r'\b(?:src|srcset|href|poster)="([^"]+)"')


class Preview(Protocol):
    """A site that follows its files.  Output paths begin without a slash: `posts/softmax/index.html`."""

    root: Path
    rooms: Collection[str]
    """The folders of the root with the site's files."""
    base_path: str
    """The path of the site's home page, with a slash at both ends."""

    def warm(self) -> None:
        """Load what the first save will need."""

    @property
    def report(self) -> str:
        """The report of all mistakes, as text."""

    @property
    def failed(self) -> bool:
        """Whether one of the mistakes fails a build."""

    @property
    def styles(self) -> Mapping[str, str]:
        """The output path of each style sheet, by its path without a digest."""

    def follow(self, paths: Collection[str] | None = None) -> Collection[str]:
        """Take in saved files, or any change for None; return the pages of the texts among them."""

    def file(self, path: str) -> str | bytes | None:
        """Return the content at an output path; None when there is none."""

    def digest(self, path: str) -> bytes:
        """Return the digest of an image or another file that a text shows, by its output path; empty for others."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to a request."""

    path: str
    """The output path of the content."""
    content: str | bytes
    status: int = 200
    elsewhere: str = ""
    """The path of the URL to go to instead."""
    version: str = ""
    """The version of a page, which changes with the page and with the images and files in it, not with its style."""


def answer(preview: Preview, url: str) -> Answer:
    """Return the file at the path of a URL, or a redirect to its other address, or the site's 404 page."""
    base = preview.base_path
    if not url.startswith(base):
        return Answer("", "", 307, elsewhere=base) if url in ("/", base.rstrip("/")) else _missing(preview)
    path = url.removeprefix(base)
    page = path == "" or path.endswith("/")
    content = preview.file(f"{path}index.html" if page else path)
    if content is None:
        moved = not page and preview.file(f"{path}/index.html") is not None
        return Answer("", "", 307, elsewhere=f"{url}/") if moved else _missing(preview)
    return _answer(preview, f"{path}index.html" if page else path, content)


def _missing(preview: Preview) -> Answer:
    return _answer(preview, "404.html", preview.file("404.html") or EMPTY, 404)


def _answer(preview: Preview, path: str, content: str | bytes, status: int = 200) -> Answer:
    version = _version(preview, path, content) if isinstance(content, str) and path.endswith(".html") else ""
    return Answer(path, content, status, version=version)


def _version(preview: Preview, path: str, html: str) -> str:
    for name, style in preview.styles.items():
        html = html.replace(style, name)
    digest = blake2b(html.encode(), digest_size=8)
    for file in _files_in(html, posixpath.dirname(path)):
        digest.update(preview.digest(file))
    return digest.hexdigest()


def _files_in(html: str, folder: str) -> Iterator[str]:
    """Yield the output paths to which a page in `folder` refers."""
    words = (word for value in sorted(set(_REFERRED.findall(html))) for word in re.split(r"[\s,]+", value))
    for word in words:
        if not word.startswith(("/", "#")) and ":" not in word:
            yield posixpath.normpath(posixpath.join(folder, unquote(word.partition("#")[0])))
