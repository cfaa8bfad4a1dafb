"""Speak the Language Server Protocol with an editor over stdin and stdout; `pygls` reads and writes the messages."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

import sitegen
from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.editor.edited_site import EditedSite
from sitegen.editor.yaml_keys import Offer

PAUSE_S = 0.15
"""The time without a keystroke after which the site is checked."""
TRIGGERS = [":", "{", "`", "/", "@", "#", " ", "-", "[", "("]
MOST_BYTES = 64 * 2**20
"""The most bytes that a message may have: a text of 5 MB with every character escaped has 30 MB."""
_MOST_HEADER = 4096
"""The most bytes of a line in the head of a message; Python refuses to read a number of more than 4,300 digits."""
_SEVERITY = {Severity.ERROR: lsp.DiagnosticSeverity.Error, Severity.WARNING: lsp.DiagnosticSeverity.Warning}


class TooLong(Exception):
    """An editor sends a message, or a line of its head, of more bytes than any text of a site needs."""


class Bounded:
    """A stream from which pygls reads messages; it raises TooLong before it makes room for one without bound."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream

    def readline(self) -> bytes:
        line = self.stream.readline(_MOST_HEADER)
        if len(line) == _MOST_HEADER:
            raise TooLong(f"a line in the head of a message has more than {_MOST_HEADER} bytes")
        return line

    def read(self, count: int) -> bytes:
        if count > MOST_BYTES:
            raise TooLong(f"a message says that it has {count} bytes, and may have {MOST_BYTES // 2**20} MiB")
        return self.stream.read(count)


def serve(root: Path) -> None:
    """Serve an editor of the site at `root` until it says goodbye.  Raises TooLong for a message without bound."""
    server = LanguageServer("sitegen", sitegen.__version__)
    session = Session(server, root)
    handlers: dict[str, Any] = {
        lsp.INITIALIZED: session.begin,
        lsp.TEXT_DOCUMENT_DID_OPEN: session.opened,
        lsp.TEXT_DOCUMENT_DID_CHANGE: session.changed,
        lsp.TEXT_DOCUMENT_DID_SAVE: session.saved,
        lsp.TEXT_DOCUMENT_DID_CLOSE: session.closed,
        lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: session.watched,
        lsp.TEXT_DOCUMENT_DEFINITION: session.definition,
    }
    for name, handler in handlers.items():
        server.feature(name)(_function(handler))
    options = lsp.CompletionOptions(trigger_characters=TRIGGERS)
    server.feature(lsp.TEXT_DOCUMENT_COMPLETION, options)(_function(session.complete))
    try:
        server.start_io(Bounded(sys.stdin.buffer))  # pygls calls these two methods alone
    finally:
        session.site.close()


