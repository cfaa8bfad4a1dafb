"""Refuse to publish a file that contains a word of the redaction list, and find where the author wrote the word.

The texts of a site are redacted when they are read.  This last check finds what no replacement reaches: code and
records, which are shown as they were measured, the names of files, an address, a copied file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sitegen import inside
from sitegen.diagnostics import Diagnostic, Span
from sitegen.pipeline.request import OUTPUT, BuildRequest
from sitegen.read.load import is_text
from sitegen.read.privacy import FILE, Privacy
from sitegen.read.source import decode

if TYPE_CHECKING:
    from sitegen.pipeline.link_site import LinkedSite
    from sitegen.render.rules.sheet import Files, Sheet
    from sitegen.render.shared.frame import Printer


class PrivateWordError(Exception):
    """A page contains a word of the redaction list."""

    def __init__(self, mistakes: tuple[Diagnostic, ...]) -> None:
        super().__init__(mistakes)
        self.mistakes = mistakes
        """A mistake for each line of the author's files that has the word."""


def guarded(sheet: Sheet, site: LinkedSite) -> Sheet:
    """Return a sheet that raises PrivateWordError in place of a file with a word of the list."""
    return replace(sheet, make=partial(_checked_files, sheet, site)) if site.request.privacy.words else sheet


def _checked_files(sheet: Sheet, site: LinkedSite, printer: Printer) -> Files:
    files, privacy = sheet.make(printer), site.request.privacy
    for path, content in files.items():
        if word := privacy.publishes(path) or privacy.publishes(content):
            raise PrivateWordError(tuple(_mistakes(site, sheet, path, word)))
    return files


def _mistakes(site: LinkedSite, sheet: Sheet, path: str, word: str) -> Iterator[Diagnostic]:
    """Yield a mistake for each place of the word in the files that the page depends on, else in those of the site."""
    privacy = site.request.privacy
    what = f"{OUTPUT}/{privacy.masked(path)} would publish entry {privacy.entry_of(word)} of the redaction list"
    hint = f"write it differently here, or add the way in which it is written to {FILE}"
    known = site.parsed.files.signatures
    own = {name for dependency in sheet.dependencies() for name in dependency.files}
    of_page = [file for file in known if file in own or any(n.endswith("/") and file.startswith(n) for n in own)]
    readings = ((of_page, True), (known, True), (of_page, False))
    found = (
        [
            *(_of_name(privacy, file) for file in paths if privacy.publishes(file)),
            *(Diagnostic("SG504", what, place, hint) for place in _places(site.request, paths, redacted)),
        ]
        for paths, redacted in readings
    )
    yield from next(filter(None, found), [Diagnostic("SG504", what, Span(f"{OUTPUT}/{path}"), hint)])


def _of_name(privacy: Privacy, path: str) -> Diagnostic:
    """Return the mistake of a file in whose own name or folder a word stands, which is a part of its address."""
    word = privacy.publishes(path)
    message = f"the address of this file contains entry {privacy.entry_of(word)} of the redaction list"
    renamed = "folder" if privacy.publishes(path.rpartition("/")[0]) else "file"
    return Diagnostic("SG504", message, Span(path), f"rename the {renamed}, and correct the links to it")


def _places(request: BuildRequest, paths: Iterable[str], redacted: bool) -> Iterator[Span]:
    """Yield the places of words in files: of texts as they are published, or as they are copied."""
    privacy = request.privacy
    for path in paths:
        try:
            text = decode(inside.read_bytes(request.root, path), path)[0]
        except OSError:
            continue
        yield from _lines(privacy, privacy.published(text, path) if redacted and is_text(path) else text, path)


def _lines(privacy: Privacy, text: str, path: str) -> Iterator[Span]:
    found = list(privacy.found(text))
    for at, word in found:
        before = text[:at]
        yield Span(path, before.count("\n") + 1, at - before.rfind("\n"), len(word))
    if not found:  # written with entities, or encoded as in an address
        lines = enumerate(text.split("\n"), 1)
        yield from (Span(path, number, 1, len(line)) for number, line in lines if privacy.publishes(line))
