"""A client of the frozen contract, written from the contract alone: frames as they are on the wire, with their times.

It shares no code with the product's own client, so that both cannot be wrong in the same way.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

RATE_HZ = 16_000
EXAMINER_RATE_HZ = 24_000
CHUNK_SAMPLES = 1_600
PATIENCE_S = 100.0
"""How long a frame may take at most: a test that waits longer has failed, however busy the machine."""

Pcm = NDArray[np.int16]
Message = dict[str, Any]


@dataclass(frozen=True)
class Heard:
    """One frame from the server: when it came (the client's monotonic seconds), its kind, and the whole of it."""

    at_s: float
    kind: str
    message: Message


@dataclass(frozen=True)
class Account:
    """A whole exam as its candidate saw it. Times are the client's monotonic seconds."""

    heard: tuple[Heard, ...]
    close: tuple[int, str]
    marks: Mapping[str, float] = field(default_factory=dict)

    @property
    def kinds(self) -> list[str]:
        """Kinds of the frames, in their order."""
        return [heard.kind for heard in self.heard]

    def all(self, kind: str) -> list[Message]:
        """Every message of this kind."""
        return [heard.message for heard in self.heard if heard.kind == kind]

    def times(self, kind: str) -> list[float]:
        """When the messages of this kind came."""
        return [heard.at_s for heard in self.heard if heard.kind == kind]

    @property
    def report(self) -> Message:
        """The data of the report, which must have come once."""
        (report,) = self.all("report")
        return dict(report["data"])

    @property
    def transcript(self) -> str:
        """The transcript, as the report has it."""
        return str(self.report["transcript"])


def kind_of(message: Message) -> str:
    """Name a message: its type, or what Gemini's frame holds (``modelTurn``, ``turnComplete``)."""
    if "serverContent" in message:
        (kind,) = message["serverContent"]
        return str(kind)
    return str(message["type"])


def audio(data: bytes | str) -> str:
    """Return the frame of candidate audio: bytes become standard base64, a string is taken as it is."""
    text = data if isinstance(data, str) else base64.b64encode(data).decode("ascii")
    return json.dumps({"type": "audio", "data": text})


def silence(seconds: float) -> Pcm:
    """Return digital silence at 16 kHz."""
    return np.zeros(round(seconds * RATE_HZ), dtype=np.int16)


class Candidate:
    """One exam's socket. A task reads all the time, so that the times are those of arrival."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.heard: list[Heard] = []
        self.closed = False
        self._marks: dict[str, float] = {}
        self._read = 0
        self._news = asyncio.Condition()

    async def listen(self) -> None:
        """Read until the socket is closed."""
        try:
            async for frame in self.socket:
                assert isinstance(frame, str), "the contract has no binary frame"
                message = json.loads(frame)
                self.heard.append(Heard(self._now(), kind_of(message), message))
                await self._tell()
        except ConnectionClosed:
            pass
        finally:
            self.closed = True
            await self._tell()

    async def send(self, *frames: str | bytes) -> None:
        """Send frames as they stand; after the close they go nowhere."""
        for frame in frames:
            try:
                await self.socket.send(frame)
            except ConnectionClosed:
                return

    async def say(self, kind: str) -> None:
        """Send a message that has nothing but its type."""
        await self.send(json.dumps({"type": kind}))

    async def speak(self, pcm: Pcm, *, speed: float | None = None, chunk: int = CHUNK_SAMPLES) -> None:
        """Send candidate audio in chunks; ``speed`` times real time, or as fast as the server takes it."""
        begun = self._now()
        for start in range(0, len(pcm), chunk):
            await self.send(audio(pcm[start : start + chunk].astype("<i2").tobytes()))
            if speed is not None:
                due = begun + (start + chunk) / RATE_HZ / speed
                await asyncio.sleep(due - self._now())  # the pace of a voice is what is played here

    async def hear(self, *kinds: str) -> Message:
        """Return the next message of these kinds; those before it are passed over."""
        async with asyncio.timeout(PATIENCE_S), self._news:
            while True:
                while self._read < len(self.heard):
                    heard = self.heard[self._read]
                    self._read += 1
                    if heard.kind in kinds:
                        return heard.message
                assert not self.closed, f"expected {' or '.join(kinds)}, got {self._last_words()}"
                await self._news.wait()

    async def hears_within(self, seconds: float) -> list[str]:
        """Wait for so long, or for the close; return the kinds of the frames that came meanwhile."""
        before = len(self.heard)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds), self._news:
                await self._news.wait_for(lambda: self.closed)
        return [heard.kind for heard in self.heard[before:]]

    async def hears_nothing(self, seconds: float) -> bool:
        """Wait for so long; say whether no frame came, and no close."""
        return not await self.hears_within(seconds) and not self.closed

    async def catch_up(self) -> None:
        """Return once the server has received everything that was sent, and what it wrote before that is here."""
        await (await self.socket.ping())

    def mark(self, name: str) -> None:
        """Note this moment under a name."""
        self._marks[name] = self._now()

    async def over(self) -> Account:
        """Wait for the close; return the whole exam."""
        async with asyncio.timeout(PATIENCE_S), self._news:
            await self._news.wait_for(lambda: self.closed)
        close = self.socket.close_code or 0, self.socket.close_reason or ""
        return Account(tuple(self.heard), close, dict(self._marks))

    def vanish(self) -> None:
        """Break the connection without a word."""
        self.socket.transport.abort()

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()

    def _last_words(self) -> str:
        kinds = [heard.kind for heard in self.heard]
        return f"{kinds[-5:]}, then close {self.socket.close_code} {self.socket.close_reason}"


@asynccontextmanager
async def sit(address: str, **handshake: Any) -> AsyncIterator[Candidate]:
    """Open an exam at ``address``; a handshake that is refused raises. The socket is closed on leaving."""
    socket = await connect(address, compression=None, max_size=None, ping_interval=None, proxy=None, **handshake)
    candidate = Candidate(socket)
    listening = asyncio.create_task(candidate.listen())
    try:
        yield candidate
    finally:
        await socket.close()
        await listening
