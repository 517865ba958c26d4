"""One real inference on each engine: what makes it count as ready, and what brings it back after it was skipped.

Each proof returns what it found, in words for people, and raises :class:`engines.errors.EngineError`; ``limit_s`` is
what the inference may take.

``fr.flac`` and ``en.flac`` are :data:`SENTENCE` spoken by Kokoro, so that hearing is proven without a voice.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Final

import numpy as np
import soundfile
from numpy.typing import NDArray

from engines.errors import EngineFault, EngineMisconfigured
from engines.protocols import (
    TTS_RATE_HZ,
    VAD_WINDOW_SAMPLES,
    Delta,
    Language,
    LanguageModel,
    Message,
    SpeechToText,
    TextToSpeech,
    VoiceActivity,
)

SENTENCE: Final[Mapping[Language, str]] = {
    "fr": "Bonjour, je voudrais vous poser une question.",
    "en": "Hello, I would like to ask you a question.",
}

TIMEOUT_S: Final = 60.0
"""One small inference takes seconds at most; a slow or busy machine may need many times that."""

MAX_TOKENS: Final = 256
"""Room for an answer to begin, after what a reasoning model thinks about it."""

HEARD_PART: Final = 1 / 3
"""Part of the sentence's words that must be heard: a small model misses some, one of another language most."""

SPEECH_PROBABILITY: Final = 0.5
"""Silero's own threshold of speech."""


def recording(language: Language) -> NDArray[np.int16]:
    """Return the sentence as it is spoken, mono at 16 kHz, shape [n]."""
    samples, _ = soundfile.read(Path(__file__).with_name(f"{language}.flac"), dtype="int16")
    return np.asarray(samples, np.int16)


async def prove_vad(vad: VoiceActivity, language: Language) -> str:
    """Have the sentence noticed."""
    samples = (recording(language) / 32_768).astype(np.float32)
    stream = vad.open()
    try:
        windows = samples[: len(samples) // VAD_WINDOW_SAMPLES * VAD_WINDOW_SAMPLES].reshape(-1, VAD_WINDOW_SAMPLES)
        highest = max([await stream.probability(window) for window in windows])
    finally:
        stream.close()
    if highest < SPEECH_PROBABILITY:
        raise EngineFault("vad", f"expected speech to be noticed, its probability was {highest:.2f} at most")
    return f"speech noticed, its probability was {highest:.2f}"


async def prove_stt(stt: SpeechToText, language: Language, limit_s: float = TIMEOUT_S) -> str:
    """Have the sentence understood."""
    begun = time.monotonic()
    heard = await stt.transcribe(recording(language), language=language, timeout_s=limit_s)
    if not heard.text:
        raise EngineFault("stt", "expected a sentence to be understood, got no text")
    wanted = _words(SENTENCE[language])
    found = len(wanted & _words(heard.text))
    if found < HEARD_PART * len(wanted):
        raise EngineMisconfigured(
            "stt",
            f"expected a sentence in {language!r} to be understood, got {found} of its {len(wanted)} words: "
            "the model, or its server's own setting, is of another language",
        )
    return f"understood {found} of {len(wanted)} words, {time.monotonic() - begun:.1f} s"


async def prove_llm(llm: LanguageModel, language: Language, limit_s: float = TIMEOUT_S) -> str:
    """Have an answer begun."""
    begun = time.monotonic()
    asked = [Message("user", SENTENCE[language])]
    async with aclosing(llm.stream(asked, max_tokens=MAX_TOKENS, timeout_s=limit_s)) as parts:
        async for part in parts:
            if isinstance(part, Delta):
                return f"first text after {time.monotonic() - begun:.1f} s"
    raise EngineFault("llm", "expected text, got none")


async def prove_tts(tts: TextToSpeech, language: Language, limit_s: float = TIMEOUT_S) -> str:
    """Have the sentence spoken."""
    begun = time.monotonic()
    async with aclosing(tts.speak(SENTENCE[language], timeout_s=limit_s)) as blocks:
        spoken = [block async for block in blocks]
    if not any(block.any() for block in spoken):
        raise EngineFault("tts", "expected a sentence to be heard, got silence")
    return f"{sum(map(len, spoken)) / TTS_RATE_HZ:.1f} s of audio in {time.monotonic() - begun:.1f} s"


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
