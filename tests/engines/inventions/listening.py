"""The speech worker of one language, a real process, and what is heard through it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import soxr
from numpy.typing import NDArray

from engines.http import Target, open_client
from engines.local import SpeechWorkerSpec, speech_worker
from engines.openai.stt import OpenAISpeechToText
from engines.protocols import STT_RATE_HZ, TTS_RATE_HZ, Language
from engines.silero import SileroVoiceActivity
from server.exam.facts import Fact, UtteranceHeard
from server.live.ear import Ear
from server.live.recogniser import Pace, Recogniser
from server.live.stages import Stages
from server.speech.endpoint import EndpointRules

Audio = NDArray[np.float32]

CHUNK_BYTES = STT_RATE_HZ // 10 * 2


@dataclass(frozen=True)
class Listening:
    """What is heard in ``language``. Audio is mono at 16 kHz, float32 in [-1, 1], shape [n]."""

    language: Language
    vad: Path
    base_url: str
    runner: asyncio.Runner

    def alone(self, audio: Audio) -> str:
        """Return what is left when ``audio`` goes straight to recognition: no voice detection before it."""
        return self.runner.run(self._alone(audio))

    def in_a_session(self, audio: Audio) -> list[UtteranceHeard]:
        """Return what a session's ear hears in ``audio``."""
        return self.runner.run(self._in_a_session(audio))

    def spoken(self, text: str, voice: str, speed: float) -> Audio:
        """Return ``text`` spoken by Kokoro, its peak at 0.4."""
        asked = {"input": text, "voice": voice, "speed": speed, "response_format": "pcm"}
        answer = httpx.post(f"{self.base_url}/audio/speech", json=asked, timeout=60).raise_for_status()
        voiced = soxr.resample(np.frombuffer(answer.content, "<i2").astype(np.float32), TTS_RATE_HZ, STT_RATE_HZ)
        return (0.4 * voiced / np.abs(voiced).max()).astype(np.float32)

    async def _alone(self, audio: Audio) -> str:
        async with open_client(self.base_url) as client:
            stt = OpenAISpeechToText(Target(client, self.base_url, "whisper"))
            return (await stt.transcribe(s16(audio), language=self.language, timeout_s=120)).text

    async def _in_a_session(self, audio: Audio) -> list[UtteranceHeard]:
        facts: list[Fact] = []
        async with open_client(self.base_url) as client:
            stt = OpenAISpeechToText(Target(client, self.base_url, "whisper"))
            stages = Stages(time.monotonic, lambda stage, seconds: None)
            recogniser = Recogniser(stt, self.language, facts.append, stages, Pace(), patience_s=120)
            vad = SileroVoiceActivity(self.vad).open()
            ear = Ear(vad, recogniser, EndpointRules(), facts.append, max_backlog_s=120)
            recognising = asyncio.create_task(recogniser.run())
            listening = asyncio.create_task(ear.run())
            pcm = s16(audio).astype("<i2").tobytes()
            for at in range(0, len(pcm), CHUNK_BYTES):
                await ear.hear(pcm[at : at + CHUNK_BYTES])
            ear.stop()
            await listening
            recognising.cancel()
            await asyncio.wait([recognising])
        return [fact for fact in facts if isinstance(fact, UtteranceHeard)]


@contextmanager
def listening(language: Language, models: dict[str, Path], voice: str) -> Iterator[Listening]:
    """Start the worker with the models of a profile, by role; stop it at the end."""
    spec = SpeechWorkerSpec(models["stt"], models["tts"], models["voices"], models["vad"], language, voice)
    with asyncio.Runner() as runner:
        worker = speech_worker(spec)
        running = worker.running()
        runner.run(running.__aenter__())
        try:
            runner.run(worker.ready(90))
            yield Listening(language, models["vad"], worker.base_url, runner)
        finally:
            runner.run(running.__aexit__(None, None, None))


def s16(audio: Audio) -> NDArray[np.int16]:
    """Return ``audio`` as 16-bit samples."""
    return np.clip(np.round(audio * 32_768), -32_768, 32_767).astype(np.int16)
