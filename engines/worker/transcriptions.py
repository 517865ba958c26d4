"""``POST /v1/audio/transcriptions``: an uploaded file to text."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, BinaryIO, Final

import msgspec
from starlette.datastructures import FormData
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, PlainTextResponse, Response

from engines.protocols import STT_RATE_HZ
from engines.worker import subtitles
from engines.worker.answers import collected, event, streamed, unless_gone, with_errors_told
from engines.worker.audio_in import blocks
from engines.worker.config import WorkerConfig
from engines.worker.lane import Lane
from engines.worker.problems import bad_request, no_such_model
from engines.worker.stretches import stretches
from engines.worker.transcriber import Request, Segment, Transcriber, Word
from engines.worker.uploads import file, form, in_memory

FORMATS: Final = ("json", "text", "verbose_json", "srt", "vtt")
GRANULARITIES: Final = ("segment", "word")
MAX_PROMPT_CHARS: Final = 4096

_FRAMES_PER_S: Final = 100
"""Whisper's feature frames, in which ``seek`` counts."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """How many seconds of audio were decoded, before they are transcribed; long audio comes in several stretches."""

    seconds: float


class TranscriptionsRoute:
    """The route over one transcriber and its lane."""

    def __init__(self, transcriber: Transcriber | None, lane: Lane, config: WorkerConfig) -> None:
        self._transcriber = transcriber
        self._lane = lane
        self._config = config

    async def __call__(self, request: HttpRequest) -> Response:
        """Answer one request; raises :class:`engines.worker.problems.Problem`."""
        async with form(request, self._config.max_upload_bytes) as fields:
            upload = file(fields)
            transcriber = self._chosen(_text(fields, "model"))
            response_format = _one_of(fields, "response_format", FORMATS, "json")
            asked = _asked(fields, transcriber, response_format)
            steps = self._lane.run(self._job(transcriber, upload, asked))
            if _one_of(fields, "stream", ("true", "false"), "false") == "false":
                return _whole(await unless_gone(request, collected(steps)), asked, response_format)
            return await streamed(request, with_errors_told(_events(steps)), "text/event-stream")

    def _chosen(self, asked: str) -> Transcriber:
        if self._transcriber is None or asked not in ("", self._transcriber.name):
            raise no_such_model(asked, self._transcriber.name if self._transcriber else None)
        return self._transcriber

    def _job(
        self, transcriber: Transcriber, upload: BinaryIO, asked: Request
    ) -> Generator[Decoded | Segment, None, None]:
        start_s, ids = 0.0, count()
        for samples in stretches(blocks(in_memory(upload), self._config.max_audio_s)):
            stretch = Decoded(len(samples) / STT_RATE_HZ)
            yield stretch
            for segment in transcriber.transcribe(samples, asked):
                yield _moved(segment, start_s, next(ids))
            start_s += stretch.seconds


def _moved(segment: Segment, by_s: float, number: int) -> Segment:
    """A segment of a stretch that begins ``by_s`` into the audio, as one of the audio."""
    words = segment.words and [
        Word(word.word, round(word.start + by_s, 3), round(word.end + by_s, 3)) for word in segment.words
    ]
    return replace(
        segment,
        id=number,
        seek=segment.seek + round(_FRAMES_PER_S * by_s),
        start=round(segment.start + by_s, 3),
        end=round(segment.end + by_s, 3),
        words=words,
    )


def _asked(fields: FormData, transcriber: Transcriber, response_format: str) -> Request:
    language = _text(fields, "language") or transcriber.language
    if language not in transcriber.languages:
        raise bad_request(
            f"The model {transcriber.name!r} does not know the language {language!r}.",
            param="language",
            code="unsupported_language",
        )
    wanted = [str(value) for value in fields.getlist("timestamp_granularities[]")]
    wanted += [str(value) for value in fields.getlist("timestamp_granularities")]
    if unknown := sorted(set(wanted) - set(GRANULARITIES)):
        raise bad_request(f"Expected segment or word, got {unknown[0]!r}.", param="timestamp_granularities")
    return Request(
        language=language,
        prompt=_text(fields, "prompt")[-MAX_PROMPT_CHARS:],
        temperature=_temperature(fields),
        timestamps=bool(wanted) or response_format in ("srt", "vtt"),
        words="word" in wanted,
    )


def _temperature(fields: FormData) -> float:
    text = _text(fields, "temperature") or "0"
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise bad_request(f"Expected a number from 0 to 1, got {text!r}.", param="temperature")
    return value


def _text(fields: FormData, name: str) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise bad_request(f"The field {name!r} must be text, not a file.", param=name)
    return value


def _one_of(fields: FormData, name: str, allowed: tuple[str, ...], default: str) -> str:
    value = _text(fields, name).lower() or default
    if value not in allowed:
        raise bad_request(f"Expected one of {', '.join(allowed)}, got {value!r}.", param=name)
    return value


def _whole(steps: list[Decoded | Segment], asked: Request, response_format: str) -> Response:
    seconds = sum(step.seconds for step in steps if isinstance(step, Decoded))
    segments = [step for step in steps if isinstance(step, Segment)]
    text = _joined(segments)
    match response_format:
        case "text":
            return PlainTextResponse(text + "\n")
        case "srt":
            return PlainTextResponse(subtitles.srt(segments))
        case "vtt":
            return PlainTextResponse(subtitles.vtt(segments), media_type="text/vtt")
        case "verbose_json":
            return JSONResponse(_verbose(text, segments, asked, seconds))
    return JSONResponse({"text": text, "usage": _usage(seconds)})


def _verbose(text: str, segments: list[Segment], asked: Request, seconds: float) -> dict[str, Any]:
    told: dict[str, Any] = {
        "task": "transcribe",
        "language": asked.language,
        "duration": round(seconds, 3),
        "text": text,
        "segments": [
            {name: value for name, value in msgspec.to_builtins(segment).items() if name != "words"}
            for segment in segments
        ],
        "usage": _usage(seconds),
    }
    if asked.words:
        told["words"] = [msgspec.to_builtins(word) for segment in segments for word in segment.words or ()]
    return told


def _usage(seconds: float) -> dict[str, Any]:
    return {"type": "duration", "seconds": round(seconds)}


def _joined(segments: list[Segment]) -> str:
    return "".join(segment.text for segment in segments).strip()


async def _events(steps: AsyncGenerator[Decoded | Segment, None]) -> AsyncGenerator[bytes, None]:
    """Yield OpenAI's events. Their usage counts tokens, which nobody pays for here: it is left out, as it may be."""
    segments: list[Segment] = []
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, Segment):
                delta = step.text if segments else step.text.lstrip()
                segments.append(step)
                yield event({"type": "transcript.text.delta", "delta": delta})
    yield event({"type": "transcript.text.done", "text": _joined(segments)})
