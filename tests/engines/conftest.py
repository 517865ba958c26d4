"""A real HTTP server, on a real socket, that answers each request as its test wrote it down."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from pathlib import Path

import httpx
import numpy as np
import pytest
import soundfile
import soxr

from engines.answers import AnswerLimits
from engines.gemini.llm import GeminiLanguageModel
from engines.gemini.stt import GeminiSpeechToText
from engines.gemini.tts import GeminiTextToSpeech
from engines.http import Target, open_client
from engines.openai.llm import OpenAILanguageModel
from engines.openai.stt import OpenAISpeechToText
from engines.openai.tts import OpenAITextToSpeech
from engines.protocols import Delta, Message
from engines.resilience import Attempt, Backend, Resilience
from engines.resilient import ResilientLanguageModel, ResilientSpeechToText, ResilientTextToSpeech
from engines.retries import RetryRules
from engines.whispercpp import WhisperCppSpeechToText

CUT = object()
"""Step of an answer: reset the connection."""

HANG = object()
"""Step of an answer: say no more until the client has gone."""

FAST = RetryRules(wait_initial_s=0.001, wait_max_s=0.01, wait_jitter_s=0.001)


@dataclass(frozen=True)
class Request:
    """A request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict:
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, bytes]:
        head = f"Content-Type: {self.headers['content-type']}\r\n\r\n".encode()
        parts = BytesParser(policy=HTTP).parsebytes(head + self.body).iter_parts()
        return {part.get_param("name", header="content-disposition"): part.get_payload(decode=True) for part in parts}


@dataclass
class EngineServer:
    """Plays ``answers`` in order, one a request; the last one again and again."""

    answers: list[list]
    port: int
    requests: list[Request] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client went away from an answer that hangs."""

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read(reader)
            answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
            self.requests.append(request)
            self.asked.set()
            await self._play(answer, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _play(self, answer: list, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for step in answer:
            if step is HANG:
                while await reader.read(1024):
                    pass
                self.left.set()
            elif step is CUT:
                writer.transport.abort()
                return
            else:
                writer.write(step)
                await writer.drain()


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.split("\r\n")[:-2]
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    method, path, _ = first.split(" ")
    if headers.get("transfer-encoding") == "chunked":
        raise AssertionError("expected a request of known length")
    return Request(method, path, headers, await reader.readexactly(int(headers.get("content-length", 0))))


def head(status: int = 200, kind: str = "application/json", **headers: str) -> bytes:
    """Return the head of an answer whose end is the end of its chunks."""
    lines = {"Content-Type": kind, "Transfer-Encoding": "chunked", "Connection": "close"}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    told = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} X\r\n{told}\r\n".encode()


def chunked(*parts: bytes) -> list[bytes]:
    """Return ``parts`` as chunks, without the end of the body."""
    return [b"%x\r\n%s\r\n" % (len(part), part) for part in parts if part]


END = b"0\r\n\r\n"


def answer(body: bytes | dict, status: int = 200, kind: str = "application/json", **headers: str) -> list:
    """Return a whole answer."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return [head(status, kind, **headers), *chunked(body), END]


def events(*data: dict | str) -> bytes:
    """Return server-sent events."""
    return "".join(f"data: {each if isinstance(each, str) else json.dumps(each)}\n\n" for each in data).encode()


def says(text: str) -> dict:
    """Return the chunk of a chat completion that says ``text``."""
    return {"choices": [{"index": 0, "delta": {"content": text}}]}


