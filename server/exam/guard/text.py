"""Text as the rules see it: one apostrophe, one space, one hyphen, small letters; words as a reader counts them."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Language = Literal["fr", "en"]

QUESTION_MARKS = "?¿՞؟፧᥅⁇⁈⁉❓❔⳺⳻⸮⹔꘏꛷︖﹖？‽\U00011143\U0001e95f\U000e003f"
"""Every character that Unicode names a question mark, and the interrobang. (The Greek one composes to a semicolon.)"""

_MARK = re.compile(f"[{re.escape(QUESTION_MARKS)}]")
_SAME = str.maketrans(
    dict.fromkeys("’‘ʼ′`´＇", "'")
    | dict.fromkeys("\u2010\u2011\u00ad\ufe63\uff0d", "-")
    | dict.fromkeys("\u00a0\u202f\u2009\u2007\u2002\u2003\u200a\u3000", " ")
)
_ELISION = re.compile(r"\b(qu|jusqu|lorsqu|puisqu|quoiqu|[cdjlmnst])'(?=\w)")


def composed(text: str) -> str:
    """Return ``text`` in Unicode's composed form (NFC), which every rule expects."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def fold(text: str) -> str:
    """Return ``text`` as the rules match it: ``L’été`` becomes ``l' été``, its elided word apart."""
    return _ELISION.sub(r"\1' ", " ".join(text.translate(_SAME).lower().split()))


def has_mark(text: str) -> bool:
    """Whether a question mark of any script stands anywhere in ``text``."""
    return _MARK.search(text) is not None


def without_marks(text: str) -> str:
    """Return ``text`` without its question marks."""
    return _MARK.sub("", text)


def word_count(text: str) -> int:
    """Count words as a reader does: what stands between spaces and holds a letter or a digit.

    An elided article belongs to its noun (``l'école`` is one word), so does a clitic (``avez-vous`` is one); a mark
    set apart by a French space is none.
    """
    return sum(any(character.isalnum() for character in word) for word in text.split())
