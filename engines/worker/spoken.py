"""Written text made ready for espeak-ng: what it would spell, misread or describe is put into words or taken out."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_FRENCH: Final = (
    (r"(?<!\d)(\d{1,3})[ \u202f\u00a0](\d{3})\b", r"\1\2"),
    (r"\bM\.(?=\s+[A-ZÀ-Ý])", "monsieur"),
    (r"\bMM\.(?=\s+[A-ZÀ-Ý])", "messieurs"),
    (r"\bMlle\b\.?", "mademoiselle"),
    (r"\bMmes\b\.?", "mesdames"),
    (r"\bMme\b\.?", "madame"),
    (r"\bn[°º]\s*(?=\d)", "numéro "),
    (r"\bp\.\s*ex\.", "par exemple"),
    (r"\bc\.-à-d\.", "c'est-à-dire"),
    (r"\b1re\b", "première"),
    (r"\b(\d+)e\b", r"\1ième"),
    (r"\b(\d+),(\d\d)\s*€", r"\1 euros \2"),
    (r"\b(\d+)\s*€", r"\1 euros"),
    (r"\b(\d+),(\d\d)\s*\$", r"\1 dollars \2"),
    (r"\b(\d+)\s*\$", r"\1 dollars"),
    (r"\b(\d{1,2})\s*[h:]\s*00\b", r"\1 heures"),
    (r"\b(\d{1,2})\s*[h:]\s*(\d\d)\b", r"\1 heures \2"),
    (r"\b(\d{1,2})\s*h\b", r"\1 heures"),
)
_ENGLISH: Final = (
    (r"\bNo\.\s*(?=\d)", "number "),
    (r"\be\.g\.", "for example"),
    (r"\bi\.e\.", "that is"),
)
_RULES: Final = {
    "fr-fr": tuple((re.compile(pattern), words) for pattern, words in _FRENCH),
    "en-us": tuple((re.compile(pattern), words) for pattern, words in _ENGLISH),
    "en-gb": tuple((re.compile(pattern), words) for pattern, words in _ENGLISH),
}
_LANGUAGE_FLAG = re.compile(r"\([a-z]{2,3}(?:-[a-z]+)*\)")
_FIRST_SYMBOL = 0x2190
"""Arrows, dingbats and emoji begin here; the symbols below it (°, ©, №) are read aloud as words."""


def speakable(text: str, espeak_language: str) -> str:
    """Return ``text`` as it is to be spoken, on one line; empty when it has nothing to say.

    Emoji and dingbats are taken out (espeak-ng describes them: "smiling face"), typographic apostrophes become
    plain ones, and the abbreviations, prices, hours and ordinals of the language are written out.
    """
    plain = "".join(letter for letter in text.replace("’", "'") if not _is_picture(letter))
    for pattern, words in _RULES.get(espeak_language, ()):
        plain = pattern.sub(words, plain)
    plain = " ".join(plain.split())
    return plain if any(letter.isalnum() for letter in plain) else ""


def without_flags(phonemes: str) -> str:
    """Return ``phonemes`` without espeak-ng's marks of a change of language, "lə (en)wˈiːkˈɛnd(fr)".

    Kokoro would read them aloud. A parenthesis of the text stays: its phonemes hold stress marks, spaces or letters
    that are not ASCII.
    """
    return _LANGUAGE_FLAG.sub("", phonemes)


def _is_picture(letter: str) -> bool:
    category = unicodedata.category(letter)
    if category in {"So", "Sk", "Mn"}:  # accents that combine are Mn too, and stay
        return ord(letter) >= _FIRST_SYMBOL
    return category in {"Me", "Cf", "Cs", "Co", "Cn"}
