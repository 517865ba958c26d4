"""Both voices of an exam on one timeline, as a listener in the room would have heard them.

The candidate is placed when it spoke, the examiner when its audio plays out: at its arrival, or after what is still
queued. ``interrupted`` empties the queue. Nothing is clipped: where the two voices together would pass full scale,
the whole recording is made quieter.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from server.client.events import EXAMINER_RATE_HZ, ExaminerAudio, Interrupted
from server.client.session import CANDIDATE_RATE_HZ, TimedEvent

_FULL_SCALE = 32_767


class Track:
    """One voice: pieces of int16 audio at ``rate_hz``, none before the end of the one before it."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._pieces: list[tuple[int, NDArray[np.int16]]] = []
        self._end = 0

    def place(self, at_s: float, pcm: NDArray[np.int16]) -> None:
        """Put ``pcm``, shape [n], at ``at_s`` seconds, or right after what is already there."""
        start = max(round(at_s * self._rate_hz), self._end)
        self._pieces.append((start, pcm))
        self._end = start + pcm.size

    def cut(self, at_s: float) -> None:
        """Drop what would be heard from ``at_s`` seconds on."""
        cut = round(at_s * self._rate_hz)
        self._pieces = [(start, pcm[: cut - start]) for start, pcm in self._pieces if start < cut]
        self._end = min(self._end, cut)

    def render(self, duration_s: float) -> NDArray[np.int16]:
        """Return the voice from the beginning to ``duration_s`` seconds, silence where nothing was placed."""
        track = np.zeros(round(duration_s * self._rate_hz), dtype=np.int16)
        for start, pcm in self._pieces:
            room = track[start : start + pcm.size]
            room[:] = pcm[: room.size]
        return track


class Recording:
    """The exam's two tracks. Times are seconds since the handshake."""

    def __init__(self) -> None:
        self._candidate = Track(CANDIDATE_RATE_HZ)
        self._examiner = Track(EXAMINER_RATE_HZ)

    def candidate_spoke(self, from_s: float, pcm: NDArray[np.int16]) -> None:
        """Place the candidate's ``pcm``, int16 at 16 kHz, shape [n], whose first sample was spoken at ``from_s``."""
        self._candidate.place(from_s, pcm)

    def note(self, timed: TimedEvent) -> None:
        """Take in an event: the examiner's audio is queued, and ``interrupted`` empties the queue."""
        match timed.event:
            case ExaminerAudio(pcm):
                self._examiner.place(timed.at_s, pcm)
            case Interrupted():
                self._examiner.cut(timed.at_s)

    def mix(self, duration_s: float) -> NDArray[np.int16]:
        """Return both voices as int16, mono, 24 kHz, of exactly ``round(duration_s * 24000)`` samples."""
        examiner = self._examiner.render(duration_s)
        candidate = soxr.resample(
            self._candidate.render(duration_s).astype(np.float32), CANDIDATE_RATE_HZ, EXAMINER_RATE_HZ
        )
        both = examiner.astype(np.float32)
        common = min(both.size, candidate.size)  # the two rates round to lengths that differ by a sample at most
        both[:common] += candidate[:common]
        peak = float(np.max(np.abs(both), initial=0.0))
        if peak > _FULL_SCALE:
            both *= _FULL_SCALE / peak
        return np.rint(both).astype(np.int16)

    def write(self, path: Path, duration_s: float) -> None:
        """Write the mix to ``path`` as WAV, mono, 24 kHz, 16 bit. Raises :class:`OSError`."""
        with path.open("wb") as file:
            soundfile.write(file, self.mix(duration_s), EXAMINER_RATE_HZ, subtype="PCM_16", format="WAV")
