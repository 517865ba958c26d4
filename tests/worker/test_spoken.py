"""Written text made ready to be spoken."""

import re
import time
import unicodedata

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.worker.spoken import speakable, without_flags

LANGUAGES = ("fr-fr", "en-us", "en-gb", "es")
PIECES = """1 2 21 450 000 12,50 2026 € $ ¢ CA US k M h h30 : / - – . , ( ) [ ] ]( < > * ** _ ` # | ~ = × x ² ⁵ ½ e er
re XIV V Xe m m² km/h °C min s n° No. M. Mme av. p. ex. J.-C. etc. http:// www. exemple.fr @ fils CO2 24h/24 a É
’ 🙂 é"""
TRIGGERS = st.lists(st.sampled_from([*PIECES.split(), " ", "  ", "\n", "\x00"])).map("".join)
"""Text made of what the rules look for, in any order."""


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("M. Dupont et Mme Roy", "monsieur Dupont et madame Roy"),
        ("le plan M. est prêt", "le plan M. est prêt"),
        ("M. le président", "monsieur le président"),
        ("au n° 12, au nº 3, № 4", "au numéro 12, au numéro 3, numéro 4"),
        ("U.S.A., av. J.-C.", "USA, avant Jésus-Christ"),
        ("vos fils et l'IA", "vos fiss et l'I A"),
    ],
)
def test_french_abbreviations_become_words(written: str, spoken: str) -> None:
    """What espeak-ng spells or takes for another word is written out."""
    assert speakable(written, "fr-fr") == spoken


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("1 200 €", "1200 euros"),
        ("1\u202f450 $", "1450 dollars"),
        ("2\u00a0000\u00a0000", "2000000"),
        ("12,50 €, 12.50 $, 0,99 €", "12 euros 50, 12 dollars 50, 0 euro 99"),
        (
            "CA$ 20, 20 $ CA, C$5,50, US$1",
            "20 dollars canadiens, 20 dollars canadiens, 5,50 dollars canadiens, 1 dollar américain",
        ),
        ("3,5 M$ et 5 k€ et 2 millions €", "3,5 millions de dollars et 5 mille euros et 2 millions d'euros"),
        ("25 cents", "25 ¢"),
        ("12 €/mois, 3 fois/semaine", "12 euros par mois, 3 fois par semaine"),
        ("9 ans, 21 ans, 29 ans, 1 euro", "neuf ans, vingt et un ans, vingt-neuf ans, un euro"),
        ("1 min, 21 min, 2,5 m²", "une minute, vingt et une minutes, 2,5 mètres carrés"),
        ("15/20, 3,5/5, 3/4", "15 sur 20, 3,5 sur 5, trois quarts"),
        ("10-12 ans, −5, de 9h-17h", "10 à 12 ans, moins 5, de neuf heures à 17 heures"),
        ("2 x 3 x 4 = 24", "2 fois 3 fois 4 égale 24"),
        ("10⁵", "10 puissance 5"),
    ],
)
def test_french_amounts_become_words_around_digits(written: str, spoken: str) -> None:
    """Prices, measures, fractions, ranges and signs; the digits stay, espeak-ng reads them well."""
    assert speakable(written, "fr-fr") == spoken


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("à 14h30 ou 15:00, à 8h05", "à 14 heures 30 ou 15 heures, à 8 heures 5"),
        ("à 1 h, à 21h, 35 h par semaine", "à une heure, à vingt et une heures, 35 heures par semaine"),
        ("24h/24, 7j/7", "24 heures sur 24, 7 jours sur 7"),
        ("le 12/07/2026, le 2026-12-01.", "le 12 juillet 2026, le 1er décembre 2026."),
        ("le 45/13/2026", "le 45 sur 13/2026"),
        ("la 1re et la 3e fois, la 2nde", "la première et la troisième fois, la seconde"),
        (
            "21e 71e 81e 92e 120e 1000e",
            "vingt et unième soixante et onzième 80 unième 80 douzième 100 vingtième millième",
        ),
        ("XXIe, XIXᵉ, Ier, Ve", "vingt et unième, dix-neuvième, premier, cinquième"),
        ("Louis XIV, Charles X, IIII, X", "Louis 14, Charles 10, IIII, X"),
        ("Le 1ᵉʳ. Ce. Me.", "Le 1er. Ce. Me."),
    ],
)
def test_french_times_and_ordinals_become_words(written: str, spoken: str) -> None:
    """Hours, dates, ordinals and Roman numbers; what is none stays."""
    assert speakable(written, "fr-fr") == spoken


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("514-555-0123 ou (514) 555-0123", "514, 555, 01 23 ou 514, 555, 01 23"),
        ("+1 514 555 0123", "plus 1, 514, 555, 01 23"),
        ("06.12.34.56.78", "06 12 34 56 78"),
        ("H2X 1Y4", "H 2 X, 1 i grec 4"),
        ("Écrivez à jo_roy@gc.ca.", "Écrivez à jo tiret bas roy arobase gc point c a."),
        ("https://www.ville.fr/page-2/", "ville point fr slash page tiret 2"),
    ],
)
def test_french_codes_are_said_sign_by_sign(written: str, spoken: str) -> None:
    """Telephone numbers, post codes, addresses."""
    assert speakable(written, "fr-fr") == spoken


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("l’été", "l'été"),
        ("20\u00a0° 🙂 dehors", "20 ° dehors"),
        ("oui🙂non", "oui non"),
        ("cafe\u0301", "café"),
        ("avant\x00après", "avant après"),
        ("deux\nlignes", "deux lignes"),
        ("**gras**, _penché_, `code`, ~~barré~~", "gras, penché, code, barré"),
        ("## Titre\n\n* la mer\n- l'eau !\n---\nfin", "Titre. la mer. l'eau ! fin"),
        ("```python\nx\n```", "x"),
        ('le [site](https://a.fr "Titre"), ![photo](b.png)', "le site, photo"),
        ("ﬁn １２ 𝐠𝐫𝐚𝐬", "fin 12 gras"),
        ("a | b", "a, b"),
    ],
)
def test_marks_of_layout_go_and_their_words_stay(written: str, spoken: str) -> None:
    """Markdown, pictures, letters of other shapes; NUL, at which espeak-ng would stop, is a space."""
    assert speakable(written, "fr-fr") == spoken


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("No. 5", "number 5"),
        ("No. Never.", "No. Never."),
        ("M. X", "M. X"),
        ("Dr. Smith, i.e. him", "Dr Smith, that is him"),
        ("$12.50, $1, $1,450, €5.00", "12 dollars 50, 1 dollar, 1,450 dollars, 5 euros"),
        ("at 10:00, 9:05, 3:00 pm", "at 10 o'clock, 9 oh 5, 3 pm"),
        ("ages 10-12, 90 km/h, 20 °C", "ages 10 to 12, 90 kilometres per hour, 20 degrees Celsius"),
        ("514-555-0123", "5 1 4, 5 5 5, 0 1 2 3"),
        ("**bold** at www.example.com/a", "bold at example dot com slash a"),
    ],
)
def test_english_has_its_own_rules(written: str, spoken: str) -> None:
    """A rule of one language is none of the other's."""
    assert speakable(written, "en-us") == spoken


