"""Where a voice may pause in a stretch without marks: before a word that begins a new part of the sentence.

Only for French and English; in other languages a stretch is spoken in one go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class _Words:
    """Words of one language.

    ``beginning`` ones begin a clause or a group of words. ``clinging`` ones belong to what follows them: articles,
    pronouns, prepositions, auxiliaries. ``numbers`` are those of which longer numbers are made.
    """

    beginning: frozenset[str]
    clinging: frozenset[str]
    numbers: frozenset[str]


def _words(beginning: str, clinging: str, numbers: str) -> _Words:
    return _Words(frozenset(beginning.split()), frozenset(clinging.split()), frozenset(numbers.split()))


_FRENCH: Final = _words(
    """et ou mais car donc puis alors parce puisque quand lorsque si comme qui que où dont afin avec sans pour dans chez
    à au aux en sur par depuis pendant avant après vers jusqu'à jusqu'au ainsi""",
    """le la les un une des du de d' l' au aux ce cet cette ces mon ma mes ton ta tes son sa ses notre nos votre vos
    leur leurs quel quelle quels quelles à en par sur sous entre très plus moins trop assez si aussi ne pas est sont
    ai as a avons avez ont être avoir je tu il elle on nous vous ils elles se me te y que qui dont où monsieur madame
    alors tandis pendant depuis après avant afin bien dès lors et ou mais pour avec sans dans chez comme quand jusque
    tout parce""",
    """un une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt vingts trente
    quarante cinquante soixante cent cents mille million millions milliard milliards virgule demi demie quart midi""",
)
_ENGLISH: Final = _words(
    """and or but so because since when while if as who which that where with without for in on at from into during
    before after until through about""",
    """the a an this that these those my your his her its our their of to by very more less too is are was were be been
    am have has had do does did can could will would shall should may might must not i you he she it we they mr mrs
    ms dr and or but as such if so even just only who which with without for in on at from into all""",
    """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion point
    half""",
)
_LANGUAGES: Final = {"fr": _FRENCH, "en": _ENGLISH}
_JOINING: Final = frozenset({"et", "ou", "à", "and", "or"})
"""Words that stand inside a number, as in "vingt et un" and "two and a half"."""

_WORD: Final = re.compile(r"\S+")
_ELIDED: Final = re.compile(r"(?:qu|lorsqu|puisqu)['’].+")


def breaths(text: str, language: str) -> Iterator[int]:
    """Yield the places in ``text`` before which a voice may pause, in order, each the start of a word.

    ``language`` is "fr" or "en", with or without a region. Never inside a number or a name, nor after an article.
    """
    words = _LANGUAGES.get(language[:2])
    if words is None:
        return
    found = list(_WORD.finditer(text))
    for before, word, after in zip(found, found[1:], found[2:], strict=False):
        if _begins(word.group(), words) and not _clings(before.group(), word.group(), after.group(), words):
            yield word.start()


def _begins(word: str, words: _Words) -> bool:
    return word in words.beginning or _ELIDED.fullmatch(word) is not None


def _clings(before: str, word: str, after: str, words: _Words) -> bool:
    """Whether ``word``, between these two, may not be parted from the one before it."""
    if word in _JOINING and (_is_number(before, words) or after.startswith("demi")):
        return True
    if before[0].isupper() and after[0].isupper():
        return True
    return before.casefold() in words.clinging or before.endswith(("'", "’", "-"))


def _is_number(word: str, words: _Words) -> bool:
    plain = word.casefold().strip(".,;:!?")
    return plain[:1].isdigit() or any(part in words.numbers for part in plain.split("-"))
