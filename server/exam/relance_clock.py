"""The relance clock: how many relances an interview will hear, and when. It listens to nobody.

The number is drawn from the three probabilities. One time is uniform on the window. Two times are uniform on the part
of the window squared that keeps the spacing: with a window of length L and a spacing s, two independent times on
[0, L - s] are sorted and the later one is moved by s. That map keeps areas, so nothing has to be rejected.
"""

from __future__ import annotations

import math
import random

from server.exam.rules import InterviewRules


class ImpossiblePlan(ValueError):
    """The rules leave no room for what they may draw."""


def check(rules: InterviewRules) -> None:
    """Raise :class:`ImpossiblePlan` when no draw, or not every draw, can keep ``rules``."""
    chances = (rules.interruption_p0, rules.interruption_p1, rules.interruption_p2)
    if min(chances) < 0 or not math.isclose(sum(chances), 1.0, abs_tol=1e-9):
        raise ImpossiblePlan(f"P0, P1 and P2 must not be negative and must add up to 1, got {chances}")
    start, end = rules.interruption_window_start_ms, rules.interruption_window_end_ms
    if not 0 <= start <= end:
        raise ImpossiblePlan(
            f"the window must begin at 0 or later and not end before it begins, got {start} to {end} ms"
        )
    spacing = rules.interruption_min_spacing_ms
    if spacing < 0:
        raise ImpossiblePlan(f"the spacing must not be negative, got {spacing} ms")
    if rules.interruption_p2 > 0 and spacing > end - start:
        raise ImpossiblePlan(
            f"two relances {spacing} ms apart do not fit in a window of {end - start} ms, and P2 is not 0"
        )


def draw(rules: InterviewRules, rng: random.Random) -> tuple[float, ...]:
    """Draw the times of the relances, in milliseconds since the session began, earliest first.

    The same state of ``rng`` gives the same plan. ``rules`` must have passed :func:`check`.
    """
    chances = (rules.interruption_p0, rules.interruption_p1, rules.interruption_p2)
    (count,) = rng.choices((0, 1, 2), weights=chances)
    start, end = rules.interruption_window_start_ms, rules.interruption_window_end_ms
    if count == 0:
        return ()
    if count == 1:
        return (rng.uniform(start, end),)
    room = end - start - rules.interruption_min_spacing_ms
    first, second = sorted((rng.uniform(0, room), rng.uniform(0, room)))
    return (start + first, start + second + rules.interruption_min_spacing_ms)