@pytest.mark.parametrize(
    ("written", "heard"),
    [
        ("The ticket costs $12.50 for one person.", r"\$12\.50|12 dollars (and )?50"),
        ("She lives at No. 5, near the station.", r"number (5|five)"),
        ("Bring a coat, e.g. the red one.", r"for example,? the red"),
        ("The meeting starts at 10:00 tomorrow.", r"10 o'clock tomorrow"),
        ("This class is for ages 10-12 only.", r"10 to 12"),
        ("The speed limit is 90 km/h on this road.", r"90 kilomet(er|re)s per hour"),
        ("It is 20 °C in the bedroom today.", r"20 degrees celsius"),
        ("Dr. Smith and Mrs. Jones are waiting.", r"(dr\.?|doctor) smith and mrs\.? jones"),
        ("This is **very important** for me. 🙂", r"this is very important for me\.?$"),
        ("Please write to jane@example.com today.", r"jane (at |@)example(\.| dot )com"),
        ("Call me at 514-555-0123 after lunch.", r"514.{1,2}555.{1,2}0123"),
        ("About 1,450 people live in this village.", r"1,?450 people"),
    ],
)
def test_english_is_understood(api: httpx.Client, written: str, heard: str) -> None:
    """Spoken by the real worker and heard back by it."""
    spoken = api.post("/audio/speech", json={"input": written, "response_format": "wav"})
    text = api.post("/audio/transcriptions", files={"file": spoken.content}).json()["text"]
    assert re.search(heard, text.lower().strip()), text


@pytest.mark.parametrize("text", ["", "🙂", "… ! ?", "👨‍👩‍👧", "« »", "\u200b", "---", "**", "\x00", "→"])
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


@given(st.text() | TRIGGERS, st.sampled_from(LANGUAGES))
def test_any_text_becomes_one_settled_line_with_something_to_say_or_nothing(text: str, language: str) -> None:
    """espeak-ng gets a line, only when it holds a letter or a digit; that line stays as it is, and is not endless."""
    spoken = speakable(text, language)
    assert spoken == "" or any(letter.isalnum() for letter in spoken)
    assert spoken == " ".join(spoken.split())
    assert speakable(spoken, language) == spoken
    assert len(spoken) <= 30 * len(text)


@given(st.text(alphabet=st.characters(categories=["Ll", "Lu", "Nd"], max_codepoint=0xFF) | st.sampled_from(" ,.!?'\n")))
def test_plain_words_are_all_said(text: str) -> None:
    """Letters and digits outside the rules' own patterns are kept: a Spanish voice, which has no rules, shows it."""
    kept = [letter for letter in speakable(text, "es") if letter.isalnum()]
    assert kept == [letter for letter in unicodedata.normalize("NFKC", text) if letter.isalnum()]


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1 ",
        "100 ",
        "1-",
        "1/",
        "1:",
        "(",
        "[",
        "](",
        "](a ",
        "*",
        "_",
        "- ",
        "> ",
        "|",
        " ",
        "\n",
        "X",
        "A.",
        "a.",
        "a@",
        "$1",
        "1 $ ",
        "www.",
        "é",
    ],
)
def test_a_long_text_takes_time_in_proportion(piece: str) -> None:
    """Eight times as much text takes no more than thirty times as long: no pattern runs over it again and again."""

    def cost_s(size: int) -> float:
        text = piece * (size // len(piece)) + "!"
        start = time.process_time()
        speakable(text, "fr-fr")
        return time.process_time() - start

    short = min(cost_s(2_048) for _ in range(2))
    assert cost_s(16_384) < 30 * max(short, 0.002)
