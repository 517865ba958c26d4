"""The outermost layer: every request is counted and timed, no failure leaves with content in its message.

A caller who does not send the rest of a request is given up; :mod:`engines.worker.patience` has those who take nothing.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Awaitable

import structlog
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engines.worker.metrics import Metrics
from engines.worker.problems import Problem

_log = structlog.get_logger()


class Broken(Exception):
    """An answer that broke off after its beginning: the server closes the connection, so that the caller sees it."""


class Stalled(Exception):
    """The caller has sent nothing for too long."""


class Edge:
    """ASGI middleware around the whole application. ``idle_s`` is how long a caller may stall."""

    def __init__(self, app: ASGIApp, metrics: Metrics, idle_s: float) -> None:
        self._app = app
        self._metrics = metrics
        self._idle_s = idle_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, more_body = 0, True

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        async def reading() -> Message:
            nonlocal more_body
            if not more_body:
                return await receive()  # whether the caller hangs up, for as long as the answer takes
            message = await self._in_time(receive())
            more_body = message.get("more_body", False)
            return message

        started = time.monotonic()
        try:
            await self._app(scope, reading, noting)
        except ClientDisconnect:
            status = 499
        except Stalled:
            if status:
                raise Broken from None
            problem = Problem(408, "The rest of the request did not come.", code="request_timeout")
            await problem.response()(scope, receive, noting)
        except Exception as error:
            _tell(error)
            if status:
                raise Broken from None
            problem = Problem(500, "The worker failed; its log names the place.", code="internal_error")
            await problem.response()(scope, receive, noting)
        finally:
            self._count(scope, status, time.monotonic() - started)

    async def _in_time(self, coming: Awaitable[Message]) -> Message:
        try:
            async with asyncio.timeout(self._idle_s):
                return await coming
        except TimeoutError:
            raise Stalled from None

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        route = scope["path"].removeprefix("/v1") if "endpoint" in scope else "unknown"
        self._metrics.requests.labels(route, str(status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)


def _tell(error: Exception) -> None:
    """Log the kind of ``error`` and its place, not its message: libraries put the text that they choke on into it."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    _log.error("request_failed", error=type(error).__name__, place=f"{frame.filename}:{frame.lineno}")
