"""The kinds of engine over several backends; see :mod:`engines.resilience`.

What needs no engine is answered here, so that no adapter is ever given it: no samples, a text without letter or digit.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engines.protocols import (
    Delta,
    Language,
    LanguageModel,
    Message,
    SpeechToText,
    TextToSpeech,
    Transcript,
    Usage,
)
from engines.resilience import Resilience


class ResilientSpeechToText:
    """See :class:`engines.protocols.SpeechToText`."""

    def __init__(self, resilience: Resilience[SpeechToText]) -> None:
        self._resilience = resilience

    async def transcribe(
        self, samples: NDArray[np.int16], *, language: Language, prompt: str = "", timeout_s: float
    ) -> Transcript:
        """Transcribe ``samples``, mono at 16 kHz, shape [n], by the first backend that can; without any, ask nobody."""
        if not len(samples):
            return Transcript("", confidence=0.0, audio_ms=0, elapsed_ms=0)

        async def ask(engine: SpeechToText, left_s: float) -> Transcript:
            return await engine.transcribe(samples, language=language, prompt=prompt, timeout_s=left_s)

        return await self._resilience.call(ask, timeout_s)


class ResilientLanguageModel:
    """See :class:`engines.protocols.LanguageModel`."""

    def __init__(self, resilience: Resilience[LanguageModel]) -> None:
        self._resilience = resilience

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.7,
        schema: Mapping[str, Any] | None = None,
        timeout_s: float,
    ) -> AsyncGenerator[Delta | Usage]:
        """Yield the answer of the first backend that begins one."""

        def ask(engine: LanguageModel, left_s: float) -> AsyncGenerator[Delta | Usage]:
            return engine.stream(
                messages, max_tokens=max_tokens, temperature=temperature, schema=schema, timeout_s=left_s
            )

        return self._resilience.stream(ask, timeout_s)


class ResilientTextToSpeech:
    """See :class:`engines.protocols.TextToSpeech`."""

    def __init__(self, resilience: Resilience[TextToSpeech]) -> None:
        self._resilience = resilience

    async def speak(self, text: str, *, timeout_s: float) -> AsyncGenerator[NDArray[np.int16]]:
        """Yield the audio of the first backend that begins to speak, mono at 24 kHz, blocks of shape [n].

        A text without letter or digit asks nobody.
        """
        if not any(map(str.isalnum, text)):
            return

        def ask(engine: TextToSpeech, left_s: float) -> AsyncGenerator[NDArray[np.int16]]:
            return engine.speak(text, timeout_s=left_s)

        async with aclosing(self._resilience.stream(ask, timeout_s)) as blocks:
            async for block in blocks:
                yield block
