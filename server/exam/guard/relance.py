"""The screen of task 1, where the examiner prods: exactly one question of 10 to 20 words leaves, or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from server.exam.guard.clauses import Clause, clauses, joined
from server.exam.guard.cleaning import clean
from server.exam.guard.conduct import RELANCE
from server.exam.guard.faults import fault_in
from server.exam.guard.grammar import DIRECT, Form
from server.exam.guard.labels import speaks_for_other
from server.exam.guard.questions import forms
from server.exam.guard.sentences import pieces
from server.exam.guard.text import Language, has_mark, without_marks, word_count
from server.exam.guard.tongue import is_foreign

MIN_WORDS = 10
"""Fewest words of a relance."""

MAX_WORDS = 20
"""Most words of a relance."""


class RelanceScreen:
    """Lets one question pass, at the end of the answer. One screen serves one answer.

    The first question of right length and without fault is taken; one that is too long, or whose fault lies in what
    stands around it, is cut: what leads up to it goes, then a tag or a second question behind it. No word is added.
    """

    def __init__(self, language: Language) -> None:
        self._language = language
        self._found: list[str] = []
        self._over = False

    def feed(self, sentence: str) -> list[str]:
        """Take the answer's next sentence; return nothing yet, for the answer is judged as a whole."""
        for piece in pieces(sentence):
            self._over = self._over or speaks_for_other(piece)
            if not self._over and (text := clean(piece)):
                self._found.append(text)
        return []

    def finish(self) -> list[str]:
        """The answer is over; return its question, alone, or an empty list."""
        for text in self._found:
            for question in _readings(text, self._language):
                if is_relance(question, self._language):
                    return [question]
        return []


def is_relance(text: str, language: Language) -> bool:
    """Whether ``text`` may be spoken as a relance: one question of 10 to 20 words, without fault."""
    return (
        text.endswith("?")
        and not has_mark(text[:-1])
        and MIN_WORDS <= word_count(text) <= MAX_WORDS
        and not is_foreign(text, language)
        and fault_in(text, RELANCE[language]) is None
        and not _asks_twice(text, language)
    )


def _readings(text: str, language: Language) -> Iterator[str]:
    """Yield the questions that ``text`` holds: as it stands, then with less and less before and behind."""
    parts = clauses(_split_at_second(text, language))
    marked = has_mark(text)
    asking = _asking(parts, language)
    for start in range(len(parts)):
        for end in range(len(parts), start, -1):
            if end < len(parts) and not _may_go(parts[end], asking[end]):
                break
            own_mark = marked and all(form is Form.TAG for form in asking[end:])
            if _is_whole(parts[start:end], asking[start:end], marked=own_mark, cut=start > 0, language=language):
                whole = start == 0 and end == len(parts)
                yield _as_question(text if whole else _from(parts[start:end], cut=start > 0), language)


# A question joined to the one before by its conjunction.
_JOINT = {"fr": re.compile(r",? (?=(?:et|ou|mais|puis) )"), "en": re.compile(r",? (?=(?:and|or|but) )")}
_JOINED = re.compile(r"^(?:et|ou|mais|puis|alors|donc|and|or|but|so|then) ", re.IGNORECASE)
_WHY = re.compile(r"^(?:et|ou|and|or) (?:pourquoi|comment|où|quand|avec qui|why|how|where|when|with whom)$")
# "la ville où vous vivez et où vous travaillez": two relatives, one question.
_RELATIVE = re.compile(r"^\w+ (?:\w+ )?(où|qui|que|quand|dont|where|who|which|that|when)\b", re.IGNORECASE)
_SUBJECT = {
    "fr": re.compile(r"(?:(?:et|alors|donc|mais) )?(?:vous|c' est|votre|vos|ce|cette|cela|ça)\b"),
    "en": re.compile(r"(?:(?:and|so|but|then) )?(?:you|your|you're|you've|it|that|this)\b"),
}


def _split_at_second(text: str, language: Language) -> str:
    """Set a comma before each conjunction that joins another question: "… et pourquoi l'avez-vous choisi"."""
    for found in reversed(list(_JOINT[language].finditer(text))):
        before, after = text[: found.start()], text[found.end() :]
        if any(form in DIRECT for form in _asking(clauses(before), language)) and _joins(before, after, language):
            text = f"{before}, {after}"
    return text


def _joins(before: str, after: str, language: Language) -> bool:
    """Whether ``after``, which begins with its conjunction, opens a question of its own."""
    relative = _RELATIVE.match(after)
    if relative and re.search(rf"\w {relative[1]}\b", before, re.IGNORECASE):
        return False
    return any(
        form in DIRECT or _WHY.match(part.text) for part in clauses(after)[:1] for form in forms([part], language)
    )


def _asking(parts: list[Clause], language: Language) -> list[Form | None]:
    """Say by which form each clause asks; one that a conjunction joins is seen by itself, as if it were the first."""
    return [
        form or (forms([part], language)[0] if index and _JOINED.match(part.text) else None)
        for index, (part, form) in enumerate(zip(parts, forms(parts, language), strict=True))
    ]


def _asks_twice(text: str, language: Language) -> bool:
    parts = clauses(_split_at_second(text, language))
    asking = [form for form in _asking(parts, language) if form in DIRECT]
    return len(asking) > 1 or any(_WHY.match(part.text) for part in parts)


def _may_go(part: Clause, form: Form | None) -> bool:
    """Whether what begins with ``part`` may be cut from behind a question: a tag, or another question."""
    return form is Form.TAG or form in DIRECT or _WHY.match(part.text) is not None


def _is_whole(parts: list[Clause], asking: list[Form | None], *, marked: bool, cut: bool, language: Language) -> bool:
    """Whether ``parts`` are a question by themselves: by form, or by their mark where nothing was cut before them."""
    if any(form in DIRECT for form in (asking[:1] if cut else asking)):
        return True
    return marked and (not cut or _SUBJECT[language].match(parts[0].text) is not None)


def _from(parts: list[Clause], *, cut: bool) -> str:
    """Write ``parts`` as a text; a conjunction at its head goes when what it joined is gone."""
    text = joined(parts)
    return _JOINED.sub("", text) if cut else text


def _as_question(text: str, language: Language) -> str:
    """Give ``text`` its capital and one question mark, after a French space where the language has it."""
    text = without_marks(text).strip(" ,;:.…!-–—\"'«»“”‘’")
    return text[:1].upper() + text[1:] + ("\u00a0?" if language == "fr" else "?")
