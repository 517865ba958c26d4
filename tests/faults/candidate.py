"""A candidate on a real socket, who sends as fast as it can, and a look at the server from outside."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray
from prometheus_client.parser import text_string_to_metric_families
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

CHUNK_SAMPLES = 8_000
PATIENCE_S = 90.0
"""How long anything may take on a machine that others use as well."""
LOOK_AGAIN_S = 0.1


@dataclass(frozen=True)
class Frame:
    """A frame of the server: when it came (seconds since the handshake), its kind, its content."""

    at_s: float
    kind: str
    content: dict[str, Any]


class Candidate:
    """One exam from the client's side: every frame that came, in order."""

    def __init__(self, socket: ClientConnection) -> None:
        self.frames: list[Frame] = []
        self.over = False
        self.closed_at_s = 0.0
        """When the socket was closed, as frames have it."""
        self.began_at = time.monotonic()
        self._socket = socket
        self._arrived = asyncio.Condition()

    @property
    def close(self) -> tuple[int | None, str | None]:
        """The close code and its reason."""
        return self._socket.close_code, self._socket.close_reason

    @property
    def now_s(self) -> float:
        """This moment, as frames have it."""
        return time.monotonic() - self.began_at

    async def say(self, pcm: NDArray[np.int16]) -> None:
        """Send speech, int16 at 16 kHz, at once."""
        for start in range(0, len(pcm), CHUNK_SAMPLES):
            data = base64.b64encode(pcm[start : start + CHUNK_SAMPLES].astype("<i2").tobytes()).decode()
            await self._socket.send(json.dumps({"type": "audio", "data": data}))

    async def end(self) -> None:
        """Ask for the end."""
        await self._socket.send('{"type":"end"}')

    async def until(self, kind: str, count: int = 1, **content: object) -> Frame:
        """Wait for the ``count``-th frame of this kind with this content."""

        def found() -> list[Frame]:
            return [frame for frame in self.of(kind) if content.items() <= frame.content.items()]

        async with asyncio.timeout(PATIENCE_S), self._arrived:
            await self._arrived.wait_for(lambda: self.over or len(found()) >= count)
        assert len(found()) >= count, f"closed with {self.close} before {kind}, after {[f.kind for f in self.frames]}"
        return found()[count - 1]

    async def until_closed(self) -> tuple[int | None, str | None]:
        """Wait for the close; return its code and reason."""
        async with asyncio.timeout(PATIENCE_S), self._arrived:
            await self._arrived.wait_for(lambda: self.over)
        return self.close

    async def until_any(self, *kinds: str) -> float:
        """Wait for a frame of one of these kinds, or for the close; return when that was, as frames have it."""
        async with asyncio.timeout(PATIENCE_S), self._arrived:
            await self._arrived.wait_for(lambda: self.over or any(map(self.of, kinds)))
        return min((self.of(kind)[0].at_s for kind in kinds if self.of(kind)), default=self.closed_at_s)

    def of(self, kind: str) -> list[Frame]:
        """Return the frames of this kind so far."""
        return [frame for frame in self.frames if frame.kind == kind]

    def heard_as(self, role: str) -> list[str]:
        """Return what the captions say that this role said."""
        return [frame.content["text"] for frame in self.of("caption") if frame.content["role"] == role]

    async def read(self) -> None:
        """Take in frames until the socket is closed."""
        try:
            async for text in self._socket:
                content = json.loads(text)
                frame = Frame(self.now_s, _kind(content), content)
                async with self._arrived:
                    self.frames.append(frame)
                    self._arrived.notify_all()
        except ConnectionClosed:
            pass
        async with self._arrived:
            self.over = True
            self.closed_at_s = self.now_s
            self._arrived.notify_all()


def _kind(content: dict[str, Any]) -> str:
    if served := content.get("serverContent"):
        return "turnComplete" if "turnComplete" in served else "audio"
    return str(content["type"])


@asynccontextmanager
async def sit(server: Any, task: str, sub: str, *, subject: int = 0) -> AsyncIterator[Candidate]:
    """Sit task ``t1`` or ``t2`` (on its first subject, unless told) as the user ``sub``, with captions."""
    query = {"token": server.token(sub), "captions": "1"}
    if task == "t2":
        query["sujet"] = (await Watch(server).subjects())[subject]["id"]
    async with connect(server.ws(f"/{task}/live", **query), compression=None, max_size=None, proxy=None) as socket:
        candidate = Candidate(socket)
        reading = asyncio.create_task(candidate.read())
        try:
            yield candidate
        finally:
            await socket.close()
            await reading


def read_figure(exposition: str, name: str, **labels: str) -> float:
    """Return a figure of Prometheus' text: the sum of the samples that have these labels."""
    samples = [sample for family in text_string_to_metric_families(exposition) for sample in family.samples]
    return sum(each.value for each in samples if each.name == name and labels.items() <= each.labels.items())


class Watch:
    """The server as those see it who watch it over HTTP."""

    def __init__(self, server: Any) -> None:
        self._server = server

    async def get(self, path: str, sub: str | None = None) -> httpx.Response:
        """Ask for ``path``, as the user ``sub`` if one is given."""
        headers = {"Authorization": f"Bearer {self._server.token(sub)}"} if sub else {}
        async with httpx.AsyncClient(base_url=self._server.http, trust_env=False, timeout=PATIENCE_S) as client:
            return await client.get(path, headers=headers)

    async def subjects(self) -> list[dict[str, Any]]:
        """Return the subjects of task 2."""
        return list((await self.get("/sujets")).json())

    async def productions(self, sub: str) -> list[dict[str, Any]]:
        """Return the user's productions, whole."""
        listed = (await self.get("/productions", sub)).json()
        return [(await self.get(f"/productions/{each['id']}", sub)).json() for each in listed]

    async def only_production(self, sub: str) -> dict[str, Any]:
        """Return the user's one production."""
        (production,) = await self.productions(sub)
        return production

    async def figure(self, name: str, **labels: str) -> float:
        """Return a figure of ``/metrics``; see :func:`read_figure`."""
        return read_figure((await self.get("/metrics")).text, name, **labels)

    async def is_ready(self) -> bool:
        """Whether every engine is ready."""
        return (await self.get("/readyz")).status_code == 200

    async def evaluated(self, sub: str) -> dict[str, Any]:
        """Wait until the user's one production has its report; return it."""
        await self.until(lambda: self._has_report(sub))
        return await self.only_production(sub)

    async def until(self, holds: Callable[[], Any]) -> None:
        """Look until it holds, for what tells of itself in no other way."""
        async with asyncio.timeout(PATIENCE_S):
            while not await holds():  # noqa: ASYNC110 - it is another process's state
                await asyncio.sleep(LOOK_AGAIN_S)

    async def recorded(self, sub: str) -> dict[str, Any]:
        """Wait until the user's one production is complete; return it."""
        await self.until(lambda: self._is_complete(sub))
        return await self.only_production(sub)

    async def _is_complete(self, sub: str) -> bool:
        return (await self.only_production(sub))["statut"] != "open"

    async def _has_report(self, sub: str) -> bool:
        return (await self.only_production(sub))["rapport"] is not None
