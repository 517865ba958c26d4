"""Long audio in stretches that are heard one after the other.

Whisper's features of half an hour take 1.3 GB while they are computed, those of five minutes 0.2 GB. So audio beyond
a bound is cut, where it is quietest, and memory does not grow with its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engines.protocols import STT_RATE_HZ

STRETCH_SAMPLES: Final = 300 * STT_RATE_HZ
"""The longest stretch: ten of Whisper's windows."""

SEARCH_SAMPLES: Final = 30 * STT_RATE_HZ
"""How far before the bound a quiet place is looked for: people pause for breath more often."""

QUIET_SAMPLES: Final = STT_RATE_HZ // 5
"""How long a quiet place is: shorter ones are inside words."""


def stretches(blocks: Iterable[NDArray[np.float32]]) -> Iterator[NDArray[np.float32]]:
    """Yield the samples of ``blocks`` (mono, 16 kHz, shape [n]) as stretches of at most :data:`STRETCH_SAMPLES`.

    Nothing is dropped or repeated. There is one stretch at least, which may be empty.
    """
    pending = np.zeros(0, np.float32)
    for block in blocks:
        pending = np.concatenate((pending, block))
        while len(pending) > STRETCH_SAMPLES:
            cut = _quietest(pending)
            yield pending[:cut]
            pending = pending[cut:]
    yield pending


def _quietest(samples: NDArray[np.float32]) -> int:
    """The middle of the quietest place before the bound."""
    start = STRETCH_SAMPLES - SEARCH_SAMPLES
    places = samples[start:STRETCH_SAMPLES].reshape(-1, QUIET_SAMPLES)
    return start + int(np.square(places).sum(axis=1).argmin()) * QUIET_SAMPLES + QUIET_SAMPLES // 2
