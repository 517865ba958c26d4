"""``POST /v1/audio/speech``: text to audio, sent clause by clause."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response

from engines.worker.answers import event, streamed, with_errors_told
from engines.worker.audio_out import MEDIA_TYPES, Encoder, encoder
from engines.worker.lane import Lane
from engines.worker.problems import Problem, bad_request, no_such_model
from engines.worker.synthesizer import MAX_SPEED, MIN_SPEED, Synthesizer

MAX_INPUT_CHARS: Final = 4096
"""OpenAI's limit on ``input``."""

_MAX_BODY_BYTES = 65_536


class SpeechRequest(msgspec.Struct, frozen=True):
    """The body of a speech request, OpenAI's names; fields that are not listed are ignored."""

    input: Annotated[str, msgspec.Meta(max_length=MAX_INPUT_CHARS)]
    model: str | None = None
    voice: str | None = None
    speed: Annotated[float, msgspec.Meta(ge=MIN_SPEED, le=MAX_SPEED)] = 1.0
    response_format: Literal["pcm", "wav", "flac", "mp3", "opus"] = "mp3"
    stream_format: Literal["audio", "sse"] = "audio"


class SpeechRoute:
    """The route over one synthesizer and its lane."""

    def __init__(self, synthesizer: Synthesizer | None, lane: Lane) -> None:
        self._synthesizer = synthesizer
        self._lane = lane

    async def __call__(self, request: Request) -> Response:
        """Answer one request; raises :class:`engines.worker.problems.Problem`."""
        asked = await _read(request)
        synthesizer = self._synthesizer
        if synthesizer is None or asked.model not in (None, synthesizer.name):
            raise no_such_model(asked.model or "", synthesizer.name if synthesizer else None)
        voice = asked.voice or synthesizer.voice
        if voice not in synthesizer.voices:
            known = ", ".join(synthesizer.voices)
            raise bad_request(f"There is no voice {voice!r}; there are {known}.", param="voice", code="voice_not_found")
        blocks = self._lane.run(synthesizer.speak(asked.input, voice, asked.speed))
        if asked.stream_format == "sse":
            events = with_errors_told(_events(blocks, encoder(asked.response_format)))
            return await streamed(request, events, "text/event-stream")
        return await streamed(
            request, _encoded(blocks, encoder(asked.response_format)), MEDIA_TYPES[asked.response_format]
        )


async def _read(request: Request) -> SpeechRequest:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _MAX_BODY_BYTES:
            raise Problem(
                413, f"The body is larger than {_MAX_BODY_BYTES} bytes.", code="body_too_large", param="input"
            )
    try:
        return msgspec.json.decode(body, type=SpeechRequest)
    except msgspec.MsgspecError as error:
        # msgspec's message names the field and what was expected, never the value.
        raise bad_request(f"The body is not a speech request: {error}.", param=_field(str(error))) from None


def _field(message: str) -> str | None:
    return next(
        (name for name in SpeechRequest.__struct_fields__ if f"`{name}`" in message or f".{name}`" in message), None
    )


async def _encoded(blocks: AsyncGenerator[NDArray[np.float32], None], codec: Encoder) -> AsyncGenerator[bytes, None]:
    async with aclosing(blocks):
        async for block in blocks:
            if data := codec.encode(block):
                yield data
    if data := codec.finish():
        yield data


async def _events(blocks: AsyncGenerator[NDArray[np.float32], None], codec: Encoder) -> AsyncGenerator[bytes, None]:
    async with aclosing(_encoded(blocks, codec)) as parts:
        async for part in parts:
            yield event({"type": "speech.audio.delta", "audio": base64.b64encode(part).decode()})
    yield event({"type": "speech.audio.done"})
