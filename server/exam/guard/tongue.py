"""Whether a sentence is in the profile's language: by its script, and by the small words that none goes without."""

from __future__ import annotations

import re
import unicodedata

from server.exam.guard.text import Language, fold

LONG_ENOUGH_WORDS = 7
SMALL_SHARE = 1 / 8
"""In a sentence of so many words or more, at least this share are its language's small words (a third is usual)."""

_FRENCH = (
    "le la les l' un une des du de d' et ou est sont c' ce cette ces qui que qu' quoi je j' tu il elle nous vous "
    "ils elles votre vos notre nos mon ma mes son sa ses leur dans pour par avec sans sur sous chez en au aux ne "
    "n' pas y à été être avez êtes avons quel quelle quels quelles comment pourquoi quand où combien oui non très "
    "plus mais donc alors si ça cela se s' depuis"
)
_ENGLISH = (
    "the a an of to and or is are was were am be been do does did you your yours i my we our he she it its they "
    "their this that these those what which who where when why how in at with for from by not no yes have has had "
    "can could will would should there if but so as about than then very i'm you're it's don't"
)
_SHARED = "a an as en in la le me no on or plus pour son sur"
"""Words of both languages, and names: they are no sign of the other one."""

_SMALL: dict[Language, frozenset[str]] = {"fr": frozenset(_FRENCH.split()), "en": frozenset(_ENGLISH.split())}
_TELLING: dict[Language, frozenset[str]] = {
    "fr": _SMALL["fr"] - frozenset(_SHARED.split()),
    "en": _SMALL["en"] - frozenset(_SHARED.split()),
}
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+|')?")
_CONTRACTED = re.compile(r"(?:n't|'(?:s|re|ll|ve|d|m))$")


def is_foreign(sentence: str, language: Language) -> bool:
    """Whether ``sentence`` is written in another script, or rather in another language than ``language``."""
    if not sentence.isascii() and any(_foreign_letter(character) for character in sentence):
        return True
    words = _WORD.findall(fold(sentence).replace("-", " "))
    own = sum(word in _SMALL[language] or (language == "en" and _CONTRACTED.search(word) is not None) for word in words)
    other = sum(word in _TELLING["en" if language == "fr" else "fr"] for word in words)
    return other > max(own, 1) or (len(words) >= LONG_ENOUGH_WORDS and own < SMALL_SHARE * len(words))


def _foreign_letter(character: str) -> bool:
    return ord(character) > 0x24F and character.isalpha() and not unicodedata.name(character, "").startswith("LATIN")
