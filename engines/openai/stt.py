"""Speech to text behind ``POST {base}/audio/transcriptions``: a WAV file in a multipart form."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from engines import invention
from engines.audio import wav_of
from engines.deadline import Deadline
from engines.errors import EngineFault
from engines.http import Target
from engines.http_errors import EngineBadRequest
from engines.protocols import STT_RATE_HZ, Language, Transcript

ENGINE = "stt"


class _Segment(msgspec.Struct, frozen=True):
    text: str
    start: float = 0.0
    end: float = 0.0
    avg_logprob: float | None = None
    no_speech_prob: float | None = None
    compression_ratio: float | None = None


class _Transcription(msgspec.Struct, frozen=True):
    """An answer of ``verbose_json``, or of ``json``, which has no segments."""

    text: str
    segments: list[_Segment] | None = None


class OpenAISpeechToText:
    """See :class:`engines.protocols.SpeechToText`. Whether the server knows ``verbose_json`` is remembered.

    Without ``verbose_json`` there is no evidence: the confidence is 0.5, and only known inventions are kept out.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._gives_evidence = True

    async def transcribe(
        self, samples: NDArray[np.int16], *, language: Language, prompt: str = "", timeout_s: float
    ) -> Transcript:
        """Transcribe ``samples``, mono at 16 kHz, shape [n]."""
        begun, deadline = time.monotonic(), Deadline(timeout_s)
        form = {"model": self._target.model, "language": language, "temperature": "0"}
        if prompt:
            form["prompt"] = prompt
        wav = wav_of(samples)
        heard = await self._ask(wav, form, deadline)
        audio_s = len(samples) / STT_RATE_HZ
        segments = invention.believable(_segments(heard, audio_s))
        return Transcript(
            text=" ".join(segment.text for segment in segments),
            confidence=invention.confidence(segments),
            audio_ms=round(audio_s * 1000),
            elapsed_ms=round((time.monotonic() - begun) * 1000),
        )

    async def _ask(self, wav: bytes, form: Mapping[str, str], deadline: Deadline) -> _Transcription:
        if not self._gives_evidence:
            return await self._post(wav, {**form, "response_format": "json"}, deadline)
        try:
            return await self._post(wav, {**form, "response_format": "verbose_json"}, deadline)
        except EngineBadRequest:
            heard = await self._post(wav, {**form, "response_format": "json"}, deadline)
            self._gives_evidence = False
            return heard

    async def _post(self, wav: bytes, form: Mapping[str, str], deadline: Deadline) -> _Transcription:
        content: dict[str, Any] = {"data": form, "files": {"file": ("segment.wav", wav, "audio/wav")}}
        post = self._target.post(ENGINE, "audio/transcriptions", deadline, math.inf, **content)
        async with post as response, deadline.within(math.inf):
            body = await response.aread()
        try:
            return msgspec.json.decode(body, type=_Transcription)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise EngineFault(ENGINE, "expected a transcription as JSON, got something else") from error


def _segments(heard: _Transcription, audio_s: float) -> list[invention.Segment]:
    if not heard.segments:
        return [invention.Segment(heard.text, audio_s)]
    return [
        invention.Segment(
            each.text, each.end - each.start, each.avg_logprob, each.no_speech_prob, each.compression_ratio
        )
        for each in heard.segments
    ]
