"""Reads the client's frames, for as long as it sends any."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from server.exam.facts import ClientLeft, EndRequested, Fact, LimitExceeded
from server.live.ear import BacklogExceeded, Ear
from server.wire import closes
from server.wire.codec import decode
from server.wire.messages import ActivityEnd, ActivityStart, AudioChunk, ClientMessage, End


class FrameSource(Protocol):
    """Where frames come from; Starlette's WebSocket is one."""

    async def receive(self) -> Any:
        """Return the next ASGI event: ``websocket.receive`` or ``websocket.disconnect``."""
        ...


class Receiver:
    """Hands the client's messages on: audio to the ear, the rest as facts; :meth:`run` is its task.

    A frame that is no message of the contract is ignored. A client that sends nothing at all for ``idle_timeout_s``
    has a limit of the connection passed, as has one whose audio backs up.
    """

    def __init__(
        self, source: FrameSource, ear: Ear, post: Callable[[Fact], None], idle_timeout_s: float, *, manual_vad: bool
    ) -> None:
        self._source = source
        self._ear = ear
        self._post = post
        self._idle_timeout_s = idle_timeout_s
        self._manual_vad = manual_vad
        self._end_asked = False

    async def run(self) -> None:
        """Receive until the client is gone or a limit was passed."""
        try:
            while (event := await self._next())["type"] != "websocket.disconnect":
                if message := decode(event.get("text") or event.get("bytes") or "", manual_vad=self._manual_vad):
                    await self._take(message)
                await asyncio.sleep(0)  # a flood of frames lies ready at once: others have their turn between two
            self._post(ClientLeft())
        except TimeoutError:
            self._post(LimitExceeded(closes.IDLE.code, closes.IDLE.reason))
        except BacklogExceeded:
            self._post(LimitExceeded(closes.AUDIO_BACKLOG.code, closes.AUDIO_BACKLOG.reason))

    async def _next(self) -> Any:
        async with asyncio.timeout(self._idle_timeout_s):
            return await self._source.receive()

    async def _take(self, message: ClientMessage) -> None:
        match message:
            case AudioChunk(pcm=pcm):
                if not self._end_asked:  # frames that follow may be read before the exam has heard of the end
                    await self._ear.hear(pcm)
            case End():
                self._end_asked = True
                self._post(EndRequested())
            case ActivityStart():
                self._ear.activity_start()
            case ActivityEnd():
                self._ear.activity_end()
