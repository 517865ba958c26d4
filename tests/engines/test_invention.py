"""What Whisper makes up is kept out of a transcript; what was said stays, word for word."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.invention import Segment, believable, confidence, unlooped

KNOWN = [
    "Sous-titres réalisés par la communauté d'Amara.org",
    "Sous-titrage Société Radio-Canada",
    "Sous-titrage ST' 501",
    "Merci d'avoir regardé cette vidéo !",
    "Merci d’avoir regardé !",
    "Abonnez-vous à la chaîne !",
    "N'oubliez pas de vous abonner.",
    "Thanks for watching!",
    "Thank you for watching.",
    "Please subscribe to my channel.",
    "Subtitles by the Amara.org community",
    "Je vous invite à vous faire une autre vidéo.",
]


def heard(
    text: str, logprob: float | None = -0.2, no_speech: float | None = 0.02, ratio: float | None = 1.2
) -> list[str]:
    return [segment.text for segment in believable([Segment(text, 2.0, logprob, no_speech, ratio)])]


def test_nothing_is_believed_of_nothing() -> None:
    """No segments, or empty ones, give none, and a confidence of zero."""
    assert believable([]) == []
    assert heard("") == heard("  ...  ") == []
    assert confidence([]) == 0


@pytest.mark.parametrize("text", KNOWN)
@pytest.mark.parametrize("evidence", [(-0.2, 0.4), (-0.8, 0.1), (None, None)], ids=["silence", "unsure", "none"])
def test_known_inventions_are_dropped_on_weak_evidence(text: str, evidence: tuple[float, float]) -> None:
    """A likely silence, an unsure decoding, or no evidence at all, and the phrase is not believed."""
    assert heard(text, *evidence) == []


@pytest.mark.parametrize("text", KNOWN)
def test_known_inventions_are_kept_on_good_evidence(text: str) -> None:
    """A candidate may say any of them: on good evidence it was said."""
    assert heard(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Merci beaucoup.",
        "Merci, au revoir.",
        "Oui.",
        "Thank you.",
        "Je me suis abonné à un magazine.",
        "Je regarde des films avec des sous-titres.",
        "Je voudrais m'abonner à la salle de sport.",
        "Je vous invite à mon anniversaire.",
    ],
)
def test_plain_answers_are_kept_on_weak_evidence(text: str) -> None:
    """What an exam is full of is on no list, however unsure the decoding."""
    assert heard(text, -0.9, 0.55) == [text]


@pytest.mark.parametrize("text", ["you", "Thank you.", "Okay.", "Merci.", "Merci beaucoup !", "So,"])
def test_everyday_inventions_are_dropped_only_where_nobody_speaks(text: str) -> None:
    """Whisper is fluent in them on silence: beyond its no-speech threshold no log-probability saves them."""
    assert heard(text, -0.1, 0.61) == []
    assert heard(text, -0.9, 0.6) == [text]
    assert heard(text, None, None) == [text]


def test_everyday_words_in_an_answer_are_kept() -> None:
    """Only the whole of a segment can be an everyday invention."""
    assert heard("Thank you, I am fine.", -0.4, 0.9) == ["Thank you, I am fine."]
    assert heard("Non merci.", -0.4, 0.9) == ["Non merci."]


def test_silence_needs_both_evidences() -> None:
    """A text is improbable and silence likelier than speech, or it is kept: Whisper mishears short words too."""
    assert heard("Bonjour madame", -1.1, 0.51) == []
    assert heard("Bonjour madame", -0.9, 0.7) == ["Bonjour madame"]
    assert heard("Bonjour madame", -1.1, 0.5) == ["Bonjour madame"]


@pytest.mark.parametrize("text", ["[Musique]", "(applaudissements)", "*Bruit*", "♪♪", " [BLANK_AUDIO] "])
def test_names_of_sounds_are_not_words(text: str) -> None:
    """Nobody speaks brackets: they are cut whatever the evidence, and the words beside them stay."""
    assert heard(text) == []
    assert heard(f"Bonjour {text} madame.") == ["Bonjour madame."]


def test_a_loop_is_cut_to_its_first_time() -> None:
    """A phrase said over and over is kept once, with what is before and after it."""
    assert unlooped("Alors " + "je ne sais pas, " * 12 + "voilà.") == "Alors je ne sais pas, voilà."
    assert unlooped("no " * 8) == "no"


@pytest.mark.parametrize("text", ["non non non, pas du tout", "très très très bien", "oui oui. oui oui. oui oui."])
def test_insistence_is_no_loop(text: str) -> None:
    """People repeat themselves: three times of a phrase, seven of a word, are said."""
    assert unlooped(text) == text


def test_what_still_repeats_itself_is_dropped() -> None:
    """A segment whose compression tells of a loop, and that is none of words, is not believed."""
    assert heard("hahahahahahahahahahahahahahahahahahahahahahahaha" * 3, ratio=9.0) == []
    assert heard("je ne sais pas " * 10, ratio=8.0) == ["je ne sais pas"]


def test_confidence_is_the_mean_token_probability() -> None:
    """Weighted by length; without evidence 0.5; never above 1."""
    sure, unsure = Segment("a", 3.0, -0.1), Segment("b", 1.0, -0.5)
    assert confidence([sure, unsure]) == pytest.approx(math.exp(-0.2))
    assert confidence([Segment("a", 1.0)]) == pytest.approx(0.5)
    assert confidence([Segment("a", 0.0, 0.3)]) == 1


WORDS = st.lists(st.sampled_from(["oui", "non", "je", "sais", "pas,", "Bonjour."]), max_size=40)


@given(WORDS)
def test_cutting_loops_is_done_once(words: list[str]) -> None:
    """No word is made up, and the first of them always stays."""
    cut = unlooped(" ".join(words)).split()
    remaining = iter(words)
    assert all(word in remaining for word in cut)
    assert cut[:1] == words[:1]


@given(st.text(max_size=60), *[st.none() | st.floats(-3, 3)] * 3)
def test_any_segment_can_be_judged(text: str, logprob: float, no_speech: float, ratio: float) -> None:
    """Whatever an engine answers, judging it does not fail, and the confidence is a probability."""
    kept = believable([Segment(text, 1.0, logprob, no_speech, ratio)])
    assert len(kept) <= 1
    assert 0 <= confidence(kept) <= 1
