"""What the client has sent: every sample, and when it left. Times are seconds since the handshake."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray


class Sent:
    """Grows with each chunk. A sample's sending time is that of its chunk, taken before the chunk was written.

    A tick is a moment at which a chunk was due, whether one was sent then or the microphone was muted.
    """

    def __init__(self) -> None:
        self._chunks: list[NDArray[np.int16]] = []
        self._ends: list[int] = []
        self._at_s: list[float] = []
        self._ticks_due_s: list[float] = []
        self._ticks_at_s: list[float] = []

    def note(self, chunk: NDArray[np.int16], at_s: float) -> None:
        """``chunk``, int16, shape [n], n > 0, began to be written at ``at_s``."""
        self._chunks.append(chunk)
        self._ends.append(self.samples + chunk.size)
        self._at_s.append(at_s)

    def tick(self, due_s: float, at_s: float) -> None:
        """The client was to be awake at ``due_s``, and was at ``at_s``."""
        self._ticks_due_s.append(due_s)
        self._ticks_at_s.append(at_s)

    @property
    def samples(self) -> int:
        """How many samples have been sent."""
        return self._ends[-1] if self._ends else 0

    def pcm(self) -> NDArray[np.int16]:
        """Return the whole stream, int16, shape [n]."""
        return np.concatenate([np.zeros(0, np.int16), *self._chunks])

    def time_of(self, position: int) -> float:
        """Return when the sample before ``position`` left: whoever has it knows of the stream up to ``position``.

        Raises :class:`ValueError` for a position outside the stream.
        """
        if not 0 < position <= self.samples:
            raise ValueError(f"expected a position in 1 to {self.samples}, got {position}")
        return self._at_s[bisect_right(self._ends, position - 1)]

    def lateness_s(self, from_s: float, to_s: float) -> float:
        """Return by how much it was late at most, from the last tick before ``from_s`` to the first after ``to_s``.

        After: a client that slept through the moment ``to_s`` shows it there.
        """
        first = max(0, bisect_right(self._ticks_at_s, from_s) - 1)
        last = bisect_right(self._ticks_at_s, to_s) + 1
        ticks = zip(self._ticks_due_s[first:last], self._ticks_at_s[first:last], strict=True)
        return max((at - due for due, at in ticks), default=0.0)
