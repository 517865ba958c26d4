"""Turns one session's segments into text, in the order in which they were spoken."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.errors import EngineError
from engines.protocols import STT_RATE_HZ, Language, SpeechToText, Transcript
from server.exam.facts import Fact, StockTaken, UtteranceHeard
from server.live.stages import Stages

PATIENCE_S = 20.0
"""What a segment may take beyond four times its expected time: a worker that crashed is back within that."""

FIRST_GUESS = 0.5
"""Seconds of work a second of audio is taken to need until it has been measured."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of candidate speech to recognise. Positions are sample offsets at 16 kHz; ``samples`` has shape [n]."""

    number: int
    start: int
    end: int
    speech_samples: int
    pauses: tuple[int, ...]
    samples: NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class _Stock:
    turn: int
    samples: NDArray[np.int16]


class Pace:
    """How fast recognition is on this server, and how much of all its sessions' audio waits for it.

    ``work_per_second`` is the wall-clock time that a second of audio has needed lately, the wait behind other sessions'
    segments included; ``pending`` are samples.
    """

    def __init__(self) -> None:
        self.work_per_second = FIRST_GUESS
        self.pending = 0

    def measured(self, audio_s: float, elapsed_s: float) -> None:
        """``audio_s`` seconds of audio took ``elapsed_s`` seconds."""
        self.work_per_second += 0.3 * (elapsed_s / audio_s - self.work_per_second)

    def expected_s(self, more_samples: int) -> float:
        """Seconds until all that is pending, and ``more_samples`` behind it, has its text."""
        return (self.pending + more_samples) / STT_RATE_HZ * self.work_per_second


class Recogniser:
    """One queue, one request at a time; :meth:`run` is its task. ``pace`` is shared by the server's sessions."""

    def __init__(
        self, stt: SpeechToText, language: Language, post: Callable[[Fact], None], stages: Stages, pace: Pace
    ) -> None:
        self._stt = stt
        self._language = language
        self._post = post
        self._stages = stages
        self._queue: asyncio.Queue[Segment | _Stock] = asyncio.Queue()
        self._pace = pace
        self._pending = 0
        self._room = asyncio.Event()
        self._room.set()

    def submit(self, segment: Segment) -> None:
        """Queue a segment; its ``UtteranceHeard`` comes whatever happens."""
        self._enqueue(segment)

    def take_stock(self, turn: int, samples: NDArray[np.int16]) -> None:
        """Queue the open segment as far as it goes; its ``StockTaken`` comes after the text of what was before it."""
        self._enqueue(_Stock(turn, samples))

    def expected_s(self, more_samples: int = 0) -> float:
        """Seconds that what is pending takes at the measured speed, ``more_samples`` included.

        The segments of other sessions count, since one engine serves them all.
        """
        return self._pace.expected_s(more_samples) if self._pending + more_samples else 0.0

    async def wait_for_room(self, limit_s: float) -> None:
        """Wait until less than ``limit_s`` seconds of audio are pending."""
        while self._pending > limit_s * STT_RATE_HZ:
            self._room.clear()
            await self._room.wait()

    async def drained(self) -> None:
        """Wait until everything that was queued has been reported."""
        await self._queue.join()

    async def run(self) -> None:
        """Recognise until cancelled."""
        try:
            await self._recognise_all()
        finally:
            self._count(-self._pending)

    async def _recognise_all(self) -> None:
        while True:
            item = await self._queue.get()
            try:
                await self._recognise(item)
            finally:
                self._count(-len(item.samples))
                self._room.set()
                self._queue.task_done()

    def _enqueue(self, item: Segment | _Stock) -> None:
        self._count(len(item.samples))
        self._queue.put_nowait(item)

    def _count(self, samples: int) -> None:
        self._pending += samples
        self._pace.pending += samples

    async def _recognise(self, item: Segment | _Stock) -> None:
        heard = await self._transcribe(item.samples) if len(item.samples) else None
        if isinstance(item, _Stock):
            self._post(StockTaken(item.turn, heard.text if heard else ""))
            return
        self._post(_utterance(item, heard))

    async def _transcribe(self, samples: NDArray[np.int16]) -> Transcript | None:
        audio_s = len(samples) / STT_RATE_HZ
        begun = self._stages.now()
        timeout_s = PATIENCE_S + 4 * audio_s * self._pace.work_per_second
        try:
            heard = await self._stt.transcribe(samples, language=self._language, timeout_s=timeout_s)
        except EngineError:
            return None
        elapsed_s = self._stages.now() - begun
        self._stages.took("stt", elapsed_s)
        self._pace.measured(audio_s, elapsed_s)
        return heard


def _utterance(segment: Segment, heard: Transcript | None) -> UtteranceHeard:
    return UtteranceHeard(
        segment=segment.number,
        text=heard.text if heard else "",
        start_ms=_ms(segment.start),
        end_ms=_ms(segment.end),
        speech_ms=_ms(segment.speech_samples),
        confidence=heard.confidence if heard else 0.0,
        lost=heard is None,
        pauses_ms=tuple(_ms(pause) for pause in segment.pauses),
    )


def _ms(samples: int) -> int:
    return samples * 1000 // STT_RATE_HZ
