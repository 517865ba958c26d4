"""Speech to text behind whisper.cpp's own server: ``POST {base}/inference``, a WAV file in a multipart form.

Model and language are fixed when that server starts, and not sent. Its ``json`` has one text, a segment a line.
"""

from __future__ import annotations

import math
import time
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from engines import invention
from engines.audio import wav_of
from engines.deadline import Deadline
from engines.errors import EngineFault
from engines.http import Target
from engines.protocols import STT_RATE_HZ, Language, Transcript

ENGINE = "stt"

_FORM = {"response_format": "json", "temperature": "0.0"}


class _Inference(msgspec.Struct, frozen=True):
    text: str


class WhisperCppSpeechToText:
    """See :class:`engines.protocols.SpeechToText`. ``language`` and ``prompt`` are the server's own affair.

    There is no evidence: the confidence is 0.5, and only known inventions are kept out.
    """

    def __init__(self, target: Target) -> None:
        self._target = target

    async def transcribe(
        self, samples: NDArray[np.int16], *, language: Language, prompt: str = "", timeout_s: float
    ) -> Transcript:
        """Transcribe ``samples``, mono at 16 kHz, shape [n]."""
        begun, deadline, wav = time.monotonic(), Deadline(timeout_s), wav_of(samples)
        heard = await self._ask(wav, deadline)
        audio_s = len(samples) / STT_RATE_HZ
        lines = heard.text.splitlines()
        segments = invention.believable([invention.Segment(line, audio_s / len(lines)) for line in lines])
        return Transcript(
            text=" ".join(segment.text for segment in segments),
            confidence=invention.confidence(segments),
            audio_ms=round(audio_s * 1000),
            elapsed_ms=round((time.monotonic() - begun) * 1000),
        )

    async def _ask(self, wav: bytes, deadline: Deadline) -> _Inference:
        content: dict[str, Any] = {"data": _FORM, "files": {"file": ("segment.wav", wav, "audio/wav")}}
        post = self._target.post(ENGINE, "inference", deadline, math.inf, **content)
        async with post as response, deadline.within(math.inf):
            body = await response.aread()
        try:
            return msgspec.json.decode(body, type=_Inference)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise EngineFault(ENGINE, "expected a transcript as JSON, got something else") from error
