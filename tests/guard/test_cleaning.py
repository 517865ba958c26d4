from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.exam.guard.cleaning import clean
from server.exam.guard.labels import speaks_for_other
from server.exam.guard.text import QUESTION_MARKS

SPEECH = "Le prix est de dix euros."


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("**Le prix** est de *dix* euros.", SPEECH),
        ("**Le prix est de dix euros.**", SPEECH),
        ("# Le prix est de dix euros.", SPEECH),
        ("- Le prix est de dix euros.", SPEECH),
        ("2. Le prix est de dix euros.", SPEECH),
        ("a) Le prix est de dix euros.", SPEECH),
        ("> `Le prix` est de dix euros.", SPEECH),
        ("Le [prix](http://site.fr) est de dix euros.", SPEECH),
        ("Le prix est de dix euros. 😊👍🏽", SPEECH),
        ("*sourit* Le prix est de dix euros.", SPEECH),
        ("(Il sourit) Le prix est de dix euros.", SPEECH),
        ("Le prix est de dix euros. [rires]", SPEECH),
        ("[Le vendeur réfléchit] Le prix est de dix euros.", SPEECH),
        ("Vendeur : Le prix est de dix euros.", SPEECH),
        ("**Examinateur :** Le prix est de dix euros.", SPEECH),
        ("Assistant: Le prix est de dix euros.", SPEECH),
        ("Vendeuse de vélos : Le prix est de dix euros.", SPEECH),
        ("La conseillère : Le prix est de dix euros.", SPEECH),
        ("Organisatrice : Le prix est de dix euros.", SPEECH),
        ("A: Le prix est de dix euros.", SPEECH),
        ("Le vendeur : « Le prix est de dix euros. »", SPEECH),
        ("« Le prix est de dix euros. »", SPEECH),
        ('"Le prix est de dix euros."', SPEECH),
        ("<think>Il demande le prix.</think>Le prix est de dix euros.", SPEECH),
        ("Il demande le prix.</think> Le prix est de dix euros.", SPEECH),
        ("<think>Il demande le prix.", ""),
        ("<|im_start|>Le prix est de dix euros.<|im_end|>", SPEECH),
        ("(Il sourit.)", ""),
        ("---", ""),
        ("😊", ""),
        ("", ""),
        ("Prix : dix euros.", "Prix : dix euros."),
        ("Le loyer (charges comprises) est de dix euros.", "Le loyer (charges comprises) est de dix euros."),
        ("M. Dupont est là.", "M. Dupont est là."),
        ("Il est 10:30, il fait 20 °C.", "Il est 10:30, il fait 20 °C."),
        ("Prenez le n° 3.", "Prenez le n° 3."),
        ("Il dit « oui » et il part.", "Il dit « oui » et il part."),
        ("« Oui », dit-il, « venez ».", "« Oui », dit-il, « venez »."),
        ("3.5 euros l'heure.", "3.5 euros l'heure."),
        ("l\u2019e\u0301te\u0301 arrive.", "l\u2019été arrive."),
    ],
)
def test_only_speech_is_left(written: str, said: str) -> None:
    """Mark-up, list marks, emoji, stage directions, labels and quotes around it all go; what is said stays."""
    assert clean(written) == said


@pytest.mark.parametrize(
    "line",
    [
        "Client : Bonjour.",
        "**Candidat :** Bonjour.",
        "User: hello",
        "Customer : hello",
        "Vous : oui",
        "Visiteur 1 : oui",
        "Visitor: hi",
    ],
)
def test_the_other_s_label_is_known(line: str) -> None:
    """A line under the candidate's label is the candidate's, not to be spoken by the examiner."""
    assert speaks_for_other(line)


@pytest.mark.parametrize("line", ["Vendeur : Bonjour.", "Le client est roi.", "Prix : dix euros.", "10:30"])
def test_other_labels_are_not_the_other_s(line: str) -> None:
    """A label of the examiner's own role, or none, leaves the line its own."""
    assert not speaks_for_other(line)


@given(st.text(max_size=200))
def test_any_text_comes_back_on_one_line(text: str) -> None:
    """Arbitrary text raises nothing; what is left has no control character, no new line, and something to say."""
    cleaned = clean(text)
    assert cleaned == " ".join(cleaned.split())
    assert not cleaned or any(map(str.isalnum, cleaned))


def test_the_question_marks_are_those_of_unicode() -> None:
    """The table holds every character that Unicode names a question mark, but pictures, operators and U+037E."""
    # U+037E, the Greek one, is a semicolon once composed.
    named = {chr(code) for code in range(0x20000) if "QUESTION MARK" in unicodedata.name(chr(code), "")}
    assert named - set(QUESTION_MARKS) <= set("⍰\ufffd⩻⩼\u037e\U0001fbc4")
