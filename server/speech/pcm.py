"""PCM s16le as it comes from a socket, cut into windows of one size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FULL_SCALE = 32_768.0
"""Magnitude of the lowest 16-bit sample."""


class Reframer:
    """Cuts one stream of s16le mono bytes into windows of ``window_samples`` samples, however it was chunked.

    Holds less than one window: the samples that do not fill it, and half a sample when the bytes so far are odd.
    """

    def __init__(self, window_samples: int) -> None:
        if window_samples < 1:
            raise ValueError(f"expected a window of at least one sample, got {window_samples}")
        self._window_bytes = 2 * window_samples
        self._rest = b""

    def push(self, pcm: bytes) -> list[NDArray[np.int16]]:
        """Take the stream's next bytes, of any length; return the windows they complete, int16, shape [window]."""
        pcm = self._rest + pcm
        whole = len(pcm) - len(pcm) % self._window_bytes
        self._rest = pcm[whole:]
        return [self._window(pcm[at : at + self._window_bytes]) for at in range(0, whole, self._window_bytes)]

    def flush(self) -> NDArray[np.int16] | None:
        """Return the last, unfilled window padded with silence, or ``None`` when there is not one sample of it.

        Half a sample is dropped. The stream may go on: it then begins at a window's start.
        """
        rest, self._rest = self._rest[: len(self._rest) // 2 * 2], b""
        return self._window(rest.ljust(self._window_bytes, b"\0")) if rest else None

    @staticmethod
    def _window(pcm: bytes) -> NDArray[np.int16]:
        return np.frombuffer(pcm, dtype="<i2").astype(np.int16)


def to_float32(samples: NDArray[np.int16]) -> NDArray[np.float32]:
    """Return ``samples``, shape [n], scaled to float32 in [-1, 1)."""
    return samples.astype(np.float32) / np.float32(FULL_SCALE)
