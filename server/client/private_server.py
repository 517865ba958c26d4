"""A server for one exam on this machine: its own port, database and secret, gone when the exam is over.

It does not outlive its client: it is told to stop on every way out, and on Linux the kernel tells it when the client
itself is killed. It stands in a session of its own, so that Ctrl-C at the terminal reaches the client alone.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from server.client.address import ServerAddress
from server.client.errors import ServerFailed

SERVE = (sys.executable, "-m", "server.cli.main", "serve")
READY_PATIENCE_S = 300.0
"""Loading 1.4 GB of models from a slow disk and one real inference on each, with room."""

STOP_PATIENCE_S = 15.0
"""How long the server may take to stop before it is killed."""

_POLL_S = 0.2
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


@dataclass(frozen=True, slots=True)
class PrivateServer:
    """A running server, ready for exams. ``secret`` signs the tokens that it accepts (HS256)."""

    address: ServerAddress
    secret: str


@contextmanager
def private_server(
    profile: str | None,
    *,
    command: Sequence[str] = SERVE,
    ready_patience_s: float = READY_PATIENCE_S,
    stop_patience_s: float = STOP_PATIENCE_S,
) -> Iterator[PrivateServer]:
    """Run a server with ``profile`` (``None``: the configured one) and give it once it is ready; stop it on leaving.

    ``command`` starts a server when ``--host`` and ``--port`` are added. Raises :class:`ServerFailed`.
    """
    with tempfile.TemporaryDirectory(prefix="relance-exam-", ignore_cleanup_errors=True) as place:
        server = PrivateServer(ServerAddress(f"http://127.0.0.1:{_free_port()}"), secrets.token_urlsafe(32))
        log = Path(place) / "server.log"
        process = _start(server, [*command], profile, log)
        try:
            _wait_until_ready(server.address, process, log, time.monotonic() + ready_patience_s)
            yield server
        finally:
            _stop(process, stop_patience_s)


def _start(server: PrivateServer, command: list[str], profile: str | None, log: Path) -> subprocess.Popen[bytes]:
    host, port = server.address.web.removeprefix("http://").split(":")
    with log.open("wb") as output:
        return subprocess.Popen(
            [*command, "--host", host, "--port", port],
            env=_environment(server.secret, profile, log.parent),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_dies_with_parent(),
        )


def _environment(secret: str, profile: str | None, place: Path) -> dict[str, str]:
    """The user's own settings, but for where things are kept, who may enter and how long leaving takes."""
    own = {
        "RELANCE_DATA_DIR": str(place),
        "RELANCE_DATABASE_URL": f"sqlite+aiosqlite:///{place / 'relance.sqlite3'}",
        "RELANCE_JWT_ALGORITHM": "HS256",
        "RELANCE_JWT_SECRET": secret,
        "RELANCE_SHUTDOWN_GRACE_S": "1",
    }
    inherited = {name: value for name, value in os.environ.items() if name != "RELANCE_TOKEN"}  # another server's
    return inherited | own | ({"RELANCE_PROFILE": profile} if profile else {})


def _dies_with_parent() -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl  # looked up before the fork
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait_until_ready(address: ServerAddress, process: subprocess.Popen[bytes], log: Path, deadline: float) -> None:
    while not _is_ready(address):
        if process.poll() is not None:
            raise ServerFailed(f"the private server ended with status {process.returncode}: {_last_line(log)}")
        if time.monotonic() > deadline:
            raise ServerFailed(f"the private server did not become ready in time: {_last_line(log)}")
        time.sleep(_POLL_S)


def _is_ready(address: ServerAddress) -> bool:
    try:
        return httpx.get(f"{address.web}/readyz", timeout=5.0, trust_env=False).is_success
    except httpx.HTTPError:
        return False


def _stop(process: subprocess.Popen[bytes], patience_s: float) -> None:
    process.terminate()
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else "it said nothing"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
