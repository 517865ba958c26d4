"""Written text made ready to be spoken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.worker.spoken import speakable, without_flags


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("M. Dupont et Mme Roy", "monsieur Dupont et madame Roy"),
        ("le plan M. est prêt", "le plan M. est prêt"),
        ("au n° 12", "au numéro 12"),
        ("12,50 €", "12 euros 50"),
        ("1 200 €", "1200 euros"),
        ("à 14h30 ou 15:00", "à 14 heures 30 ou 15 heures"),
        ("la 1re et la 3e fois", "la première et la 3ième fois"),
        ("l’été", "l'été"),
        ("20 °C 🙂 dehors", "20 °C dehors"),
        ("cafe\u0301", "cafe\u0301"),
        ("deux\nlignes", "deux lignes"),
    ],
)
def test_french_is_written_out(written: str, spoken: str) -> None:
    """Abbreviations, prices and hours become words; emoji go; accents stay."""
    assert speakable(written, "fr-fr") == spoken


@pytest.mark.parametrize(("written", "spoken"), [("No. 5", "number 5"), ("No. Never.", "No. Never."), ("M. X", "M. X")])
def test_english_has_its_own_rules(written: str, spoken: str) -> None:
    """A rule of one language is none of the other's."""
    assert speakable(written, "en-us") == spoken


@pytest.mark.parametrize("text", ["", "🙂", "… ! ?", "👨‍👩‍👧", "« »", "\u200b"])
def test_a_text_with_nothing_to_say_is_empty(text: str) -> None:
    """Only marks and pictures: nothing is left."""
    assert speakable(text, "fr-fr") == ""


@pytest.mark.parametrize(
    ("phonemes", "kept"),
    [
        ("lə (en)wˈiːkˈɛnd(fr).", "lə wˈiːkˈɛnd."),
        ("(en-us)hˈaɪ(fr-fr)", "hˈaɪ"),
        ("(sɛ vʁˈɛ) (ˈɑ̃)", "(sɛ vʁˈɛ) (ˈɑ̃)"),
    ],
)
def test_a_change_of_language_is_not_read_aloud(phonemes: str, kept: str) -> None:
    """espeak-ng marks an English word in a French sentence; the mark is no speech, a parenthesis of the text is."""
    assert without_flags(phonemes) == kept


@given(st.text())
def test_any_text_becomes_one_line_with_something_to_say_or_nothing(text: str) -> None:
    """espeak-ng gets a line, and only when it holds a letter or a digit."""
    spoken = speakable(text, "fr-fr")
    assert spoken == "" or any(letter.isalnum() for letter in spoken)
    assert spoken == " ".join(spoken.split())
