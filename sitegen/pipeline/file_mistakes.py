"""Find the mistakes of files that are not parsed: folders that are links, and files that cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from sitegen import inside
from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.read.texts import unreadable
from sitegen.write.scan import LINKED_FOLDER, Signature


def mistakes_of_files(root: Path, signatures: Mapping[str, Signature], shown: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield the mistakes; `signatures` are those of a scan of the site, `shown` the files that texts link to or show.

    One of the site's own folders (`content`, `kernels`, …) that is a link is an error.  A link to a folder below is a
    warning, because texts may not need its files; `load_theme` reports one in templates.
    """
    for path, signature in signatures.items():
        if signature == LINKED_FOLDER and not path.startswith("templates/") and not inside.is_hidden(path):
            severity = Severity.WARNING if "/" in path else Severity.ERROR
            message = "this folder is a link: nothing in it is read"
            yield Diagnostic("SG022", message, Span(path), "put the folder itself in its place", severity)
    for path in sorted(set(shown)):
        try:
            inside.resolved(root, path)
        except OSError as error:
            yield unreadable(path, error)
