"""Figures of fluency are measured from utterances; the score rises with them and never falls."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.speech.fluency import FluencyFigures, Utterance, measure, phonology_score, syllable_count

FLUENT = FluencyFigures(
    words=120,
    syllables=180,
    speech_ms=40_000,
    articulation_rate=4.5,
    phonation_ratio=0.85,
    pauses_per_minute=12,
    mean_pause_ms=500,
    mean_run_words=9,
    confidence=0.9,
)


@pytest.mark.parametrize("utterances", [[], [Utterance("", 0, 900, 300, 0.0)], [Utterance(" … ", 0, 900, 0, 0.4)]])
def test_nothing_said_measures_nothing(utterances: list[Utterance]) -> None:
    """No utterance, or none with a word, gives zeros and a score of zero, not a division by zero."""
    figures = measure(utterances, "fr")
    assert figures == FluencyFigures(0, 0, 0, 0, 0, 0, 0, 0, 0)
    assert phonology_score(figures, "fr") == 0


def test_words_without_voiced_time_divide_nothing_by_zero() -> None:
    """A text whose voice was not detected (push-to-talk in noise) has words, and rates of zero."""
    figures = measure([Utterance("Bonjour madame", 0, 0, 0, 0.5)], "fr")
    assert (figures.words, figures.articulation_rate, figures.confidence) == (2, 0, 0)


@pytest.mark.parametrize(
    ("language", "word", "syllables"),
    [
        ("fr", "bonjour", 2),
        ("fr", "table", 1),
        ("fr", "l'homme", 1),
        ("fr", "été", 2),
        ("fr", "aujourd'hui", 3),
        ("fr", "je", 1),
        ("fr", "sœur", 1),
        ("fr", "rendez-vous", 3),
        ("en", "time", 1),
        ("en", "table", 2),
        ("en", "the", 1),
        ("en", "wisdom", 2),
        ("en", "42", 2),
    ],
)
def test_syllables_are_groups_of_vowels(language: str, word: str, syllables: int) -> None:
    """Mute endings count for nothing, elisions and hyphens split, every word has one at least."""
    assert syllable_count(word, language) == syllables


def test_figures_of_two_utterances() -> None:
    """Rates are by voiced time, pauses are those inside and the one between, with the margins of the segments."""
    figures = measure(
        [
            Utterance("Je travaille dans une école.", 0, 3_500, 2_500, 0.8, pauses_ms=(300, 200)),
            Utterance("J'aime beaucoup lire.", 4_000, 6_500, 2_000, 0.7),
        ],
        "fr",
    )
    assert figures.words == 8
    assert figures.speech_ms == 4_500
    assert figures.syllables == 11
    assert figures.articulation_rate == pytest.approx(11 / 4.5)
    assert figures.mean_pause_ms == pytest.approx((300 + 1_000) / 2)
    assert figures.phonation_ratio == pytest.approx(4_500 / (3_000 + 2_000 + 1_000))
    assert figures.pauses_per_minute == pytest.approx(2 / (6_000 / 60_000))
    assert figures.mean_run_words == pytest.approx(8 / 3)
    assert figures.confidence == pytest.approx((0.8 * 2_500 + 0.7 * 2_000) / 4_500)


def test_a_cut_within_speech_is_no_pause() -> None:
    """Where a long segment was cut the next one begins at once: speech went on."""
    figures = measure([Utterance("un deux", 0, 9_000, 8_000, 1), Utterance("trois", 9_000, 18_000, 8_000, 1)], "fr")
    assert figures.pauses_per_minute == 0
    assert figures.mean_run_words == 3


def test_the_examiners_turn_is_no_pause() -> None:
    """A gap of more than three seconds is the other's, and ends a run of words without being a pause."""
    figures = measure([Utterance("un deux", 0, 1_500, 1_000, 1), Utterance("trois", 9_000, 10_500, 1_000, 1)], "fr")
    assert figures.mean_pause_ms == 0
    assert figures.phonation_ratio == 1
    assert figures.mean_run_words == 1.5


def test_the_ends_of_the_scale() -> None:
    """Fluent figures score 4, halting ones 0."""
    assert phonology_score(FLUENT, "fr") == 4
    halting = replace(FLUENT, articulation_rate=1.5, phonation_ratio=0.3, mean_run_words=1.5, confidence=0.3)
    assert phonology_score(halting, "fr") == 0


FIGURE = st.floats(0, 20, allow_nan=False)


@given(
    figures=st.builds(
        FluencyFigures,
        words=st.integers(1, 500),
        syllables=st.integers(1, 900),
        speech_ms=st.integers(1, 10**6),
        articulation_rate=FIGURE,
        phonation_ratio=st.floats(0, 1),
        pauses_per_minute=FIGURE,
        mean_pause_ms=FIGURE,
        mean_run_words=FIGURE,
        confidence=st.floats(0, 1),
    ),
    name=st.sampled_from(["articulation_rate", "phonation_ratio", "mean_run_words", "confidence"]),
    more=st.floats(0, 10),
    language=st.sampled_from(["fr", "en"]),
)
def test_the_score_never_falls_as_a_figure_grows(
    figures: FluencyFigures, name: str, more: float, language: str
) -> None:
    """For any figures: 0 to 4 in steps of a half, and more of any of the four never scores less."""
    score = phonology_score(figures, language)
    assert 0 <= score <= 4
    assert score * 2 == int(score * 2)
    assert phonology_score(replace(figures, **{name: getattr(figures, name) + more}), language) >= score


WORDS = st.lists(st.sampled_from(["bonjour", "école", "je", "", "…", "l'été", "12"]), max_size=6).map(" ".join)
TIMES = st.integers(0, 60_000)


@given(st.lists(st.tuples(WORDS, TIMES, TIMES, TIMES, st.floats(0, 1)), max_size=8), st.sampled_from(["fr", "en"]))
def test_any_utterances_give_figures(said: list[tuple[str, int, int, int, float]], language: str) -> None:
    """Whatever was heard, in whatever order: no error, no negative figure, shares between 0 and 1."""
    figures = measure([Utterance(text, *times) for text, *times in said], language)
    assert min(figures.__getattribute__(name) for name in figures.__slots__) >= 0
    assert figures.phonation_ratio <= 1
    assert figures.confidence <= 1 + 1e-9
    assert 0 <= phonology_score(figures, language) <= 4
