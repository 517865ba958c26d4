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
"""Deadline of a turn, unless told: what a segment may take beyond four times its expected time."""

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
    start: int
    samples: NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class _Known:
    """What was heard from ``start`` to ``end``, sample offsets at 16 kHz."""

    start: int
    end: int
    heard: Transcript


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
    """One queue, one request at a time; :meth:`run` is its task. ``pace`` is shared by the server's sessions.

    ``patience_s`` is what a segment may take beyond four times its expected time: the deadline of a turn. A worker that
    crashed should be back within that.
    """

    def __init__(
        self,
        stt: SpeechToText,
        language: Language,
        post: Callable[[Fact], None],
        stages: Stages,
        pace: Pace,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._stt = stt
        self._language = language
        self._post = post
        self._stages = stages
        self._queue: asyncio.Queue[Segment | _Stock] = asyncio.Queue()
        self._pace = pace
        self._patience_s = patience_s
        self._pending = 0
        self._room = asyncio.Event()
        self._room.set()
        self._taking: tuple[int, asyncio.Task[Transcript | None]] | None = None
        self._dropped: set[int] = set()
        self._known: _Known | None = None

    def submit(self, segment: Segment) -> None:
        """Queue a segment; its ``UtteranceHeard`` comes whatever happens."""
        self._enqueue(segment)

    def take_stock(self, turn: int, start: int, samples: NDArray[np.int16]) -> None:
        """Queue the open segment, which begins at ``start``, as far as it goes: ``samples``, shape [n].

        Its ``StockTaken`` comes after the text of what was before it. A segment that is closed without having become
        longer has its text from this, and is not recognised again.
        """
        self._enqueue(_Stock(turn, start, samples))

    def drop_stock(self, turn: int) -> None:
        """Cancel the stock of ``turn``, if it is still to be taken: nothing is told of it."""
        self._dropped.add(turn)
        if self._taking and self._taking[0] == turn:
            self._taking[1].cancel()

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
        if isinstance(item, _Stock):
            await self._take(item)
            return
        heard = self._already_heard(item)
        if heard is None and len(item.samples):
            heard = await self._transcribe(item.samples)
        self._post(_utterance(item, heard))

    async def _take(self, stock: _Stock) -> None:
        if stock.turn in self._dropped:
            return
        heard = None
        if len(stock.samples):
            heard = await self._unless_dropped(stock)
            if stock.turn in self._dropped:
                return
            if heard:
                self._known = _Known(stock.start, stock.start + len(stock.samples), heard)
        self._post(StockTaken(stock.turn, heard.text if heard else ""))

    async def _unless_dropped(self, stock: _Stock) -> Transcript | None:
        """Return what was heard; whoever drops the stock cancels the request."""
        task = asyncio.create_task(self._transcribe(stock.samples), name=f"stock-{stock.turn}")
        self._taking = stock.turn, task
        try:
            await asyncio.wait((task,))
            return None if task.cancelled() else task.result()
        finally:
            self._taking = None
            task.cancel()

    def _already_heard(self, segment: Segment) -> Transcript | None:
        """Return what was heard when stock of this very segment was taken, if it has not gone on since."""
        known, self._known = self._known, None
        return known.heard if known and known.start == segment.start and segment.end <= known.end else None

    async def _transcribe(self, samples: NDArray[np.int16]) -> Transcript | None:
        audio_s = len(samples) / STT_RATE_HZ
        begun = self._stages.now()
        timeout_s = self._patience_s + 4 * audio_s * self._pace.work_per_second
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