def _function(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that calls a method: pygls marks handlers with attributes, which methods do not take."""
    return lambda params: method(params)


class Session:
    """The conversation with one editor."""

    def __init__(self, server: LanguageServer, root: Path) -> None:
        self.server, self.root = server, root.resolve()
        self.site = EditedSite(self.root)
        self._is_read = False
        self._changed: set[str] = set()
        self._shown: set[str] = set()
        """The files whose mistakes the editor shows."""
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, params: lsp.InitializedParams) -> None:
        self._check_soon()

    def opened(self, params: lsp.DidOpenTextDocumentParams) -> None:
        self._take(params.text_document.uri)

    def changed(self, params: lsp.DidChangeTextDocumentParams) -> None:
        self._take(params.text_document.uri)

    def saved(self, params: lsp.DidSaveTextDocumentParams) -> None:
        self._take(params.text_document.uri)

    def closed(self, params: lsp.DidCloseTextDocumentParams) -> None:
        if path := self._path(params.text_document.uri):
            self.site.mirror.release(path)
            self._check_soon(path)

    def watched(self, params: lsp.DidChangeWatchedFilesParams) -> None:
        paths = [path for change in params.changes if (path := self._path(change.uri))]
        self.site.mirror.refresh(paths)
        self._check_soon(*paths)

    def complete(self, params: lsp.CompletionParams) -> lsp.CompletionList:
        """Return the words that fit at the cursor."""
        path, (line, column) = self._path(params.text_document.uri), self._place(params)
        offers: Iterable[Offer] = self.site.offers(path, line, column) if self._read_now() and path else ()
        return lsp.CompletionList(False, [_item(offer) for offer in dict.fromkeys(offers)])

    def definition(self, params: lsp.DefinitionParams) -> lsp.Location | None:
        """Return the place where the name under the cursor is defined."""
        path, (line, column) = self._path(params.text_document.uri), self._place(params)
        span = self.site.definition(path, line, column) if self._read_now() and path else None
        return lsp.Location(self._uri(span.path), self._range(span)) if span else None

    def check(self) -> None:
        """Send the mistakes of every file, and clear those of files that have none any more."""
        self._read_now()
        found = self.site.mistakes()
        for path in sorted(self._shown | found.keys()):
            shown = [self._diagnostic(one) for one in found.get(path, ())]
            self.server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(self._uri(path), shown))
        self._shown = set(found)

    def _take(self, uri: str) -> None:
        """Take in the text of a file as it is in the editor."""
        if path := self._path(uri):
            self.site.mirror.take(path, self.server.workspace.get_text_document(uri).source)
            self._check_soon(path)

    def _check_soon(self, *paths: str) -> None:
        self._changed.update(paths)
        if self._timer:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(PAUSE_S, self.check)

    def _read_now(self) -> bool:
        """Take in all changes; returns True."""
        if not self._is_read or self._changed:
            self.site.follow(frozenset(self._changed) if self._is_read else None)
            self._is_read = True
            self._changed.clear()
        return True

    def _path(self, uri: str) -> str:
        """Return the path of a file from the root of the site; empty for a file elsewhere, and for what is no file."""
        if not uri.startswith("file:"):
            return ""
        try:
            place = Path(to_fs_path(uri) or "").resolve()
        except (OSError, ValueError):  # a name that no file can have
            return ""
        return place.relative_to(self.root).as_posix() if place.is_relative_to(self.root) else ""

    def _uri(self, path: str) -> str:
        return from_fs_path(str(self.root / path)) or ""

    def _place(self, params: lsp.CompletionParams | lsp.DefinitionParams) -> tuple[int, int]:
        """Return the line and the column of a request in characters, from 0."""
        text = self.server.workspace.get_text_document(params.text_document.uri)
        lines, line = text.source.split("\n"), params.position.line
        written = lines[line].encode("utf-16-le")[: 2 * params.position.character] if line < len(lines) else b""
        return line, len(written.decode("utf-16-le", "ignore"))

    def _range(self, span: Span) -> lsp.Range:
        lines = self.site.mirror.text(span.path).split("\n")
        line = lines[span.line - 1] if span.line <= len(lines) else ""
        start, end = _units(line[: span.col - 1]), _units(line[: span.col - 1 + span.length])
        return lsp.Range(lsp.Position(span.line - 1, start), lsp.Position(span.line - 1, end))

    def _diagnostic(self, one: Diagnostic) -> lsp.Diagnostic:
        message = f"{one.message}\n{one.hint}" if one.hint else one.message
        severity = _SEVERITY[one.severity]
        return lsp.Diagnostic(self._range(one.span), message, severity, code=one.code, source="sitegen")


def _units(text: str) -> int:
    """Return the length of a text in units of UTF-16, in which the protocol counts columns."""
    return len(text.encode("utf-16-le")) // 2


def _item(offer: Offer) -> lsp.CompletionItem:
    kind = lsp.CompletionItemKind.Property if offer.is_key else lsp.CompletionItemKind.Value
    return lsp.CompletionItem(offer.word, kind=kind, detail=offer.about or None)
