"""Statistics of one figure's samples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Summary:
    """How ``n`` samples lie; all in the samples' own unit."""

    n: int
    p50: float
    p95: float
    max: float


def quantile(samples: Sequence[float], share: float) -> float:
    """Return the smallest sample that at least ``share`` of all do not exceed (nearest rank; no interpolation).

    It is a sample that was measured, and with few of them p95 is the largest. Raises :class:`ValueError` without
    samples, or for a ``share`` outside (0, 1].
    """
    if not samples or not 0 < share <= 1:
        raise ValueError(f"expected samples and a share in (0, 1], got {len(samples)} samples and {share}")
    rank = math.ceil(share * len(samples) - 1e-9)  # 0.95 of 20 is 19, whatever binary fractions make of it
    return sorted(samples)[max(rank, 1) - 1]


def summary(samples: Iterable[float]) -> Summary | None:
    """Return the summary of ``samples``; ``None`` when there are none."""
    found = list(samples)
    if not found:
        return None
    return Summary(len(found), quantile(found, 0.5), quantile(found, 0.95), max(found))


def ratio(old: float, new: float) -> float | None:
    """Return how many times smaller ``new`` is than ``old``: 2.0 is twice as fast. ``None`` where that says nothing."""
    return old / new if old > 0 and new > 0 else None


def words_wrong(said: str, heard: str) -> tuple[int, int]:
    """Return the word errors of ``heard`` (Levenshtein's substitutions, deletions, insertions), and the words said.

    Case and marks do not count.
    """
    wanted, got = words(said), words(heard)
    row = list(range(len(got) + 1))
    for at, word in enumerate(wanted, start=1):
        diagonal, row[0] = row[0], at
        for column, other in enumerate(got, start=1):
            best = min(row[column] + 1, row[column - 1] + 1, diagonal + (word != other))
            diagonal, row[column] = row[column], best
    return row[-1], len(wanted)


def words(text: str) -> list[str]:
    """Return the words of ``text`` without case and marks; ``l'eau`` is two."""
    spaced = "".join(letter if letter.isalnum() else " " for letter in text.casefold())
    return spaced.split()
