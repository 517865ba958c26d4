"""Statistics of samples, and of words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.bench.figures import quantile, ratio, summary, words, words_wrong

samples = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200)
sentences = st.lists(st.sampled_from(["un", "deux", "trois", "quatre"]), max_size=8).map(" ".join)


@given(samples, st.integers(1, 100))
def test_a_quantile_is_the_smallest_sample_that_enough_do_not_exceed(values: list[float], percent: int) -> None:
    """It was measured; at least the share is not above it, and below it lies less than the share."""
    found = quantile(values, percent / 100)
    assert found in values
    assert 100 * sum(value <= found for value in values) >= percent * len(values)
    assert 100 * sum(value < found for value in values) < percent * len(values)


@given(samples, st.integers(1, 100))
def test_a_quantile_is_numpys_inverted_distribution(values: list[float], percent: int) -> None:
    """The definition is the usual one without interpolation."""
    assert quantile(values, percent / 100) in (
        np.quantile(values, percent / 100, method="inverted_cdf"),
        np.quantile(values, percent / 100 - 1e-12, method="inverted_cdf"),
    )


@given(samples, st.randoms())
def test_a_summary_depends_on_no_order(values: list[float], rng: object) -> None:
    """The summary of samples in any order is the same, and its parts are in order."""
    shuffled = list(values)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    found = summary(values)
    assert found == summary(shuffled)
    assert found is not None
    assert found.n == len(values)
    assert found.p50 <= found.p95 <= found.max == max(values)


def test_there_is_no_summary_of_nothing() -> None:
    """No samples give no figures, and asking for a quantile of them is a fault of the asker."""
    assert summary([]) is None
    with pytest.raises(ValueError, match="0 samples"):
        quantile([], 0.5)


@given(st.floats(0.001, 1e6), st.floats(0.001, 1e6))
def test_a_ratio_says_how_many_times_faster(old: float, new: float) -> None:
    """Twice as fast is 2; there and back again is 1."""
    there, back = ratio(old, new), ratio(new, old)
    assert there is not None
    assert back is not None
    assert there * back == pytest.approx(1)
    assert (there > 1) == (new < old) or old == new or there == 1


def test_a_ratio_to_nothing_says_nothing() -> None:
    """Zero has no ratio."""
    assert ratio(0, 1) is None
    assert ratio(1, 0) is None


@given(sentences, sentences)
def test_word_errors_are_a_distance(said: str, heard: str) -> None:
    """Nothing is wrong in the same words alone; it costs the same both ways, and never more than all words."""
    wrong, n = words_wrong(said, heard)
    assert (wrong == 0) == (words(said) == words(heard))
    assert wrong == words_wrong(heard, said)[0]
    assert abs(len(words(heard)) - n) <= wrong <= max(n, len(words(heard)))


def test_case_and_marks_are_no_words() -> None:
    """« L'eau » is heard as two words, in whatever case and with whatever marks."""
    assert words_wrong("L’eau, s'il vous plaît !", "l'eau s il vous plait") == (1, 6)
