"""Text to speech behind ``POST {base}/audio/speech``: raw PCM, s16le mono at 24 kHz, streamed as it is made."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

import numpy as np
from numpy.typing import NDArray

from engines.audio import samples_of
from engines.deadline import Deadline, unhurried
from engines.errors import EngineFault, EngineTruncated
from engines.http import Target

ENGINE = "tts"

BLOCK_S = 30.0
"""How long the next block of audio may take: a long clause on a small machine, after another session's."""


FILE_SIGNS = (b"RIFF", b"ID3", b"OggS", b"fLaC", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2")
"""How WAV, MP3, Ogg and FLAC files begin: played as samples, they are noise."""


class NotSamples(EngineFault):
    """The voice came as a file, where raw samples were asked for."""


class OpenAITextToSpeech:
    """See :class:`engines.protocols.TextToSpeech`. ``speed`` is 0.5 to 2; ``block_s`` bounds the wait for a block."""

    def __init__(
        self,
        target: Target,
        voice: str,
        *,
        speed: float = 1.0,
        block_s: float = BLOCK_S,
    ) -> None:
        self._target = target
        self._voice = voice
        self._speed = speed
        self._block_s = block_s

    def speak(self, text: str, *, timeout_s: float) -> AsyncGenerator[NDArray[np.int16]]:
        """Yield mono audio at 24 kHz, blocks of shape [n], as they come."""
        deadline = Deadline(timeout_s)
        return unhurried(self._blocks(text, deadline), deadline)

    async def _blocks(self, text: str, deadline: Deadline) -> AsyncGenerator[NDArray[np.int16]]:
        asked = {
            "model": self._target.model,
            "input": text,
            "voice": self._voice,
            "speed": self._speed,
            "response_format": "pcm",
        }
        async with self._target.post(ENGINE, "audio/speech", deadline, self._block_s, json=asked) as response:
            kind = response.headers.get("content-type", "audio/pcm")
            if not kind.startswith(("audio/", "application/octet-stream")):
                raise EngineFault(ENGINE, "expected audio, got an answer of another type")
            odd, begun = b"", False
            async with aclosing(cast(AsyncGenerator[bytes], response.aiter_bytes())) as parts:
                while True:
                    async with deadline.within(self._block_s):
                        part = await anext(parts, None)
                    if part is None:
                        break
                    pcm = odd + part
                    if not begun and pcm.startswith(FILE_SIGNS):
                        raise NotSamples(ENGINE, "expected raw samples, got a file (WAV, MP3, Ogg or FLAC)")
                    whole = len(pcm) // 2 * 2
                    odd = pcm[whole:]
                    if whole:
                        begun = True
                        yield samples_of(pcm[:whole])
        if not begun:
            raise EngineTruncated(ENGINE, "expected audio, the answer ended with none")
