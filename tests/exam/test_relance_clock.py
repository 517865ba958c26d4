"""The relance clock: its distribution, its window, its spacing."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.exam.relance_clock import ImpossiblePlan, check, draw
from server.exam.rules import InterviewRules

DRAWS = 10_000
RULES = InterviewRules()


@pytest.fixture(scope="module")
def plans() -> list[tuple[float, ...]]:
    rng = random.Random(20_240_229)
    return [draw(RULES, rng) for _ in range(DRAWS)]


def chi_square(counts: list[int], expected: list[float]) -> float:
    return sum((count - wanted) ** 2 / wanted for count, wanted in zip(counts, expected, strict=True))


@pytest.mark.parametrize(
    "rules",
    [
        InterviewRules(interruption_p0=0.5),
        InterviewRules(interruption_p0=-0.2, interruption_p1=1.0),
        InterviewRules(interruption_window_start_ms=80_000),
        InterviewRules(interruption_window_start_ms=-1),
        InterviewRules(interruption_min_spacing_ms=-1),
        InterviewRules(interruption_min_spacing_ms=50_001),
        InterviewRules(interruption_p0=float("nan")),
    ],
)
def test_rules_that_cannot_be_kept_are_refused(rules: InterviewRules) -> None:
    """Chances add up to one, the window does not end before it begins, two relances fit in it if two may be drawn."""
    with pytest.raises(ImpossiblePlan):
        check(rules)


def test_a_spacing_that_does_not_fit_is_named_in_milliseconds() -> None:
    """The message says what was asked for and what there is."""
    with pytest.raises(ImpossiblePlan, match="20000 ms apart do not fit in a window of 10000 ms"):
        check(InterviewRules(interruption_window_end_ms=35_000))


def test_a_spacing_that_cannot_be_needed_is_not_asked_for() -> None:
    """With P2 at 0 the window may be shorter than the spacing."""
    check(InterviewRules(interruption_p1=0.8, interruption_p2=0.0, interruption_window_end_ms=26_000))


def test_the_same_seed_gives_the_same_plan() -> None:
    """The generator alone decides."""
    assert [draw(RULES, random.Random(seed)) for seed in range(50)] == [
        draw(RULES, random.Random(seed)) for seed in range(50)
    ]
    assert len({draw(RULES, random.Random(seed)) for seed in range(50)}) > 30


def test_the_number_of_relances_follows_the_chances(plans: list[tuple[float, ...]]) -> None:
    """0.2, 0.6, 0.2: chi-square with 2 degrees of freedom stays under 13.8 (one in a thousand)."""
    counts = Counter(len(plan) for plan in plans)
    assert chi_square([counts[0], counts[1], counts[2]], [0.2 * DRAWS, 0.6 * DRAWS, 0.2 * DRAWS]) < 13.8


def test_every_time_lies_in_the_window_and_keeps_the_spacing(plans: list[tuple[float, ...]]) -> None:
    """25 to 75 s, in order, 20 s apart."""
    assert all(25_000 <= at <= 75_000 for plan in plans for at in plan)
    assert all(plan[1] - plan[0] >= 20_000 for plan in plans if len(plan) == 2)


def test_a_single_time_is_uniform_on_the_window(plans: list[tuple[float, ...]]) -> None:
    """Ten equal parts of the window are hit alike: chi-square with 9 degrees of freedom under 27.9."""
    times = [plan[0] for plan in plans if len(plan) == 1]
    counts = Counter(int((at - 25_000) // 5_000) for at in times)
    assert chi_square([counts[part] for part in range(10)], [len(times) / 10] * 10) < 27.9


def test_two_times_are_uniform_on_what_the_spacing_leaves(plans: list[tuple[float, ...]]) -> None:
    """The pairs fill a right triangle of side 30 s evenly.

    Cut by two lines at its half sides it falls into four triangles of equal area: both late, both early, apart, and the
    one between. Chi-square with 3 degrees of freedom stays under 16.3.
    """
    pairs = [(first - 25_000, second - 45_000) for first, second in (plan for plan in plans if len(plan) == 2)]
    places = Counter((first >= 15_000, second >= 15_000, second - first >= 15_000) for first, second in pairs)
    counts = [
        places[True, True, False],
        places[False, False, False],
        places[False, True, True],
        places[False, True, False],
    ]
    assert sum(counts) == len(pairs)
    assert chi_square(counts, [len(pairs) / 4] * 4) < 16.3


@pytest.mark.parametrize(("chances", "count"), [((1.0, 0.0, 0.0), 0), ((0.0, 1.0, 0.0), 1), ((0.0, 0.0, 1.0), 2)])
def test_a_certain_number_is_always_drawn(chances: tuple[float, float, float], count: int) -> None:
    """A chance of 1 leaves no other outcome."""
    p0, p1, p2 = chances
    rules = InterviewRules(interruption_p0=p0, interruption_p1=p1, interruption_p2=p2)
    rng = random.Random(3)
    assert {len(draw(rules, rng)) for _ in range(1_000)} == {count}


@given(
    start=st.integers(0, 100_000),
    length=st.integers(0, 100_000),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**32),
)
def test_any_rules_that_pass_the_check_are_kept(start: int, length: int, share: float, seed: int) -> None:
    """Window and spacing hold to within a rounding of floats, however tight they are."""
    spacing = int(length * share)
    rules = InterviewRules(
        interruption_window_start_ms=start,
        interruption_window_end_ms=start + length,
        interruption_min_spacing_ms=spacing,
    )
    check(rules)
    plan = draw(rules, random.Random(seed))
    assert all(start <= at <= start + length + 1e-6 for at in plan)
    assert len(plan) < 2 or plan[1] - plan[0] >= spacing - 1e-6
