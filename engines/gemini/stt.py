"""Speech to text by ``POST {base}/models/{model}:generateContent``: a request in words, and a WAV file in base64."""

from __future__ import annotations

import asyncio
import base64
import math
import time
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engines import invention
from engines.audio import wav_of
from engines.deadline import Deadline
from engines.errors import EngineFault
from engines.gemini.wire import Generated, answer_config, generate, refused, with_goog_key
from engines.http import Target
from engines.protocols import STT_RATE_HZ, Language, Transcript

ENGINE = "stt"

TOKENS_LEAST: Final = 64
TOKENS_PER_S: Final = 16
"""Tokens that a transcript may have: twice what a fast speaker says in a second. It ends a loop, never a sentence."""

_NAMES: Final[Mapping[Language, str]] = {"fr": "French", "en": "English"}


class GeminiSpeechToText:
    """See :class:`engines.protocols.SpeechToText`. ``thinking_tokens``: see :func:`engines.gemini.wire.answer_config`.

    There is no evidence: the confidence is 0.5, and only known inventions are kept out. ``prompt`` is not sent: the
    model would be tempted to say it again.
    """

    def __init__(
        self,
        target: Target,
        *,
        thinking_tokens: int | None = 0,
    ) -> None:
        self._target = with_goog_key(target)
        self._thinking_tokens = thinking_tokens

    async def transcribe(
        self, samples: NDArray[np.int16], *, language: Language, prompt: str = "", timeout_s: float
    ) -> Transcript:
        """Transcribe ``samples``, mono at 16 kHz, shape [n]."""
        begun, deadline = time.monotonic(), Deadline(timeout_s)
        body = await asyncio.to_thread(self._body, samples, language)
        text = await self._ask(body, deadline)
        audio_s = len(samples) / STT_RATE_HZ
        segments = invention.believable([invention.Segment(text, audio_s)])
        return Transcript(
            text=" ".join(segment.text for segment in segments),
            confidence=invention.confidence(segments),
            audio_ms=round(audio_s * 1000),
            elapsed_ms=round((time.monotonic() - begun) * 1000),
        )

    def _body(self, samples: NDArray[np.int16], language: Language) -> dict[str, Any]:
        audio = {"mimeType": "audio/wav", "data": base64.b64encode(wav_of(samples)).decode()}
        max_tokens = TOKENS_LEAST + math.ceil(len(samples) / STT_RATE_HZ * TOKENS_PER_S)
        return {
            "contents": [{"role": "user", "parts": [{"text": request(language)}, {"inlineData": audio}]}],
            "generationConfig": {"temperature": 0.0, **answer_config(max_tokens, self._thinking_tokens)},
        }

    async def _ask(self, body: Mapping[str, Any], deadline: Deadline) -> str:
        generated = await generate(ENGINE, self._target, body, deadline)
        if generated.refusal and not generated.text:
            raise refused(ENGINE, generated)
        return _heard(generated)


def request(language: Language) -> str:
    """Return the words that ask for a transcript in ``language``."""
    return (
        f"Transcribe exactly what is said in this recording, in {_NAMES[language]}, word for word. "
        "Answer with the transcript and nothing else: no comment, no translation, no quotation marks, no time stamps, "
        "no names of sounds or speakers. If nothing is said, answer with an empty text."
    )


def _heard(generated: Generated) -> str:
    if not generated.candidates:
        raise EngineFault(ENGINE, "expected a transcript, got an answer without candidates")
    return generated.text.strip()
