"""Text to speech by ``POST {base}/models/{model}:generateContent``: the whole text's audio in one answer.

The audio is s16le whatever its type says (``audio/L16`` is big-endian by RFC 3551, Gemini's is not), at the rate that
the type names.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engines.audio import at_voice_rate, samples_of
from engines.deadline import Deadline
from engines.errors import EngineFault, EngineTruncated
from engines.gemini.wire import generate, refused, with_goog_key
from engines.http import Target

ENGINE = "tts"

_PCM: Final = re.compile(r"audio/(?:l16|pcm)\b.*?;\s*rate=(\d{4,6})\b.*", re.IGNORECASE)


class GeminiTextToSpeech:
    """See :class:`engines.protocols.TextToSpeech`. ``voice`` is the name of a prebuilt voice."""

    def __init__(self, target: Target, voice: str) -> None:
        self._target = with_goog_key(target)
        self._voice = voice

    async def speak(self, text: str, *, timeout_s: float) -> AsyncGenerator[NDArray[np.int16]]:
        """Yield mono audio at 24 kHz, one block of shape [n]."""
        yield await self._block(text, Deadline(timeout_s))

    async def _block(self, text: str, deadline: Deadline) -> NDArray[np.int16]:
        generated = await generate(ENGINE, self._target, self._body(text), deadline)
        audio = generated.audio(ENGINE)
        if not audio and generated.refusal:
            raise refused(ENGINE, generated)
        samples = await asyncio.to_thread(_joined, audio)
        if not len(samples):
            raise EngineTruncated(ENGINE, "expected audio, the answer ended with none")
        return samples

    def _body(self, text: str) -> dict[str, Any]:
        return {
            "contents": [{"role": "user", "parts": [{"text": text}]}],
            "generationConfig": {
                "responseModalities": ["AUDIO"],
                "speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": self._voice}}},
            },
        }


def _joined(audio: list[tuple[str, bytes]]) -> NDArray[np.int16]:
    """Return the samples of all parts at 24 kHz, shape [n]; parts of one rate are joined before they are resampled."""
    rates = {_rate_hz(mime_type) for mime_type, _ in audio}
    if not rates:
        return np.zeros(0, np.int16)
    if len(rates) > 1:
        raise EngineFault(ENGINE, f"expected audio of one rate, got {len(rates)}")
    return at_voice_rate(samples_of(b"".join(pcm for _, pcm in audio)), rates.pop())


def _rate_hz(mime_type: str) -> int:
    found = _PCM.fullmatch(mime_type)
    if not found or not 8_000 <= int(found[1]) <= 192_000:
        raise EngineFault(ENGINE, "expected audio/L16 or audio/pcm with its rate, got another type")
    return int(found[1])
