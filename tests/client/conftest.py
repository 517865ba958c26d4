"""The other side of the contract, played from a script, and what the tests say to it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray
from websockets.asyncio.server import Request, Response, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

SUJET = {
    "id": "5b1c8f0e-0000-4000-8000-000000000001",
    "mode": "EO",
    "tache": 2,
    "titre": "Louer un vélo",
    "role": "employé",
    "consigne": "Vous voulez louer un vélo. Posez des questions à l'employé.",
}
REPORT = {
    "productionId": "p-1",
    "tache": "EO_T1",
    "score": 14,
    "scoreTextuel": 10.6666666,
    "phonologie": {"score": 3, "method": "acoustic"},
    "nclc": 9,
    "criteres": [{"name": "Lexique", "score": 3, "comment": "varié [juste]"}],
    "pointsForts": ["clair"],
    "pointsAmelioration": ["les temps du passé"],
    "corrections": [{"said": "j'ai allé", "better": "je suis allé", "why": "auxiliaire être"}],
    "transcript": "Candidat : bonjour",
    "durationMs": 61_500,
    "latency": {"stt": 210},
}


class Candidate:
    """What a script sees of the client, and how it speaks to it."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket
        self.path = socket.request.path if socket.request else ""
        self.pcm: list[NDArray[np.int16]] = []
        self.types: list[str] = []
        self._inbox: asyncio.Queue[str | None] = asyncio.Queue()

    @property
    def voice(self) -> NDArray[np.int16]:
        """All that was heard so far."""
        return np.concatenate([np.zeros(0, np.int16), *self.pcm])

    async def listen(self) -> None:
        """Read all that comes, whether the script takes it or not."""
        with contextlib.suppress(ConnectionClosed):
            async for frame in self._socket:
                self._inbox.put_nowait(str(frame))
        self._inbox.put_nowait(None)

    async def take(self) -> str:
        """Receive one message; return its type."""
        frame = await self._inbox.get()
        assert frame is not None, "the client is gone"
        message = json.loads(frame)
        if message["type"] == "audio":
            self.pcm.append(np.frombuffer(base64.b64decode(message["data"], validate=True), dtype="<i2"))
        self.types.append(message["type"])
        return str(message["type"])

    async def hear(self, samples: int) -> None:
        """Receive until this many samples have been heard, silence or not."""
        while self.voice.size < samples:
            assert await self.take() == "audio"

    async def hear_until(self, kind: str) -> None:
        """Receive up to a message of this type."""
        while await self.take() != kind:
            pass

    async def say(self, *messages: dict[str, Any]) -> None:
        """Send messages."""
        for message in messages:
            await self._socket.send(json.dumps(message))

    async def say_raw(self, frame: str | bytes) -> None:
        """Send a frame as it stands."""
        await self._socket.send(frame)

    async def catch_up(self, quiet_s: float = 0.02) -> None:
        """Wait until the client has got everything that was sent; then receive until it is quiet for so long."""
        await (await self._socket.ping())
        with contextlib.suppress(TimeoutError):
            while True:
                async with asyncio.timeout(quiet_s):
                    await self.take()

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the socket."""
        await self._socket.close(code, reason)

    async def drop(self) -> None:
        """Break the connection without a close frame."""
        self._socket.transport.abort()


Script = Callable[[Candidate], Awaitable[None]]


class ScriptedServer:
    """A server on a port of its own; ``script`` plays every exam, and what it raised is raised again at the end."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.port = 0
        self.exams: list[Candidate] = []
        self.faults: list[BaseException] = []

    @property
    def url(self) -> str:
        """Address, as a user gives it."""
        return f"ws://127.0.0.1:{self.port}"

    async def play(self, socket: ServerConnection) -> None:
        """Serve one connection."""
        candidate = Candidate(socket)
        self.exams.append(candidate)
        listening = asyncio.create_task(candidate.listen())
        try:
            await self._script(candidate)
        except AssertionError as wrong:
            self.faults.append(wrong)
            await candidate.close(1011)
        await listening

    def answer(self, socket: ServerConnection, request: Request) -> Response | None:
        """Answer HTTP; ``None`` lets a WebSocket through."""
        if request.path.startswith("/sujets?mode=EO&tache=2"):
            return socket.respond(HTTPStatus.OK, json.dumps([SUJET]))
        if request.path.startswith("/closed/"):
            return socket.respond(HTTPStatus.FORBIDDEN, "")
        return None


@asynccontextmanager
async def _serving(script: Script) -> AsyncIterator[ScriptedServer]:
    server = ScriptedServer(script)
    async with serve(server.play, "127.0.0.1", 0, process_request=server.answer) as listening:
        server.port = next(iter(listening.sockets)).getsockname()[1]
        yield server
    for fault in server.faults:
        raise fault


@pytest.fixture
def serving() -> Callable[[Script], Any]:
    """Serve exams by a script: ``async with serving(script) as server``."""
    return _serving


@pytest.fixture
def report() -> dict[str, Any]:
    """A report with everything in it."""
    return json.loads(json.dumps(REPORT))


@pytest.fixture
def examiner_audio() -> Callable[[str, int], dict[str, Any]]:
    """Examiner audio in the shape of a task: ``examiner_audio("t1", samples)``, a constant of 1000."""

    def frame(task: str, samples: int) -> dict[str, Any]:
        data = base64.b64encode(np.full(samples, 1000, dtype="<i2").tobytes()).decode()
        if task == "t2":
            return {"type": "audio", "data": data, "mimeType": "audio/pcm;rate=24000"}
        part = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": data}}
        return {"serverContent": {"modelTurn": {"role": "model", "parts": [part]}}}

    return frame


@pytest.fixture
def tone() -> Callable[..., NDArray[np.float32]]:
    """A sine of half scale: ``tone(seconds, rate_hz, pitch_hz=440)``."""

    def sine(seconds: float, rate_hz: int, pitch_hz: float = 440.0) -> NDArray[np.float32]:
        moments = np.arange(round(seconds * rate_hz)) / rate_hz
        return (0.5 * np.sin(2 * np.pi * pitch_hz * moments)).astype(np.float32)

    return sine


@pytest.fixture
def voice_file(tmp_path: Path, tone: Callable[..., NDArray[np.float32]]) -> Callable[..., Path]:
    """A WAV file with half a second of sound: ``voice_file("q1.wav", seconds=0.5)``."""

    def write(name: str = "voice.wav", seconds: float = 0.5, rate_hz: int = 16_000) -> Path:
        path = tmp_path / name
        soundfile.write(path, tone(seconds, rate_hz), rate_hz)
        return path

    return write
