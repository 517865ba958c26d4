"""One exam's socket, from the candidate's side: what is sent, and what comes back with its time.

It plays nothing, waits for nothing and prints nothing; :mod:`server.client.candidate` decides what is sent when.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidURI, WebSocketException

from server.client.errors import ExamOver, ServerUnreachable
from server.client.events import Closed, Event, read_frame

CANDIDATE_RATE_HZ = 16_000
"""Rate of the candidate's audio in the contract."""

_LARGEST_FRAME_BYTES = 16 * 1024 * 1024
_PONG_PATIENCE_S = 60.0
_NO_CLOSE_FRAME = 1006

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """An event, and when it came: ``at_s`` is seconds since the handshake."""

    at_s: float
    event: Event


class ExamClient:
    """A live exam. Iterate over it for the events; the last one is always :class:`Closed`.

    One task may iterate while others send. Made by :func:`open_exam`.
    """

    def __init__(self, socket: ClientConnection, clock: Clock) -> None:
        self._socket = socket
        self._clock = clock
        self._began_at = clock()

    def elapsed_s(self) -> float:
        """Return the seconds since the handshake."""
        return self._clock() - self._began_at

    async def __aiter__(self) -> AsyncIterator[TimedEvent]:
        try:
            async for frame in self._socket:
                yield TimedEvent(self.elapsed_s(), read_frame(frame))
        except ConnectionClosed:
            pass  # the close frame, or the want of one, is told below
        yield TimedEvent(self.elapsed_s(), self._closed())

    def _closed(self) -> Closed:
        code = self._socket.close_code
        return Closed(_NO_CLOSE_FRAME if code is None else code, self._socket.close_reason or "")

    async def send_pcm(self, pcm: NDArray[np.int16]) -> None:
        """Send candidate audio: ``pcm`` is int16, mono, 16 kHz, shape [n]. Raises :class:`ExamOver`."""
        data = base64.b64encode(pcm.astype("<i2").tobytes()).decode("ascii")
        await self._send({"type": "audio", "data": data})

    async def send_activity(self, edge: Literal["activityStart", "activityEnd"]) -> None:
        """Push-to-talk: say that the candidate's turn begins or ends. Raises :class:`ExamOver`."""
        await self._send({"type": edge})

    async def end(self) -> None:
        """Ask for the end of the exam; the report follows as an event. Raises :class:`ExamOver`."""
        await self._send({"type": "end"})

    async def close(self) -> None:
        """Leave without a word. Closing twice does nothing."""
        await self._socket.close()

    async def _send(self, message: dict[str, str]) -> None:
        try:
            await self._socket.send(json.dumps(message))
        except ConnectionClosed as closed:
            raise ExamOver("the exam's socket is closed: nothing more can be sent") from closed


@asynccontextmanager
async def open_exam(
    address: str, *, clock: Clock = time.monotonic, through_proxy: bool = False, open_timeout_s: float = 10.0
) -> AsyncIterator[ExamClient]:
    """Connect to ``address``, a ``ws://`` or ``wss://`` URL with its query, and give the exam; close it on leaving.

    ``clock`` gives monotonic seconds; ``through_proxy`` obeys the environment's proxy. A refused candidate does get an
    exam, whose first event is :class:`Closed`. Raises :class:`ServerUnreachable`, which never holds the token.
    """
    try:
        socket = await connect(
            address,
            compression=None,  # base64 of a voice hardly shrinks, and the CPU is the examiner's
            max_size=_LARGEST_FRAME_BYTES,
            open_timeout=open_timeout_s,
            ping_timeout=_PONG_PATIENCE_S,
            proxy=through_proxy or None,
        )
    except (OSError, WebSocketException) as fault:
        raise ServerUnreachable(f"no exam at {address.partition('?')[0]}: {_why(fault)}") from None
    try:
        yield ExamClient(socket, clock)
    finally:
        await socket.close()


def _why(fault: Exception) -> str:
    if isinstance(fault, InvalidURI):
        return "not a WebSocket address"
    if isinstance(fault, TimeoutError):
        return "no answer in time"
    if isinstance(fault, ConnectionRefusedError):
        return "connection refused"
    return str(fault)
