"""A server on a real WebSocket that keeps the contract and answers after delays that a test has chosen.

It finds the end of a turn by the server's own rules in the audio that reaches it, so that its delays count from the
same sample as a real server's. It has no engine, and what it says of itself is what it is told to say.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import numpy as np
from websockets.asyncio.server import Request, Response, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from engines.protocols import VAD_WINDOW_SAMPLES, VoiceActivity
from server.bench.spoken import rules
from server.speech.endpoint import Endpoint, Event, Sustained, TurnEnded
from server.speech.pcm import Reframer, to_float32

SUJET = {"id": "5b1c8f0e-0000-4000-8000-000000000001", "titre": "Louer un vélo", "consigne": "Louez un vélo."}


@dataclass
class Manner:
    """How the stand-in behaves; seconds. ``claims_gap_s`` is what it says of its own gap on ``/metrics``."""

    gap_s: float = 0.1
    barge_in_s: float = 0.05
    answer_s: float = 1.0
    claims_gap_s: float = 0.1
    drawn_s: tuple[float, ...] = ()
    interruption_s: float = 0.06
    breath_s: float = 0.01
    refusal: tuple[int, str] = (1013, "TRY_AGAIN_LATER")
    places: int = 100


@dataclass
class StandIn:
    """One server and what it has done."""

    manner: Manner
    vad: VoiceActivity
    silence_ms: int
    port: int = 0
    gaps: int = 0
    exams: int = 0
    pcm: bytearray = field(default_factory=bytearray)
    decisions: list[int] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    def answer_http(self, socket: ServerConnection, request: Request) -> Response | None:
        path = request.path.partition("?")[0]
        if path.endswith("/live"):
            return None
        bodies = {
            "/sujets": json.dumps([SUJET]),
            "/metrics": self._metrics(),
            "/productions": json.dumps([{"id": "p-1"}]),
            "/productions/p-1": json.dumps({"latency": {"gap": {"count": 1, "p50": 1.0, "p95": 1.0, "max": 1.0}}}),
        }
        return socket.respond(HTTPStatus.OK if path in bodies else HTTPStatus.NOT_FOUND, bodies.get(path, ""))

    def _metrics(self) -> str:
        return (
            "# TYPE relance_stage_seconds histogram\n"
            f'relance_stage_seconds_count{{stage="gap",task="t2"}} {self.gaps}\n'
            f'relance_stage_seconds_sum{{stage="gap",task="t2"}} {self.gaps * self.manner.claims_gap_s}\n'
            "# TYPE relance_event_loop_lag_seconds histogram\n"
            f'relance_event_loop_lag_seconds_bucket{{le="0.02"}} {10 * self.gaps}\n'
            f'relance_event_loop_lag_seconds_bucket{{le="+Inf"}} {11 * self.gaps}\n'
        )

    async def serve_exam(self, socket: ServerConnection) -> None:
        self.exams += 1
        if self.exams > self.manner.places:
            await socket.close(*self.manner.refusal)
            return
        exam = _Exam(self, socket)
        path = socket.request.path if socket.request else ""
        async with asyncio.TaskGroup() as group:
            clock = group.create_task(exam.interrupt() if path.startswith("/t1") else asyncio.sleep(0))
            await exam.listen(group)
            clock.cancel()


class _Exam:
    def __init__(self, server: StandIn, socket: ServerConnection) -> None:
        self._server, self._socket = server, socket
        self._manner = server.manner
        self._endpoint, self._stream = Endpoint(rules(server.silence_ms)), server.vad.open()
        self._reframer = Reframer(VAD_WINDOW_SAMPLES)
        self._speaking: asyncio.Task[None] | None = None

    async def listen(self, group: asyncio.TaskGroup) -> None:
        async for frame in self._socket:
            message = json.loads(frame)
            if message["type"] == "end":
                await self._socket.close(1000)
                return
            data = base64.b64decode(message["data"])
            self._server.pcm += data
            for window in self._reframer.push(data):
                for event in self._endpoint.push(await self._stream.probability(to_float32(window))):
                    self._heed(event, group)

    def _heed(self, event: Event, group: asyncio.TaskGroup) -> None:
        match event:
            case TurnEnded(at):
                self._server.decisions.append(at)
                self._speaking = group.create_task(self._answer(asyncio.get_running_loop().time()))
            case Sustained() if self._speaking is not None and not self._speaking.done():
                self._speaking.cancel()
                group.create_task(self._yield(asyncio.get_running_loop().time()))

    async def _answer(self, decided: float) -> None:
        await self._at(decided + self._manner.gap_s)
        self._server.gaps += 1
        await self._say("t2")
        await self._at(decided + self._manner.gap_s + self._manner.answer_s)
        await self._send({"type": "turnComplete"})

    async def _yield(self, sustained: float) -> None:
        await self._at(sustained + self._manner.barge_in_s)
        await self._send({"type": "interrupted"})

    async def interrupt(self) -> None:
        begun = asyncio.get_running_loop().time()
        for due in self._manner.drawn_s:
            await self._at(begun + due + self._manner.interruption_s)
            await self._send({"type": "interruption_start"})
            await self._at(begun + due + self._manner.interruption_s + self._manner.breath_s)
            await self._say("t1")
            await self._send({"serverContent": {"turnComplete": True}})
            await self._send({"type": "interruption_end"})

    async def _say(self, task: str) -> None:
        data = base64.b64encode(np.ones(2400, "<i2").tobytes()).decode()
        audio = {"mimeType": "audio/pcm;rate=24000", "data": data}
        part = {"serverContent": {"modelTurn": {"role": "model", "parts": [{"inlineData": audio}]}}}
        await self._send(part if task == "t1" else {"type": "audio", **audio})

    async def _send(self, message: dict[str, Any]) -> None:
        try:
            await self._socket.send(json.dumps(message))
        except ConnectionClosed:
            return

    @staticmethod
    async def _at(moment: float) -> None:
        await asyncio.sleep(moment - asyncio.get_running_loop().time())


@asynccontextmanager
async def serving(manner: Manner, vad: VoiceActivity, silence_ms: int = 500) -> AsyncIterator[StandIn]:
    """Serve on a free port until left."""
    server = StandIn(manner, vad, silence_ms)
    async with serve(server.serve_exam, "127.0.0.1", 0, process_request=server.answer_http) as listening:
        server.port = next(iter(listening.sockets)).getsockname()[1]
        yield server
