"""Where a request carries its token.

A browser cannot set headers on a WebSocket: it gives the token in the query, or in the subprotocol list as two entries,
``new WebSocket(url, ["bearer", token])``. Of that list the server accepts ``bearer``, so that no token is echoed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

SUBPROTOCOL = "bearer"


@dataclass(frozen=True, slots=True)
class Credentials:
    """A WebSocket's token, if any, and the subprotocol with which the handshake must be accepted."""

    token: str | None = field(repr=False)
    subprotocol: str | None


def bearer_token(headers: Headers) -> str | None:
    """Return the token of ``Authorization: Bearer TOKEN``."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def websocket_credentials(connection: HTTPConnection) -> Credentials:
    """Return a WebSocket's credentials: from the query, else the ``Authorization`` header, else the subprotocols."""
    offered: Sequence[str] = connection.scope.get("subprotocols", [])
    subprotocol = SUBPROTOCOL if SUBPROTOCOL in offered else None
    token = connection.query_params.get("token") or bearer_token(connection.headers)
    if token is None and subprotocol is not None:
        token = next((entry for entry in offered if entry != SUBPROTOCOL), None)
    return Credentials(token, subprotocol)
