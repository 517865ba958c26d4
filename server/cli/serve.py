"""``relance serve``: takes the port, starts the server, says what to do next."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import socket
from typing import TYPE_CHECKING, Annotated

import typer

from server import logs
from server.alongside import alongside
from server.cli.errors import CommandError
from server.needed_models import check_models
from server.settings import Settings, load

if TYPE_CHECKING:
    from server.http.services import Services

BACKLOG = 128
"""Connections that may wait to be accepted."""
READY_POLL_S = 0.1
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - addresses to show, not to listen on
"""Where a server that listens everywhere is reached from its own machine."""


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on. [default: 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; 0: a free one. [default: 8000]")] = None,
) -> None:
    """Serve exams until Ctrl-C or SIGTERM; running sessions may then end, a second one stops at once."""
    settings = load(host=host, port=port)
    with listen(settings.host, settings.port) as listener:
        logs.configure(settings.log_level, settings.log_format)
        check_models(settings)
        asyncio.run(_serve(settings, listener))


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Done before the engines load, so that a port in use is known at once.

    Raises :class:`CommandError`.
    """
    try:
        family = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CommandError(f"port {port} of {host} is in use; choose another with --port") from None
        why = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        raise CommandError(f"cannot listen on port {port} of {host}: {why}") from None
    # Connections inherit it. asyncio sets it on sockets that name TCP as their protocol, which accepted ones do not:
    # the second of two small frames then waited 40 ms for the first one's acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


async def _serve(settings: Settings, listener: socket.socket) -> None:
    # Loaded here and not above: it brings the engines' libraries, and a port in use should be told before that.
    from server.app import create_app
    from server.serving import Stopped, run

    app = create_app(settings)
    try:
        async with alongside(_announce(app.state.services, settings, _address(listener))):
            await run(app, listener)
    except Stopped as stopped:
        raise typer.Exit(128 + stopped.signal) from None


async def _announce(services: Services, settings: Settings, address: str) -> None:
    _say(f"listening on http://{address}, profile {settings.profile}; the engines are loading")
    while not services.ready:  # noqa: ASYNC110 - readiness is a state that comes and goes, not an event
        await asyncio.sleep(READY_POLL_S)
    _spare_the_collector()
    _say(
        "ready. Sit an exam from another terminal:",
        f"  relance exam t1 --url ws://{address} --audio FILE",
        f"  relance exam t2 --url ws://{address} --audio FILE",
        "A token for another client: relance token --plan premium --sub NAME",
    )


def _spare_the_collector() -> None:
    """Leave what was loaded until now out of garbage collection: it stays, and looking through it takes 40 ms."""
    gc.collect()
    gc.freeze()


def _say(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)


def _address(listener: socket.socket) -> str:
    """``HOST:PORT`` as a client on this machine would write it."""
    host, port = listener.getsockname()[:2]
    shown = EVERYWHERE.get(host, host)
    return f"[{shown}]:{port}" if ":" in shown else f"{shown}:{port}"
