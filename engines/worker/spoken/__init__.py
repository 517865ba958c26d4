"""Written text made ready for espeak-ng: what it would spell, misread, describe or skip is put into words.

Marks of layout go first (:mod:`.marks`), then addresses (:mod:`.addresses`), then the rules of the language, in order.
Numbers stay in digits: espeak-ng reads them well, in French better than the same numbers in words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from engines.worker.spoken.addresses import in_words
from engines.worker.spoken.english import ENGLISH
from engines.worker.spoken.french import FRENCH
from engines.worker.spoken.marks import one_line, plain_letters, without_layout, without_links

Rule = tuple[str, str | Callable[[re.Match[str]], str]]

_PASSES: Final = 8
"""What a rule wrote may be another's business, as in "2 x 3 x 4 €"; ordinary text is settled after two passes."""

_RULES: Final = {
    language: tuple((re.compile(pattern), words) for pattern, words in rules)
    for language, rules in {"fr-fr": FRENCH, "en-us": ENGLISH, "en-gb": ENGLISH}.items()
}
_LANGUAGE_FLAG = re.compile(r"\([a-z]{2,3}(?:-[a-z]+)*\)")


def speakable(text: str, espeak_language: str) -> str:
    """Return ``text`` as it is to be spoken, on one line; empty when it has nothing to say.

    Speakable text stays as it is. Emoji and Markdown are taken out (espeak-ng describes them: "smiling face",
    "asterisk"); addresses and the abbreviations, prices, hours and ordinals of the language are written out.
    """
    for _ in range(_PASSES):
        before, text = text, _once(text, espeak_language)
        if text == before:
            break
    return text if any(letter.isalnum() for letter in text) else ""


def without_flags(phonemes: str) -> str:
    """Return ``phonemes`` without espeak-ng's marks of a change of language, "lə (en)wˈiːkˈɛnd(fr)".

    Kokoro would read them aloud. A parenthesis of the text stays: its phonemes hold stress marks, spaces or letters
    that are not ASCII.
    """
    return _LANGUAGE_FLAG.sub("", phonemes)


def _once(text: str, espeak_language: str) -> str:
    plain = without_layout(in_words(without_links(plain_letters(text)), espeak_language))
    for pattern, words in _RULES.get(espeak_language, ()):
        plain = pattern.sub(words, plain)
    return one_line(plain)
