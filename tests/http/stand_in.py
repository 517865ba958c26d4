"""Services without engines: a real store, real tokens, and one WebSocket that stands for a session.

Run as a program it serves on a free port, prints it, and then one line for each thing that happens to it.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from server import logs
from server.admission import Admission, Full
from server.auth import Authenticator, websocket_credentials
from server.http.application import application
from server.metrics import Metrics
from server.serving import Stopped, run
from server.settings import Settings
from server.store.store import Store


class StandIn:
    """Everything that the edges ask of the running server; ``engines`` is what a test says it is."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store = Store(settings.database_url)
        self.metrics = Metrics()
        self.admission = Admission(max_sessions=4, max_t2_sessions=4, max_sessions_per_user=4)
        self.engines = {"vad": "ready", "stt": "ready", "llm": "loading", "tts": "ready"}
        self._client = httpx.AsyncClient()
        self.authenticator = Authenticator.of(settings, self.store.profiles.plan_of, self._client)

    @property
    def ready(self) -> bool:
        return set(self.engines.values()) == {"ready"}

    def readiness(self) -> dict[str, str]:
        return self.engines

    async def drain(self, grace_s: float) -> None:
        print("draining", flush=True)
        self.admission.close()
        try:
            async with asyncio.timeout(grace_s):
                await self.admission.emptied()
        except TimeoutError:
            print("cut", flush=True)

    async def __aenter__(self) -> Self:
        await self.store.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()
        await self.store.__aexit__(kind, error, trace)
        print("stored", flush=True)

    async def session(self, ws: WebSocket) -> None:
        """Accept, say which token came, and stay until the client leaves; ``crash`` in the path fails."""
        credentials = websocket_credentials(ws)
        await ws.accept(credentials.subprotocol)
        if ws.url.path == "/crash":
            raise ValueError(f"a message that quotes {credentials.token}")
        try:
            with self.admission.place("anyone", "t1"):
                await ws.send_text(credentials.token or "")
                await ws.receive()
        except Full:
            await ws.close(1013, "TRY_AGAIN_LATER")
        except WebSocketDisconnect:
            pass


async def serve(data_dir: Path, grace_s: float) -> None:
    """Serve until a signal ends it."""
    services = StandIn(Settings(data_dir=data_dir, shutdown_grace_s=grace_s))
    app = application(services, [WebSocketRoute("/live", services.session), WebSocketRoute("/crash", services.session)])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        await run(app, listener)


if __name__ == "__main__":
    logs.configure("debug", "json")
    try:
        asyncio.run(serve(Path(sys.argv[1]), float(sys.argv[2])))
    except Stopped as stopped:
        sys.exit(128 + stopped.signal)
