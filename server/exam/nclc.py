"""The NCLC level of TCF Canada's oral expression, from the score out of 20."""

from __future__ import annotations

DEFAULT_TARGET = 9
"""The level that a candidate is held to aim at when the profile names none."""

_FLOORS = ((16, 10), (14, 9), (12, 8), (10, 7), (7, 6), (6, 5), (4, 4), (0, 0))
"""Lowest score of each level, best first: the equivalence table of IRCC for the TCF Canada, *expression orale*."""


def nclc(score: int) -> int:
    """Return the level for ``score``, a whole number from 0 to 20; 0 when it is below level 4.

    Raises :class:`ValueError` for a score off the scale.
    """
    if not 0 <= score <= 20:
        raise ValueError(f"a score lies between 0 and 20, got {score}")
    return next(level for floor, level in _FLOORS if score >= floor)
