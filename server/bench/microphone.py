"""A microphone that is always on: a chunk every 20 ms on an absolute schedule, of voice or of silence.

A chunk leaves when its last sample has been spoken. A chunk that is late delays no later one.
"""

from __future__ import annotations

import asyncio
import itertools

import numpy as np
from numpy.typing import NDArray

from server.bench.sent import Sent
from server.client.errors import ExamOver
from server.client.session import CANDIDATE_RATE_HZ, ExamClient

CHUNK_SAMPLES = CANDIDATE_RATE_HZ // 50
CHUNK_S = CHUNK_SAMPLES / CANDIDATE_RATE_HZ


class Microphone:
    """One candidate's; :meth:`run` is its task. ``muted`` is what a client does while an interruption lasts."""

    def __init__(self, client: ExamClient) -> None:
        self.sent = Sent()
        self.muted = False
        self._client = client
        self._voice = np.zeros(0, np.int16)
        self._silent = asyncio.Event()
        self._silent.set()

    def speak(self, voice: NDArray[np.int16]) -> None:
        """Speak ``voice``, int16 at 16 kHz, shape [n], after what is being spoken."""
        self._voice = np.concatenate((self._voice, voice))
        self._silent.clear()

    async def silent(self) -> None:
        """Wait until all voice has been sent."""
        await self._silent.wait()

    async def run(self) -> None:
        """Send until cancelled, or until the exam is over."""
        begun = self._client.elapsed_s()
        try:
            for number in itertools.count(1):
                due = begun + number * CHUNK_S
                await asyncio.sleep(max(0.0, due - self._client.elapsed_s()))
                at = self._client.elapsed_s()
                self.sent.tick(due, at)
                if not self.muted:
                    await self._send(at)
        except ExamOver:
            return

    async def _send(self, at_s: float) -> None:
        voice, self._voice = self._voice[:CHUNK_SAMPLES], self._voice[CHUNK_SAMPLES:]
        chunk = np.zeros(CHUNK_SAMPLES, np.int16)
        chunk[: voice.size] = voice
        await self._client.send_pcm(chunk)
        self.sent.note(chunk, at_s)
        if not self._voice.size:
            self._silent.set()
