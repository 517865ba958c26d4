"""The ear: candidate audio in, facts about speech out.

Audio goes through a bounded stream to voice activity detection, window by window; the endpoint, which counts samples,
says when speech starts, pauses and ends; segments are cut from the tape and handed to the recogniser.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from engines.errors import EngineFault
from engines.protocols import STT_RATE_HZ, VAD_WINDOW_SAMPLES, VoiceActivityStream
from server.exam.facts import (
    Fact,
    ListeningStopped,
    PendingHeard,
    SegmentClosed,
    SpeechPaused,
    SpeechStarted,
    SpeechSustained,
    TurnEnded,
)
from server.live.recogniser import Recogniser, Segment
from server.live.tape import Tape
from server.speech import endpoint
from server.speech.pcm import Reframer, to_float32

BYTES_PER_S = STT_RATE_HZ * 2
STREAM_S = 5.0
"""Audio that waits between socket and detection; when it is full the reader waits, and the socket pushes back."""

PENDING_S = 60.0
"""Audio that waits for recognition; when there is more, detection waits."""


class BacklogExceeded(Exception):
    """Audio has waited longer than the limit between socket and detection."""


class _Mark(Enum):
    CLOSE = auto()
    STOP = auto()
    ACTIVITY_START = auto()
    ACTIVITY_END = auto()


class Ear:
    """One session's ear; :meth:`run` is its task. ``post`` takes each fact at once."""

    def __init__(
        self,
        vad: VoiceActivityStream,
        recogniser: Recogniser,
        rules: endpoint.EndpointRules,
        post: Callable[[Fact], None],
        max_backlog_s: float,
    ) -> None:
        self._vad = vad
        self._recogniser = recogniser
        self._endpoint = endpoint.Endpoint(rules)
        self._post = post
        self._max_backlog_s = max_backlog_s
        self._reframer = Reframer(VAD_WINDOW_SAMPLES)
        self._tape = Tape()
        self._stream: asyncio.Queue[bytes | _Mark] = asyncio.Queue()  # bounded by hear(), in bytes
        self._waiting_bytes = 0
        self._dropped_bytes = 0
        self._room = asyncio.Event()
        self._deaf = False
        self._stopped = False
        self._segments = 0

    async def hear(self, pcm: bytes) -> None:
        """Take candidate audio, s16le mono at 16 kHz; dropped while an interruption is in progress.

        Waits while the stream is full. Raises :class:`BacklogExceeded` when it stays full for the backlog's limit.
        """
        if not self._deaf:
            await self._wait_for_room()
        if self._deaf:  # or it has become so meanwhile
            self._dropped_bytes += len(pcm)
            return
        if self._dropped_bytes % 2:
            pcm = b"\0" + pcm  # for the half of a sample that was dropped: the next one begins where it should
        self._dropped_bytes = 0
        self._waiting_bytes += len(pcm)
        self._stream.put_nowait(pcm)

    def activity_start(self) -> None:
        """Push-to-talk: the candidate's turn begins."""
        self._mark(_Mark.ACTIVITY_START)

    def activity_end(self) -> None:
        """Push-to-talk: the candidate's turn is over."""
        self._mark(_Mark.ACTIVITY_END)

    def pause(self) -> None:
        """Close the open segment and drop audio until :meth:`resume`."""
        self._mark(_Mark.CLOSE)
        self._deaf = True

    def resume(self) -> None:
        """Listen again."""
        self._deaf = self._stopped

    def stop(self) -> None:
        """Close the open segment and take no more audio, for good; ``PendingHeard`` comes when all its text has."""
        if self._stopped:
            return
        self._mark(_Mark.STOP)
        self._deaf = self._stopped = True
        open_samples = self._waiting_bytes // 2 + self._tape.end - self._endpoint.open_start
        self._post(ListeningStopped(self._recogniser.expected_s(open_samples)))

    def take_stock(self, turn: int) -> None:
        """Have the open segment recognised as far as it goes."""
        heard = self._endpoint.segment_open
        start = self._endpoint.open_start if heard else self._tape.end
        self._recogniser.take_stock(turn, start, self._tape.cut(start, self._tape.end))

    def drop_stock(self, turn: int) -> None:
        """Nobody wants to know any more what the open segment held."""
        self._recogniser.drop_stock(turn)

    async def run(self) -> None:
        """Listen until stopped and everything pending was heard.

        Raises the detector's ``EngineFault``; the segment that was open has then been closed.
        """
        try:
            await self._detect_until_stopped()
        finally:
            self._vad.close()
            self._perform(self._endpoint.flush())
        await self._recogniser.drained()
        self._post(PendingHeard())

    async def _detect_until_stopped(self) -> None:
        while (item := await self._stream.get()) is not _Mark.STOP:
            if isinstance(item, bytes):
                await self._detect(self._reframer.push(item))
                self._waiting_bytes -= len(item)
                self._room.set()
            else:
                self._obey(item)
        if (rest := self._reframer.flush()) is not None:
            await self._detect([rest])

    async def _wait_for_room(self) -> None:
        try:
            async with asyncio.timeout(self._max_backlog_s):
                while self._waiting_bytes > STREAM_S * BYTES_PER_S:
                    self._room.clear()
                    await self._room.wait()
        except TimeoutError:
            raise BacklogExceeded from None

    def _mark(self, mark: _Mark) -> None:
        if not self._stopped:
            self._stream.put_nowait(mark)

    def _obey(self, mark: _Mark) -> None:
        match mark:
            case _Mark.CLOSE:
                self._perform(self._endpoint.flush())
            case _Mark.ACTIVITY_START:
                self._perform(self._endpoint.start())
            case _Mark.ACTIVITY_END:
                self._perform(self._endpoint.end())

    async def _detect(self, windows: list[NDArray[np.int16]]) -> None:
        for window in windows:
            probability = await self._probability(to_float32(window))
            self._tape.record(window)
            self._perform(self._endpoint.push(probability))
            self._tape.forget(self._endpoint.open_start)
            await self._recogniser.wait_for_room(PENDING_S)

    async def _probability(self, window: NDArray[np.float32]) -> float:
        try:
            return await self._vad.probability(window)
        except EngineFault:  # the stream is as it was before the window: an engine's failure is tried once more
            return await self._vad.probability(window)

    def _perform(self, events: list[endpoint.Event]) -> None:
        for event in events:
            self._report(event)

    def _report(self, event: endpoint.Event) -> None:
        match event:
            case endpoint.Started(at):
                self._post(SpeechStarted(_ms(at)))
            case endpoint.Sustained(at):
                self._post(SpeechSustained(_ms(at)))
            case endpoint.Paused(at):
                self._post(SpeechPaused(_ms(at)))
            case endpoint.SegmentEnded(start, end, speech_samples, pauses):
                self._segments += 1
                self._post(SegmentClosed(self._segments, _ms(start), _ms(end)))
                samples = self._tape.cut(start, end)
                self._recogniser.submit(Segment(self._segments, start, end, speech_samples, pauses, samples))
            case endpoint.TurnEnded(at):
                self._post(TurnEnded(self._segments, _ms(at)))


def _ms(offset: int) -> int:
    return offset * 1000 // STT_RATE_HZ
