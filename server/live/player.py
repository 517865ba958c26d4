"""Sends a turn's audio at the pace at which it is heard, and knows how much of it was.

Chunks of 100 ms go out at most one second ahead of real time. The client is taken to play without a pause from the
moment the first chunk was written; when synthesis falls behind, the position waits with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import numpy as np
from numpy.typing import NDArray

from engines.protocols import TTS_RATE_HZ

CHUNK_SAMPLES = TTS_RATE_HZ // 10
AHEAD_S = 1.0
TICK_S = 0.1
"""How often the position is reported while nothing is being sent."""

Clock = Callable[[], float]


class Playhead:
    """Where a client is in the audio that it was sent, from the times at which chunks were written.

    Pure: it is told the time. Positions are samples at 24 kHz.
    """

    def __init__(self) -> None:
        self.sent = 0
        self._dry_at = 0.0  # the moment at which the client will have played everything

    def wrote(self, samples: int, now: float) -> None:
        """``samples`` more were written at ``now``."""
        self._dry_at = max(self._dry_at, now) + samples / TTS_RATE_HZ
        self.sent += samples

    def ahead_s(self, now: float) -> float:
        """Seconds of audio that were written and not heard yet."""
        return max(0.0, self._dry_at - now)

    def heard(self, now: float) -> int:
        """Samples that have had the time to be heard."""
        return max(0, self.sent - round(self.ahead_s(now) * TTS_RATE_HZ))


class Player:
    """Plays one turn. ``write`` sends one chunk of int16 audio and says whether it went out."""

    def __init__(
        self,
        blocks: AsyncIterator[NDArray[np.int16]],
        write: Callable[[NDArray[np.int16]], Awaitable[bool]],
        clock: Clock,
        on_first: Callable[[], None],
        on_sent: Callable[[], None],
        on_heard: Callable[[int, bool], None],
    ) -> None:
        self._blocks = blocks
        self._write = write
        self._clock = clock
        self._on_first, self._on_sent, self._on_heard = on_first, on_sent, on_heard
        self._playhead = Playhead()

    @property
    def heard(self) -> int:
        """Samples heard so far."""
        return self._playhead.heard(self._clock())

    async def run(self) -> None:
        """Send everything, wait until it has been heard; cancelling stops at once."""
        async for chunk in rechunk(self._blocks, CHUNK_SAMPLES):
            await self._wait_until_ahead_by(AHEAD_S - len(chunk) / TTS_RATE_HZ)
            if not await self._write(chunk):
                return
            first = self._playhead.sent == 0
            self._playhead.wrote(len(chunk), self._clock())
            if first:
                self._on_first()
        self._on_sent()
        await self._wait_until_ahead_by(0.0)
        self._on_heard(self._playhead.sent, True)

    async def _wait_until_ahead_by(self, limit_s: float) -> None:
        while (ahead_s := self._playhead.ahead_s(self._clock())) > limit_s:
            await asyncio.sleep(min(TICK_S, ahead_s - limit_s))
            self._on_heard(self.heard, False)


async def rechunk(blocks: AsyncIterator[NDArray[np.int16]], samples: int) -> AsyncIterator[NDArray[np.int16]]:
    """Yield the same audio in chunks of ``samples``, the last one shorter; nothing is held back once it is full."""
    rest = np.zeros(0, dtype=np.int16)
    async for block in blocks:
        rest = np.concatenate((rest, block))
        while len(rest) >= samples:
            yield rest[:samples]
            rest = rest[samples:]
    if len(rest):
        yield rest
