"""Segments of one stream, as windows: opened with a pre-roll, cut at a dip when too long, closed with a tail.

Positions are sample offsets since the stream began, multiples of 512.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

WINDOW_SAMPLES = 512
"""Samples in one window: Silero's at 16 kHz (32 ms)."""

DIP_WINDOWS = 3
"""The shortest silence, in windows (96 ms), that a long segment is cut in: shorter ones are stops within words."""


@dataclass(frozen=True, slots=True)
class Window:
    """What voice activity detection said of one window: its probability, and whether it counts as voice."""

    probability: float
    voiced: bool


@dataclass(frozen=True, slots=True)
class Segment:
    """The windows from the offset ``start`` on."""

    start: int
    windows: tuple[Window, ...]

    @property
    def end(self) -> int:
        """Offset after the last window."""
        return self.start + len(self.windows) * WINDOW_SAMPLES

    @property
    def speech_samples(self) -> int:
        """How many of its samples are voiced."""
        return sum(window.voiced for window in self.windows) * WINDOW_SAMPLES

    def pauses(self, shortest: int) -> tuple[int, ...]:
        """Return the silences between its voiced windows of at least ``shortest`` samples: their lengths, in order."""
        voiced = [at for at, window in enumerate(self.windows) if window.voiced]
        within = self.windows[voiced[0] : voiced[-1] + 1] if voiced else ()
        lengths = (len(run) * WINDOW_SAMPLES for run in _silences(within))
        return tuple(length for length in lengths if length >= shortest)


class Segmenter:
    """Keeps the windows of the segment that is open, and enough of those before to open the next one.

    ``pre_roll``, ``longest`` and ``hard_longest`` are numbers of windows; ``onset`` is how far back an opening may lie.
    """

    def __init__(self, *, pre_roll: int, onset: int, longest: int, hard_longest: int) -> None:
        self._pre_roll = pre_roll
        self._longest = longest
        self._hard_longest = hard_longest
        self._recent: deque[Window] = deque(maxlen=onset + pre_roll)
        self._open: list[Window] | None = None
        self.position = 0

    @property
    def is_open(self) -> bool:
        """Whether a segment is open."""
        return self._open is not None

    @property
    def open_start(self) -> int:
        """Offset of the earliest sample that a segment still to be closed may hold."""
        kept = self._recent if self._open is None else self._open
        return self.position - len(kept) * WINDOW_SAMPLES

    def push(self, window: Window) -> None:
        """Take the next window."""
        self.position += WINDOW_SAMPLES
        (self._recent if self._open is None else self._open).append(window)

    def open(self, at: int) -> None:
        """Open a segment at the offset ``at``, less as much of the pre-roll as no other has; nothing if one is open."""
        if self._open is None:
            count = (self.position - at) // WINDOW_SAMPLES + self._pre_roll
            self._open = list(self._recent)[max(0, len(self._recent) - count) :]
            self._recent.clear()

    def cut_if_long(self) -> Segment | None:
        """Close the part of a segment that is too long which lies before its best dip; the rest stays open."""
        if self._open is None or len(self._open) < self._longest:
            return None
        count = _dip(self._open)
        if count is None and len(self._open) >= self._hard_longest:
            count = _faintest(self._open)
        return self._take(count) if count is not None else None

    def close(self, spare: int = 0) -> Segment | None:
        """Close the open segment without its last ``spare`` windows, which the next may hold; ``None`` if none is."""
        if self._open is None:
            return None
        closed = self._take(max(0, len(self._open) - spare))
        rest, self._open = self._open, None
        self._recent.extend(rest)
        return closed

    def forget(self) -> None:
        """Let no segment to come hold what is before this position."""
        self._recent.clear()

    def _take(self, count: int) -> Segment:
        start, windows = self.open_start, self._open or []
        self._open = windows[count:]
        return Segment(start, tuple(windows[:count]))


def _dip(windows: Sequence[Window]) -> int | None:
    """Return the middle of the longest silence in the second half, if one has :data:`DIP_WINDOWS`."""
    half = len(windows) // 2
    longest = max(_silences(windows[half:]), key=len, default=())
    return half + longest[len(longest) // 2] if len(longest) >= DIP_WINDOWS else None


def _faintest(windows: Sequence[Window]) -> int:
    """Return the least probable window of the second half: where to cut when there is no dip."""
    return min(range(len(windows) // 2, len(windows)), key=lambda at: windows[at].probability)


def _silences(windows: Sequence[Window]) -> Iterator[list[int]]:
    """Yield the indices of each run of windows without voice."""
    for voiced, run in groupby(range(len(windows)), key=lambda at: windows[at].voiced):
        if not voiced:
            yield list(run)
