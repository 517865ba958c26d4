"""A client in memory, at the far end of a real Starlette WebSocket: how it speaks, and what it was sent, and when."""

from __future__ import annotations

import asyncio
import base64
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from starlette.websockets import WebSocket

from engines.protocols import STT_RATE_HZ, TTS_RATE_HZ

WORD_S = 0.3
CHUNK_BYTES = 3_200
"""100 ms."""


@dataclass(frozen=True)
class Frame:
    """One frame from the server: when it came, of what kind it is, its content, and its samples if it is audio."""

    at: float
    kind: str
    content: dict[str, Any]
    pcm: NDArray[np.int16]


class Candidate:
    """Plays the client. What it says it says in real time; ``reads`` is whether it reads what it is sent,
    ``refused`` how many frames the server tried to send when it was gone.
    """

    def __init__(self, sounds: Any, voices: Any) -> None:
        self.frames: list[Frame] = []
        self.close: tuple[int, str] | None = None
        self.closed_at = 0.0
        self.reads = True
        self.refused = 0
        self._sounds = sounds
        self._voices = voices
        self._events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._gone = False
        self._arrived = asyncio.Event()
        self._awake = asyncio.Event()

    async def connect(self) -> WebSocket:
        """Return the server's end of an accepted socket."""
        scope = {"type": "websocket", "path": "/", "headers": [], "query_string": b""}
        socket = WebSocket(scope, self._events.get, self._take)
        self._events.put_nowait({"type": "websocket.connect"})
        await socket.accept()
        return socket

    async def say(self, text: str, word_s: float = WORD_S) -> None:
        """Speak each word of ``text``, without a pause between them."""
        await self.play(np.concatenate([self._sounds.make(word, word_s) for word in text.split()]))

    async def cough(self, seconds: float) -> None:
        """Make a noise that is loud and means nothing."""
        await self.play(self._sounds.make("", seconds))

    async def keep_silent(self, seconds: float) -> None:
        """Send silence."""
        await self.play(np.zeros(round(seconds * STT_RATE_HZ), dtype=np.int16))

    async def play(self, samples: NDArray[np.int16]) -> None:
        """Send ``samples`` in chunks of 100 ms, in real time."""
        pcm = samples.astype("<i2").tobytes()
        for start in range(0, len(pcm), CHUNK_BYTES):
            chunk = pcm[start : start + CHUNK_BYTES]
            await asyncio.sleep(len(chunk) / 2 / STT_RATE_HZ)
            self.send_audio(chunk)

    def send_audio(self, pcm: bytes) -> None:
        """Send one chunk at once."""
        self.send({"type": "audio", "data": base64.b64encode(pcm).decode()})

    def send(self, message: dict[str, Any]) -> None:
        """Send one message at once."""
        self._events.put_nowait({"type": "websocket.receive", "text": json.dumps(message)})

    def end(self) -> None:
        """Ask for the end."""
        self.send({"type": "end"})

    def vanish(self) -> None:
        """Break the connection: the server reads it, and cannot write any more."""
        self._gone = True
        self._events.put_nowait({"type": "websocket.disconnect", "code": 1006})

    def lose_the_line(self) -> None:
        """Break the connection so that only a write tells the server."""
        self._gone = True

    def read_again(self) -> None:
        """Read on, what was sent meanwhile first."""
        self.reads = True
        self._awake.set()

    async def until(self, kind: str, count: int = 1) -> Frame:
        """Wait for the ``count``-th frame of this kind."""
        while len(self.of(kind)) < count:
            self._arrived.clear()
            await self._arrived.wait()
        return self.of(kind)[count - 1]

    async def silent_until(self, kind: str, count: int = 1) -> Frame:
        """Send silence until the ``count``-th frame of this kind has come."""
        while len(self.of(kind)) < count:
            assert self.close is None, f"closed with {self.close} before {kind}"
            await self.keep_silent(0.1)
        return self.of(kind)[count - 1]

    def of(self, kind: str) -> list[Frame]:
        """Return the frames of this kind."""
        return [frame for frame in self.frames if frame.kind == kind]

    @property
    def kinds(self) -> list[str]:
        """The kinds of the frames in order, a run of audio frames told once."""
        return self.kinds_without()

    def kinds_without(self, *left_out: str) -> list[str]:
        """Return the same, as if frames of these kinds had not come."""
        kinds = [frame.kind for frame in self.frames if frame.kind not in left_out]
        return [kind for at, kind in enumerate(kinds) if at == 0 or kind != "audio" or kinds[at - 1] != "audio"]

    @property
    def sentences(self) -> list[tuple[str, float]]:
        """The sentences that were sent as audio, with plain spaces, and their lengths in seconds."""
        audio = np.concatenate([np.zeros(0, np.int16), *(frame.pcm for frame in self.of("audio"))])
        return [(" ".join(text.split()), length) for text, length in self._voices.read(audio)]

    async def _take(self, message: dict[str, Any]) -> None:
        if self._gone:
            self.refused += 1
            raise OSError("the client is gone")
        if not self.reads and message["type"] != "websocket.accept":
            await self._awake.wait()
        now = asyncio.get_running_loop().time()
        assert self.close is None, "a frame after the close"
        if message["type"] == "websocket.close":
            self.close, self.closed_at = (message["code"], message["reason"]), now
            self._events.put_nowait({"type": "websocket.disconnect", "code": message["code"]})
        elif message["type"] == "websocket.send":
            self.frames.append(_frame(now, json.loads(message["text"])))
        self._arrived.set()


def seconds_ahead(frames: list[Frame]) -> float:
    """Return how far the audio in ``frames`` was ahead of real time at its worst: sent, and not yet played."""
    dry_at, worst = 0.0, 0.0
    for frame in frames:
        dry_at = max(dry_at, frame.at) + len(frame.pcm) / TTS_RATE_HZ
        worst = max(worst, dry_at - frame.at)
    return worst


def _frame(at: float, content: dict[str, Any]) -> Frame:
    kind, data = content.get("type"), content.get("data")
    if served := content.get("serverContent"):
        kind = "turnComplete" if "turnComplete" in served else "audio"
        data = None if kind == "turnComplete" else served["modelTurn"]["parts"][0]["inlineData"]["data"]
    pcm = base64.b64decode(data, validate=True) if kind == "audio" else b""
    return Frame(at, str(kind), content, np.frombuffer(pcm, dtype="<i2"))
