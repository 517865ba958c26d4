"""``POST /v1/audio/speech``: text to audio, sent clause by clause."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from engines.worker.answers import event, streamed, with_errors_told
from engines.worker.audio_out import MEDIA_TYPES, Encoder, encoder
from engines.worker.lane import Lane
from engines.worker.problems import Problem, bad_request, no_such_model
from engines.worker.synthesizer import MAX_SPEED, MIN_SPEED, Spoken, Synthesizer

MAX_INPUT_CHARS: Final = 4096
"""OpenAI's limit on ``input``."""

STREAM_FORMATS: Final = ("audio", "sse")

_MAX_BODY_BYTES = 65_536


class Voice(msgspec.Struct, frozen=True):
    """A voice as OpenAI's clients may also name one: ``{"id": "ff_siwis"}``."""

    id: str


class SpeechRequest(msgspec.Struct, frozen=True):
    """The body of a speech request, OpenAI's names; fields that are not listed are ignored."""

    input: Annotated[str, msgspec.Meta(max_length=MAX_INPUT_CHARS)]
    model: str | None = None
    voice: str | Voice | None = None
    speed: Annotated[float, msgspec.Meta(ge=MIN_SPEED, le=MAX_SPEED)] = 1.0
    response_format: str = "mp3"
    stream_format: str = "audio"


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
        _known("response_format", asked.response_format, MEDIA_TYPES)
        _known("stream_format", asked.stream_format, STREAM_FORMATS)
        voice = _voice(asked, synthesizer)
        clauses = self._lane.run(synthesizer.speak(asked.input, voice, asked.speed))
        codec = encoder(asked.response_format)
        if asked.stream_format == "sse":
            return await streamed(request, with_errors_told(_events(clauses, codec)), "text/event-stream")
        return await streamed(request, _encoded(clauses, codec, Used()), MEDIA_TYPES[asked.response_format])


def _known(field: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        raise bad_request(f"Expected one of {', '.join(known)}, got {value!r}.", param=field)


def _voice(asked: SpeechRequest, synthesizer: Synthesizer) -> str:
    voice = asked.voice.id if isinstance(asked.voice, Voice) else asked.voice or synthesizer.voice
    if voice not in synthesizer.voices:
        known = ", ".join(synthesizer.voices)
        raise bad_request(f"There is no voice {voice!r}; there are {known}.", param="voice", code="voice_not_found")
    return voice


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


@dataclass
class Used:
    """What one answer took of Kokoro, in its own tokens: phonemes in, frames of 25 ms out."""

    phonemes: int = 0
    frames: int = 0

    def add(self, clause: Spoken) -> None:
        """Count one more clause."""
        self.phonemes += clause.phonemes
        self.frames += clause.frames

    def told(self) -> dict[str, int]:
        """Return it under OpenAI's names."""
        total = self.phonemes + self.frames
        return {"input_tokens": self.phonemes, "output_tokens": self.frames, "total_tokens": total}


async def _encoded(clauses: AsyncGenerator[Spoken, None], codec: Encoder, used: Used) -> AsyncGenerator[bytes, None]:
    async with aclosing(clauses):
        async for clause in clauses:
            used.add(clause)
            if data := codec.encode(clause.samples):
                yield data
    if data := codec.finish():
        yield data


async def _events(clauses: AsyncGenerator[Spoken, None], codec: Encoder) -> AsyncGenerator[bytes, None]:
    used = Used()
    async with aclosing(_encoded(clauses, codec, used)) as parts:
        async for part in parts:
            yield event({"type": "speech.audio.delta", "audio": base64.b64encode(part).decode()})
    yield event({"type": "speech.audio.done", "usage": used.told()})
