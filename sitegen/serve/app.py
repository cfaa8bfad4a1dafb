"""Answer HTTP requests for a `Live` preview: pages at their published addresses, and a stream of events for each tab.

No request reads from the disk, so no path leads out of the site.  A page is sent as it will be published, with one more
script from this server; the site's Content-Security-Policy applies here as well.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable
from importlib.resources import files
from urllib.parse import quote, unquote

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from sitegen.serve.live import Live
from sitegen.serve.pages import Answer

CLIENT, EVENTS = "/_sitegen/client.js", "/_sitegen/events"
_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".woff2": "font/woff2",
    ".xml": "application/xml",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".ipynb": "application/json",
    ".md": "text/markdown",
}
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}

_NO_PAGE = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; sandbox"}
"""A browser that opens a file by itself runs none of its scripts, whatever its type."""
_UNBOUND = frozenset({"text/html", "text/javascript", "application/pdf"})
"""Types without `_NO_PAGE`: pages have a policy of their own, and browsers show no PDF in a sandbox."""


def make_app(live: Live, closing: Callable[[], bool]) -> Starlette:
    """Return the application; open streams of events end when `closing` returns true because the server stops."""

    async def page(request: Request) -> Response:
        return respond(await live.answer(request.scope["path"]))

    async def events(request: Request) -> Response:
        if not _is_own(request):
            return Response("only for the pages of this server", 403, headers=_HEADERS)
        stream = live.events(unquote(request.query_params.get("page", "/")), closing)
        return StreamingResponse(stream, media_type="text/event-stream", headers=_HEADERS)

    async def client(request: Request) -> Response:
        script = files("sitegen.serve").joinpath("client.js").read_bytes()
        return Response(script, media_type="text/javascript", headers=_HEADERS)

    routes = [Route(EVENTS, events), Route(CLIENT, client), Route("/{path:path}", page)]
    # Another site may point a host name of its own at 127.0.0.1, so only these host names are answered.
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"], www_redirect=False)
    return Starlette(routes=routes, middleware=[hosts])


def _is_own(request: Request) -> bool:
    """Return whether a page of this server asks, or no page at all: pages of other sites must not see drafts."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site", "none")
    return site in ("none", "same-origin") and origin in (None, f"http://{request.headers['host']}")


def respond(answer: Answer) -> Response:
    """Return the HTTP response of an answer."""
    if answer.elsewhere:
        return RedirectResponse(quote(answer.elsewhere))
    suffix = answer.path[answer.path.rfind(".") :] if "." in answer.path else ""
    kind = _TYPES.get(suffix) or mimetypes.guess_type(answer.path)[0] or "application/octet-stream"
    content = with_client(answer) if isinstance(answer.content, str) and kind == "text/html" else answer.content
    ours = kind in _UNBOUND and (kind != "text/html" or isinstance(answer.content, str))
    return Response(content, answer.status, headers=_HEADERS if ours else _HEADERS | _NO_PAGE, media_type=kind)


def with_client(page: Answer) -> str:
    """Return the page with the script that keeps it up to date and shows mistakes."""
    html, tag = str(page.content), f'<script src="{CLIENT}" data-version="{page.version}" defer></script>'
    head = re.search(r"</head>|<body", html)
    return html[: head.start()] + tag + html[head.start() :] if head else tag + html
