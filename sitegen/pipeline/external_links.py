"""Find the links to other sites that nobody answers: one request at a time to a host, and answers are kept."""

from __future__ import annotations

import ipaddress
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

import sitegen
from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.model.document import Document, LinkSlot
from sitegen.model.linked import document_key, texts
from sitegen.model.site import Site

KEPT_S = {True: 7 * 24 * 3600, False: 24 * 3600}
"""The time for which an answer is kept: of an address that answered, and of one that did not."""
PAUSE_S = 1.0
"""The time between two requests to a host."""
HOSTS_AT_ONCE = 8
TIMEOUT_S = 10
GONE = (404, 410)
"""Statuses that mean a dead link.  Others, such as 403 and 429, are those of hosts that refuse programs."""
_AGENT = f"sitegen/{sitegen.__version__} (link check on demand)"
Ask = Callable[[str], str]
"""Returns why an address does not answer; empty when it does."""


def external_links(site: Site, documents: Mapping[str, Document]) -> dict[str, Span]:
    """Return each address on other sites that a text links to, and the first place of it."""
    places: dict[str, Span] = {}
    for text in texts(site):
        document = documents.get(document_key(text))
        for slot in document.slots if document else ():
            if isinstance(slot, LinkSlot) and is_asked(slot.target):
                places.setdefault(slot.target.partition("#")[0], slot.span)
    return places


def is_asked(address: str) -> bool:
    """Tell whether an address is asked: on the web, and not on this machine or by the number of a machine."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return False
    with suppress(ValueError):
        ipaddress.ip_address(host)
        return False
    return parts.scheme in ("http", "https") and "." in host and not host.endswith((".local", ".internal"))


def dead_links(places: Mapping[str, Span], kept: Path, ask: Ask, now: float) -> tuple[Diagnostic, ...]:
    """Return a warning for each address that does not answer; `kept` is the file of earlier answers."""
    answers = _read(kept)
    fresh = {url: why for url, (why, then) in answers.items() if now - then < KEPT_S[not why]}
    new = _ask_all([url for url in places if url not in fresh], ask)
    _write(kept, {**answers, **{url: (why, now) for url, why in new.items()}})
    why_of = {**fresh, **new}
    return tuple(
        Diagnostic("SG219", f"`{url}` does not answer: {why_of[url]}", span, "link elsewhere", Severity.WARNING)
        for url, span in places.items()
        if why_of[url]
    )


def ask(address: str) -> str:
    """Ask an address for its head, or for its content where its host knows no HEAD."""
    why = _request(address, "HEAD")
    return _request(address, "GET") if why else ""


def _request(address: str, method: str) -> str:
    request = Request(quote(address, safe="%/:=&?~#+!$,;'@()*[]"), method=method, headers={"User-Agent": _AGENT})
    try:
        with urlopen(request, timeout=TIMEOUT_S):
            return ""
    except HTTPError as error:
        with error:
            return f"{error.code} {error.reason}" if error.code in GONE else ""
    except URLError as error:
        return str(error.reason)
    except (OSError, HTTPException, ValueError) as error:
        return str(error) or type(error).__name__


def _ask_all(addresses: Iterable[str], ask: Ask) -> dict[str, str]:
    by_host: dict[str, list[str]] = {}
    for address in addresses:
        by_host.setdefault(urlsplit(address).netloc, []).append(address)
    with ThreadPoolExecutor(HOSTS_AT_ONCE) as pool:
        found = pool.map(lambda urls: list(_ask_host(urls, ask)), by_host.values())
        return dict(pair for pairs in found for pair in pairs)


def _ask_host(addresses: Iterable[str], ask: Ask) -> Iterator[tuple[str, str]]:
    for number, address in enumerate(addresses):
        if number:
            time.sleep(PAUSE_S)
        yield address, ask(address)


def _read(path: Path) -> dict[str, tuple[str, float]]:
    try:
        return {url: (str(why), float(then)) for url, (why, then) in json.loads(path.read_text("utf-8")).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _write(path: Path, answers: Mapping[str, tuple[str, float]]) -> None:
    with suppress(OSError):
        path.write_text(json.dumps(answers), encoding="utf-8")
