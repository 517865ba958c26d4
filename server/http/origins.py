"""Web pages of other origins: which may call the server, over HTTP and over WebSocket."""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send


class WebSocketOrigins:
    """Refuses, with HTTP 403 before the handshake, a WebSocket from a page whose origin is not allowed.

    A client that is no browser names no origin, and passes. Browsers apply CORS to HTTP alone, hence this.
    """

    def __init__(self, app: ASGIApp, allowed: Collection[str]) -> None:
        self._app = app
        self._allowed = frozenset(allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the connection on, or refuse it."""
        if scope["type"] == "websocket" and not self._allows(Headers(scope=scope).get("origin")):
            await receive()  # the connect event
            await send({"type": "websocket.close", "code": 1008})
            return
        await self._app(scope, receive, send)

    def _allows(self, origin: str | None) -> bool:
        return origin is None or "*" in self._allowed or origin in self._allowed


def origin_rules(allowed: Collection[str]) -> list[Middleware]:
    """Return the middleware that lets ``allowed`` origins in; none when there are none."""
    if not allowed:
        return []
    return [
        Middleware(CORSMiddleware, allow_origins=list(allowed), allow_methods=["GET"], allow_headers=["Authorization"]),
        Middleware(WebSocketOrigins, allowed=allowed),
    ]
