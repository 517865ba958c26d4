"""The candidate's audio, kept for as long as a segment of it may still be cut out."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray


class Tape:
    """A stretch of one stream's audio, addressed by sample offset since the stream began.

    Memory is bounded by the caller, who forgets what no segment can need any more.
    """

    def __init__(self) -> None:
        self._windows: deque[NDArray[np.int16]] = deque()
        self._start = 0
        self._end = 0

    @property
    def end(self) -> int:
        """Offset of the next sample: how many were recorded so far."""
        return self._end

    def record(self, window: NDArray[np.int16]) -> None:
        """Append ``window``, shape [n], int16 at 16 kHz."""
        self._windows.append(window)
        self._end += len(window)

    def cut(self, start: int, end: int) -> NDArray[np.int16]:
        """Return a copy of the samples from ``start`` to ``end`` (exclusive), as far as they are still kept."""
        start, end = max(start, self._start), min(end, self._end)
        if start >= end:
            return np.zeros(0, dtype=np.int16)
        kept = np.concatenate(self._windows)
        return kept[start - self._start : end - self._start].copy()

    def forget(self, before: int) -> None:
        """Drop whole windows that end at or before the offset ``before``."""
        while self._windows and self._start + len(self._windows[0]) <= before:
            self._start += len(self._windows.popleft())
