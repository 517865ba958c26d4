"""A package of somebody else's: Whisper in the caller's own process, as a style of relance."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import numpy as np
from faster_whisper import WhisperModel
from numpy.typing import NDArray

from engines.errors import EngineTimeout
from engines.protocols import STT_RATE_HZ, Language, LanguageModel, SpeechToText, Transcript
from engines.setup import Setup


class Options(msgspec.Struct, frozen=True):
    model_dir: str


class AcmeSpeechToText:
    def __init__(self, model: WhisperModel) -> None:
        self._model = model

    async def transcribe(
        self, samples: NDArray[np.int16], *, language: Language, prompt: str = "", timeout_s: float
    ) -> Transcript:
        begun = time.monotonic()
        try:
            async with asyncio.timeout(timeout_s):
                text, logprob = await asyncio.to_thread(self._heard, samples / np.float32(32_768), language)
        except TimeoutError as error:
            raise EngineTimeout("stt", "expected a transcript, the time was up") from error
        audio_ms = round(len(samples) / STT_RATE_HZ * 1000)
        return Transcript(text, math.exp(logprob), audio_ms, round((time.monotonic() - begun) * 1000))

    def _heard(self, samples: NDArray[np.float32], language: Language) -> tuple[str, float]:
        segments, _ = self._model.transcribe(samples.astype(np.float32), language=language, beam_size=1)
        heard = [segment for segment in segments if segment.no_speech_prob < 0.6]
        return " ".join(each.text.strip() for each in heard), min((each.avg_logprob for each in heard), default=0.0)


@asynccontextmanager
async def speech_to_text(setup: Setup) -> AsyncIterator[SpeechToText]:
    options = setup.read_options(Options)
    yield AcmeSpeechToText(await asyncio.to_thread(WhisperModel, options.model_dir, "cpu", compute_type="int8"))


@asynccontextmanager
async def failing(setup: Setup) -> AsyncIterator[LanguageModel]:
    raise RuntimeError("no licence found")
    yield
