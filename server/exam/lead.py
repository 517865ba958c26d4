"""How long before its time a relance is prepared: as long as the last ones took, whoever they were for."""

from __future__ import annotations

from collections import deque
from typing import Final

KEPT: Final = 20
"""Preparations that are looked back on: their longest is the 95th percentile of as many."""

FEW: Final = 3
"""With fewer than these nothing is known yet."""

SPARE: Final = 1.25
SPARE_S: Final = 0.5
"""What is added: as a factor, and in seconds."""


class Lead:
    """Shared by the interviews of one server; ``longest_s`` is the longest lead, and the one while nothing is known."""

    def __init__(self, longest_s: float = 10.0) -> None:
        self._longest_s = longest_s
        self._taken_s: deque[float] = deque(maxlen=KEPT)

    def took(self, seconds: float) -> None:
        """A preparation, stock included, took so long, or was given up after as much."""
        self._taken_s.append(seconds)

    def seconds(self) -> float:
        """Return the lead for the next relance."""
        if len(self._taken_s) < FEW:
            return self._longest_s
        return min(self._longest_s, max(self._taken_s) * SPARE + SPARE_S)
