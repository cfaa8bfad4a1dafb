"""A connection of the preview's server, which is closed when no whole request comes in time.

uvicorn closes a connection that rests between two requests, and waits without end for the rest of a request: a few
hundred beginnings of requests would take every place of the server.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

WAIT_S = 5.0
"""The time that a request may take to come, from the connection or from the last answer on."""


class Connection(H11Protocol):
    """A connection with a deadline for its next request.  An answer, such as a stream of events, takes any time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._deadline:
            self._deadline.cancel()

    def _wait(self) -> None:
        if self._deadline:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(WAIT_S, self._close_unless_answering)

    def _close_unless_answering(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
