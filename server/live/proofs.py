"""One real inference on each engine: what makes it count as ready."""

from __future__ import annotations

from contextlib import aclosing

import numpy as np
import soxr
from numpy.typing import NDArray

from engines.errors import EngineFault
from engines.local import PROBE_TEXT
from engines.protocols import (
    STT_RATE_HZ,
    TTS_RATE_HZ,
    Delta,
    Language,
    LanguageModel,
    Message,
    SpeechToText,
    TextToSpeech,
)

TIMEOUT_S = 60.0
"""One small inference takes seconds at most; a slow or busy machine may need many times that."""


async def prove_tts(tts: TextToSpeech, language: Language) -> NDArray[np.int16]:
    """Have a greeting spoken; return its audio, int16 at 24 kHz. Raises :class:`engines.errors.EngineError`."""
    async with aclosing(tts.speak(PROBE_TEXT[language], timeout_s=TIMEOUT_S)) as blocks:
        spoken = [block async for block in blocks]
    audio: NDArray[np.int16] = np.concatenate(spoken) if spoken else np.zeros(0, np.int16)
    if not audio.any():
        raise EngineFault("tts", "expected a greeting to be heard, got silence")
    return audio


async def prove_stt(stt: SpeechToText, language: Language, greeting: NDArray[np.int16]) -> None:
    """Have the spoken ``greeting`` understood, int16 at 24 kHz. Raises :class:`engines.errors.EngineError`."""
    samples = soxr.resample(greeting, TTS_RATE_HZ, STT_RATE_HZ)
    heard = await stt.transcribe(samples, language=language, timeout_s=TIMEOUT_S)
    if not heard.text:
        raise EngineFault("stt", "expected a greeting to be understood, got no text")


async def prove_llm(llm: LanguageModel) -> None:
    """Have a few tokens written. Raises :class:`engines.errors.EngineError`."""
    async with aclosing(llm.stream([Message("user", "Hello")], max_tokens=4, timeout_s=TIMEOUT_S)) as parts:
        async for part in parts:
            if isinstance(part, Delta):
                return
    raise EngineFault("llm", "expected text, got none")
