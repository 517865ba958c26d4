"""The outermost layer: every request is counted and timed, and no failure leaves with content in its message."""

from __future__ import annotations

import time
import traceback

import structlog
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engines.worker.metrics import Metrics
from engines.worker.problems import Problem

_log = structlog.get_logger()


class Broken(Exception):
    """An answer that broke off after its beginning: the server closes the connection, so that the caller sees it."""


class Edge:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        started = time.monotonic()
        try:
            await self._app(scope, receive, noting)
        except ClientDisconnect:
            status = 499
        except Exception as error:
            _tell(error)
            if status:
                raise Broken from None
            problem = Problem(500, "The worker failed; its log names the place.", code="internal_error")
            await problem.response()(scope, receive, noting)
        finally:
            self._count(scope, status, time.monotonic() - started)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        route = scope["path"].removeprefix("/v1") if "endpoint" in scope else "unknown"
        self._metrics.requests.labels(route, str(status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)


def _tell(error: Exception) -> None:
    """Log the kind of ``error`` and its place, not its message: libraries put the text that they choke on into it."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    _log.error("request_failed", error=type(error).__name__, place=f"{frame.filename}:{frame.lineno}")
