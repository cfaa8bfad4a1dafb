"""HTTP for a `Live` preview: pages from memory, mounted where they will be published, and a stream of their versions.

Nothing is read from the disk, so no path leads out of the site.  A page is sent as it will be published, with one
script more, from this server: the site's Content-Security-Policy holds here as well.
"""

from __future__ import annotations

import json
import mimetypes
import re
from collections.abc import AsyncIterator, Callable
from importlib.resources import files
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from sitegen.serve.live import Live

CLIENT, EVENTS = "/_sitegen/reload.js", "/_sitegen/events"
_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".woff2": "font/woff2",
    ".xml": "application/xml",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".ipynb": "application/json",
}
_EMPTY = "<!doctype html><html lang=en><head><title>sitegen</title></head><body><p>Nothing here.</p></body></html>"
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_HEARTBEAT_S = 1.0


def make_app(live: Live, closing: Callable[[], bool]) -> Starlette:
    """`closing` says that the server wants to stop: open streams of events then end."""

    async def page(request: Request) -> Response:
        return respond(live, request.url.path)

    async def events(request: Request) -> Response:
        return StreamingResponse(versions(live, closing), media_type="text/event-stream", headers=_HEADERS)

    async def client(request: Request) -> Response:
        return _file(CLIENT, files("sitegen.serve").joinpath("reload.js").read_bytes())

    routes = [Route(EVENTS, events), Route(CLIENT, client), Route("/{path:path}", page)]
    # A page elsewhere may point a name of its own at 127.0.0.1: only these names are answered.
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"], www_redirect=False)
    return Starlette(routes=routes, middleware=[hosts])


def respond(live: Live, url: str) -> Response:
    """The file at a URL's path, a redirect to where it stands, or the site's own 404 page."""
    base, pages = live.preview.base_path, live.preview.files
    if not url.startswith(base):
        return RedirectResponse(quote(base)) if url in ("/", base.rstrip("/")) else _missing(live)
    path = url.removeprefix(base)
    if path == "" or path.endswith("/"):
        path += "index.html"
    if path in pages:
        return _file(path, pages[path])
    return RedirectResponse(quote(f"{url}/")) if f"{path}/index.html" in pages else _missing(live)


def _missing(live: Live) -> Response:
    return _file("404.html", live.preview.files.get("404.html", _EMPTY), status=404)


def _file(path: str, content: str | bytes, status: int = 200) -> Response:
    suffix = path[path.rfind(".") :] if "." in path else ""
    kind = _TYPES.get(suffix) or mimetypes.guess_type(path)[0] or "application/octet-stream"
    if kind == "text/html":
        content = with_client(content if isinstance(content, str) else content.decode())
    return Response(content, status_code=status, media_type=kind, headers=_HEADERS)


def with_client(html: str) -> str:
    """The page with the script that reloads it and shows mistakes."""
    tag = f'<script src="{CLIENT}" defer></script>'
    head = re.search(r"</head>|<body", html)
    return html[: head.start()] + tag + html[head.start() :] if head else tag + html


async def versions(live: Live, closing: Callable[[], bool]) -> AsyncIterator[str]:
    """Server-sent events: the version and the mistakes now, and again at each change."""
    sent = ""
    while not closing():
        if await live.wait(sent, _HEARTBEAT_S):
            sent = live.version
            yield f"data: {json.dumps({'version': sent, 'mistakes': live.preview.mistakes})}\n\n"
