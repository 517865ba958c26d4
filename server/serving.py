"""Runs the application on a socket until a signal ends it.

The first SIGTERM or SIGINT drains: no new sessions, running ones may end within the grace that is set, what is left is
stored. A second one, or one that comes while the server still starts, ends everything at once.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from websockets import http11

from server.http.services import Services

# A WebSocket's handshake is parsed twice: by h11, which answers 400 to one over 64 KiB, then by websockets, which has
# limits of its own below that, for which uvicorn gives no answer: the client would wait for ever.
http11.MAX_LINE_LENGTH = 128 * 1024
http11.MAX_NUM_HEADERS = 16 * 1024

SIGNALS = (signal.SIGINT, signal.SIGTERM)
CONNECTIONS_GRACE_S = 5
"""How long plain requests may go on once the sessions are over."""


class Stopped(Exception):
    """The server was ended at once by ``signal``; sessions may have been cut."""

    def __init__(self, by: signal.Signals) -> None:
        super().__init__(f"stopped at once by {by.name}")
        self.signal = by


class ExamServer(uvicorn.Server):
    """uvicorn, told when to stop by :func:`run` rather than by its own signal handlers."""

    def __init__(self, config: uvicorn.Config, services: Services) -> None:
        super().__init__(config)
        self._services = services

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the process's signal handlers as they are."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain the sessions while the port still answers, so that newcomers are told to try again; then stop."""
        await self._services.drain(self._services.settings.shutdown_grace_s)
        await super().shutdown(sockets)


async def run(app: Starlette, listener: socket.socket) -> None:
    """Serve ``app`` on ``listener`` until a signal ends it, then close both.

    Raises :class:`Stopped` when it was ended at once, and whatever the application's lifespan raises.
    """
    services: Services = app.state.services
    config = uvicorn.Config(
        app,
        lifespan="off",  # entered here, so that its exceptions come out as they are
        log_config=None,
        access_log=False,  # it would quote addresses with their token
        ws="websockets-sansio",
        ws_max_size=services.settings.max_frame_bytes,
        ws_ping_timeout=None,  # a full backlog keeps pongs unread too; who sends nothing at all meets the idle limit
        ws_per_message_deflate=False,  # base64 of sound shrinks little, for much work in the event loop
        timeout_graceful_shutdown=CONNECTIONS_GRACE_S,
    )
    server = ExamServer(config, services)
    with _ended_by_signals(server):
        async with app.router.lifespan_context(app):
            await server.serve(sockets=[listener])


@contextmanager
def _ended_by_signals(server: ExamServer) -> Iterator[None]:
    """Turn signals into the end of ``server``: the first drains it, the next cancels the current task."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None  # noqa: S101 - a running loop runs a task
    ended_by: list[signal.Signals] = []

    def on_signal(by: signal.Signals) -> None:
        if server.started and not server.should_exit:
            server.should_exit = True
        else:
            ended_by.append(by)
            task.cancel()

    for each in SIGNALS:
        loop.add_signal_handler(each, on_signal, each)
    try:
        yield
    except asyncio.CancelledError:
        if ended_by:
            raise Stopped(ended_by[0]) from None
        raise
    finally:
        for each in SIGNALS:
            loop.remove_signal_handler(each)
