"""The one place that writes to the client's socket, in order, so that a slow client blocks nobody else.

Frames wait in a queue. Control frames are few (a handful a turn) and are taken at once; audio is bounded by the player,
which waits for each frame to be written. A frame that belongs to a turn is dropped when that turn was revoked before
the frame's moment came.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Protocol

from starlette.websockets import WebSocketDisconnect

CLOSE_PATIENCE_S = 5.0
"""How long a client that reads no more is waited for before its socket is given up."""


class Socket(Protocol):
    """What the outbox needs of a WebSocket; Starlette's has it."""

    async def send_text(self, data: str) -> None:
        """Send one text frame."""
        ...

    async def close(self, code: int = 1000, reason: str | None = None) -> None:
        """Send a close frame."""
        ...


@dataclass(slots=True)
class _Letter:
    frame: str
    turn: int | None
    written: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Outbox:
    """Writes frames to a socket, one at a time; :meth:`run` is its task."""

    def __init__(self, socket: Socket) -> None:
        self._socket = socket
        self._letters: asyncio.Queue[_Letter] = asyncio.Queue()
        self._revoked: set[int] = set()
        self._gone = False

    def send(self, frame: str) -> None:
        """Queue a control frame."""
        self._letters.put_nowait(_Letter(frame, None))

    async def send_audio(self, turn: int, frame: str) -> bool:
        """Queue a frame of ``turn`` and wait until it was written; ``False`` when it was dropped instead."""
        letter = _Letter(frame, turn)
        self._letters.put_nowait(letter)
        return await letter.written

    def revoke(self, turn: int) -> None:
        """Drop every frame of ``turn`` that was not written yet, and all to come."""
        self._revoked.add(turn)

    def give_up(self) -> None:
        """The client is gone: drop whatever is queued, now and later."""
        self._gone = True

    async def close(self, code: int, reason: str) -> None:
        """Write what is queued, then the close frame; a client that does not read is waited for a bounded time."""
        if self._gone:
            return
        try:
            async with asyncio.timeout(CLOSE_PATIENCE_S):
                await self._letters.join()
                await self._socket.close(code, reason)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            self._gone = True

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            letter = await self._letters.get()
            try:
                written = await self._write(letter)
                if not letter.written.done():
                    letter.written.set_result(written)
            finally:
                self._letters.task_done()

    async def _write(self, letter: _Letter) -> bool:
        if self._gone or letter.turn in self._revoked:
            return False
        try:
            await self._socket.send_text(letter.frame)
        except (WebSocketDisconnect, RuntimeError):  # gone or closed; the receiver reports that the client left
            self._gone = True
            return False
        return True