USAGE = {
    "choices": [],
    "usage": {"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 16}},
}


@dataclass(frozen=True)
class Kind:
    """One kind of engine in one style: how to make it, ask it, and answer it well."""

    name: str
    path: str
    good: list
    heard: object
    make: Callable[..., object]
    ask: Callable[[object, float], Awaitable[object]]
    style: str = "openai"
    content_type: str = "application/json"
    key_header: tuple[str, str] = ("authorization", "Bearer sk-secret")


async def ask_stt(engine: OpenAISpeechToText, timeout_s: float) -> str:
    heard = await engine.transcribe(np.zeros(1600, np.int16), language="fr", timeout_s=timeout_s)
    return heard.text


async def ask_llm(engine: OpenAILanguageModel, timeout_s: float) -> str:
    parts = engine.stream([Message("user", "Bonjour")], max_tokens=9, timeout_s=timeout_s)
    return "".join([part.text async for part in parts if isinstance(part, Delta)])


async def ask_tts(engine: OpenAITextToSpeech, timeout_s: float) -> list[int]:
    return [sample async for block in engine.speak("Bonjour.", timeout_s=timeout_s) for sample in block.tolist()]


def generated(*parts: dict, **more: object) -> dict:
    """Return an answer of Gemini's ``generateContent`` with these parts."""
    return {"candidates": [{"content": {"parts": list(parts), "role": "model"}, "finishReason": "STOP"}]} | more


def pcm_part(pcm: bytes, mime_type: str = "audio/L16;codec=pcm;rate=24000") -> dict:
    """Return a part of audio."""
    return {"inlineData": {"mimeType": mime_type, "data": base64.b64encode(pcm).decode()}}


GOOG_KEY = ("x-goog-api-key", "sk-secret")
GENERATE, STREAM = "/v1/models/some-model:generateContent", "/v1/models/some-model:streamGenerateContent?alt=sse"

KINDS = [
    Kind("stt", "/v1/audio/transcriptions", answer({"text": " Bonjour. "}), "Bonjour.", OpenAISpeechToText, ask_stt),
    Kind(
        "llm",
        "/v1/chat/completions",
        answer(events(says("Bonjour"), says("."), "[DONE]"), kind="text/event-stream"),
        "Bonjour.",
        OpenAILanguageModel,
        ask_llm,
        content_type="text/event-stream",
    ),
    Kind(
        "tts",
        "/v1/audio/speech",
        answer(b"\x01\x00\x02\x00", kind="audio/pcm"),
        [1, 2],
        lambda target, **options: OpenAITextToSpeech(target, "ff_siwis", **options),
        ask_tts,
        content_type="audio/pcm",
    ),
    Kind(
        "stt",
        "/v1/inference",
        answer({"text": " Bonjour.\n"}),
        "Bonjour.",
        WhisperCppSpeechToText,
        ask_stt,
        style="whispercpp",
    ),
    Kind(
        "stt",
        GENERATE,
        answer(generated({"text": "Bonjour.\n"})),
        "Bonjour.",
        GeminiSpeechToText,
        ask_stt,
        style="gemini",
        key_header=GOOG_KEY,
    ),
    Kind(
        "llm",
        STREAM,
        answer(events(generated({"text": "Bonjour"}), generated({"text": "."})), kind="text/event-stream"),
        "Bonjour.",
        GeminiLanguageModel,
        ask_llm,
        style="gemini",
        content_type="text/event-stream",
        key_header=GOOG_KEY,
    ),
    Kind(
        "tts",
        GENERATE,
        answer(generated(pcm_part(b"\x01\x00\x02\x00"))),
        [1, 2],
        lambda target, **options: GeminiTextToSpeech(target, "Kore", **options),
        ask_tts,
        style="gemini",
        key_header=GOOG_KEY,
    ),
]


RESILIENT = {"stt": ResilientSpeechToText, "llm": ResilientLanguageModel, "tts": ResilientTextToSpeech}


class Lab:
    """What the tests of this part are made with."""

    CUT, HANG, END, USAGE, FAST, KINDS = CUT, HANG, END, USAGE, FAST, KINDS
    Limits = AnswerLimits
    head, chunked, answer, events, says = map(staticmethod, (head, chunked, answer, events, says))
    generated, pcm_part = map(staticmethod, (generated, pcm_part))

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []

    @staticmethod
    def free_port() -> int:
        """Return a port that nothing listens on."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    @staticmethod
    def new_server(*answers: list, port: int = 0) -> EngineServer:
        """Return a server that has yet to be given a socket."""
        return EngineServer(list(answers), port)

    @asynccontextmanager
    async def server(self, *answers: list, port: int = 0) -> AsyncIterator[EngineServer]:
        """Serve ``answers``, each a list of bytes and steps."""
        engine = self.new_server(*answers, port=port)
        async with await asyncio.start_server(engine.serve, "127.0.0.1", port) as server:
            engine.port = server.sockets[0].getsockname()[1]
            yield engine

    @asynccontextmanager
    async def engine(self, kind: Kind | str, base: str, **options: object) -> AsyncIterator:
        """Give an engine of ``kind`` (by name: style ``openai``) that asks ``base``, as the server has it.

        ``rules``, ``is_own`` and ``observe`` are those of its resilience; other options are the adapter's.
        """
        kind = next(each for each in KINDS if each.name == kind) if isinstance(kind, str) else kind
        terms = {name: options.pop(name) for name in ("rules", "is_own", "observe") if name in options}
        async with open_client(base) as client:
            target = Target(client, base, "some-model", api_key=options.pop("api_key", None))
            yield self.resilient(kind.name, kind.style, kind.make(target, **options), **terms)

    def resilient(
        self,
        kind: str,
        style: str,
        *adapters: object,
        rules: RetryRules = FAST,
        is_own: bool = False,
        observe: Callable[[Attempt], None] | None = None,
    ) -> object:
        """Return one engine over ``adapters``, the primary first, its attempts in ``attempts``."""
        backends = [Backend(each, style, is_own) for each in adapters]
        return RESILIENT[kind](Resilience(kind, backends, rules, observe or self.attempts.append))

    @property
    def outcomes(self) -> list[str]:
        """How each attempt ended."""
        return [attempt.outcome for attempt in self.attempts]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def speech_16k(two_cities: Path) -> np.ndarray:
    """A reading by a person, 44 s, int16 at 16 kHz, shape [n]."""
    samples, rate_hz = soundfile.read(two_cities, dtype="int16")
    return soxr.resample(samples, rate_hz, 16_000)


@pytest.fixture
def lab() -> Lab:
    return Lab()


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind.style}-{kind.name}")
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param


@pytest.fixture
def mock_client() -> Callable[[Callable[[httpx.Request], httpx.Response]], httpx.AsyncClient]:
    """Make a client whose requests a function answers."""
    return lambda answerer: httpx.AsyncClient(transport=httpx.MockTransport(answerer))
