"""How an engine's server answers, well or not: each takes an exchange of :mod:`double` and does what its name says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from server.exam.assessment import CRITERIA

Answer = Callable[[Any], Awaitable[None]]

ASSESSMENT = {
    **{key: {"score": 2, "comment": "clear"} for key in CRITERIA["en"]},
    "pointsForts": ["a clear voice"],
    "pointsAmelioration": ["longer sentences"],
    "corrections": [],
}
EVENTS, PCM, RATE_HZ = "text/event-stream", "audio/pcm", 24_000
USAGE = {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}


async def silent(exchange: Any) -> None:
    """Accept, and never answer."""
    await exchange.for_ever()


def head_only(kind: str) -> Answer:
    """Send the head of a good answer, and nothing after it."""

    async def answer(exchange: Any) -> None:
        await exchange.start(kind)
        await exchange.for_ever()

    return answer


def status(code: int, **headers: str) -> Answer:
    """Answer with an error in OpenAI's shape."""

    async def answer(exchange: Any) -> None:
        await exchange.start("application/json", code, **headers)
        await exchange.part(b'{"error": {"message": "no", "type": "fault", "code": "told_to_fail"}}')
        await exchange.part(b"")

    return answer


def is_warm_up(exchange: Any) -> bool:
    """Whether one token is asked for, so that the model knows the prompt: what becomes of that nobody hears."""
    return b'"max_tokens":1,' in exchange.body.replace(b" ", b"")


def once(fault: Answer, then: Answer) -> Answer:
    """Fail the first time only; warm-ups do not count."""
    failed: list[Any] = []

    async def answer(exchange: Any) -> None:
        if failed or is_warm_up(exchange):
            await then(exchange)
        else:
            failed.append(exchange)
            await fault(exchange)

    return answer


def whole(kind: str, *parts: bytes) -> Answer:
    """Answer with these parts of a body."""

    async def answer(exchange: Any) -> None:
        await exchange.start(kind)
        for part in (*parts, b""):
            await exchange.part(part)

    return answer


def broken_off(kind: str, *parts: bytes) -> Answer:
    """Answer with these parts, then close the connection before the body's end."""

    async def answer(exchange: Any) -> None:
        await exchange.start(kind)
        for part in parts:
            await exchange.part(part)

    return answer


def endless(kind: str, part: bytes, every_s: float) -> Answer:
    """Send the same part again and again."""

    async def answer(exchange: Any) -> None:
        await exchange.start(kind)
        while True:
            await exchange.part(part)
            await asyncio.sleep(every_s)

    return answer


def event(data: object) -> bytes:
    """Return one server-sent event."""
    return f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def token(text: str) -> bytes:
    """Return the event that says ``text``."""
    return event({"choices": [{"index": 0, "delta": {"content": text}}]})


def says(text: str) -> Answer:
    """Answer as a language model does."""
    return whole(EVENTS, token(text), event(USAGE), event("[DONE]"))


TOKENS_WITHOUT_TEXT = whole(EVENTS, token(""), event(USAGE), event("[DONE]"))
ASSESSES = says(json.dumps(ASSESSMENT))


def refuses_stream_options(then: Answer) -> Answer:
    """Answer 400 to whoever asks for the usage."""
    refusal = status(400)
    return lambda exchange: (refusal if b"stream_options" in exchange.body else then)(exchange)


def tone(seconds: float) -> bytes:
    """Return a tone of this length, as the voice has it: s16le at 24 kHz."""
    at = np.arange(round(seconds * RATE_HZ))
    return (8_000 * np.sin(at * 2 * np.pi * 220 / RATE_HZ)).astype("<i2").tobytes()


SOUNDS = whole(PCM, tone(0.5))
NOISE = whole(PCM, np.random.default_rng(1).bytes(RATE_HZ + 1))
PAGE = whole("text/html", b"<html><body>Welcome</body></html>")
NONSENSE = whole("application/json", b'{"txt": [3, {"a"')


def relayed(port: int) -> Answer:
    """Have the request answered by the server at ``port`` of this machine."""

    async def answer(exchange: Any) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            lines = [line for line in exchange.head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
            writer.write(b"\r\n".join([lines[0], b"Connection: close", *lines[1:]]) + exchange.body)
            while data := await reader.read(65_536):
                await exchange.send(data)
        finally:
            writer.close()

    return answer
