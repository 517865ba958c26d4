"""The screen of task 2, where the candidate leads: the examiner answers and asks nothing."""

from __future__ import annotations

import re

from server.exam.guard.clauses import Clause, clauses, joined
from server.exam.guard.cleaning import clean
from server.exam.guard.faults import fault_in
from server.exam.guard.grammar import Form
from server.exam.guard.labels import speaks_for_other
from server.exam.guard.questions import forms, is_question
from server.exam.guard.role import ROLE
from server.exam.guard.sentences import pieces
from server.exam.guard.text import Language, has_mark
from server.exam.guard.tongue import is_foreign


class PassiveScreen:
    """Lets no question pass, nor a word out of role. One screen serves one answer.

    A sentence that asks is dropped; where a whole statement stands before its question, the statement stays. Once the
    model writes the candidate's own lines ("Client : …") nothing more of the answer passes. A sentence passes once:
    small models go round in circles.
    """

    def __init__(self, language: Language) -> None:
        self._language = language
        self._over = False
        self._spoke = False
        self._unfinished = ""
        self._passed: set[str] = set()

    def feed(self, sentence: str) -> list[str]:
        """Take the answer's next sentence, as written; return what may be spoken now, in order.

        A sentence without an end is held back until the next one shows that the answer was not cut short in it.
        """
        passed = []
        for kept in map(self._screened, pieces(sentence)):
            passed += [held for held in [self._unfinished] if held]
            ended = kept == "" or _ENDED.search(kept) is not None
            self._unfinished = "" if ended else kept
            passed += [kept] if kept and ended else []
        self._spoke = self._spoke or bool(passed)
        return passed

    def finish(self) -> list[str]:
        """The answer is over; return its last sentence if it has no end and is all there is: half a one beats none."""
        held, self._unfinished = self._unfinished, ""
        return [held] if held and not self._spoke else []

    def _screened(self, piece: str) -> str:
        self._over = self._over or speaks_for_other(piece)
        if self._over:
            return ""
        text = clean(piece)
        if is_question(text, self._language):
            text = statement_before(text, self._language)
        if not text or is_foreign(text, self._language) or fault_in(text, ROLE[self._language]):
            return ""
        if text in self._passed:
            return ""
        self._passed.add(text)
        return text


_ENDED = re.compile(r"[.!…:;][\s»”’\")\]]*$")

# An answer in a word, which needs no verb to stand alone.
_ANSWERS = {
    "fr": re.compile(
        r"(?:oui|non|bien sûr|d' accord|entendu|parfait|très bien|tout à fait|absolument|certainement|volontiers|"
        r"exactement|avec plaisir|"
        r"merci|bonjour|bonsoir|désolée?|je vous en prie|pas de problème|c' est noté)\b"
    ),
    "en": re.compile(
        r"(?:yes|no|of course|certainly|sure|absolutely|okay|ok|very well|perfect|thank you|thanks|hello|hi|"
        r"good (?:morning|afternoon|evening)|"
        r"sorry|no problem|my pleasure|exactly|great|wonderful|lovely)\b"
    ),
}
# A subject before its verb, or a noun with its article: the head of a clause that says something.
_STATES = {
    "fr": re.compile(
        r"(?:(?:et|mais|donc|alors|oui|non|bien|bon) )?(?:je|j'|nous|vous|on|ils?|elles?|ce|c'|ça|cela|il y a|voici|"
        r"voilà|(?:le|la|les|l'|une?|des|notre|nos|mon|ma|mes|ce|cet|cette|ces|votre|vos) ?\S+ \S+)(?!\w)"
    ),
    "en": re.compile(
        r"(?:(?:and|but|so|yes|no|well) )?(?:i|we|you|it|he|she|they|there|that|this|i'm|it's|that's|there's|we're|"
        r"you're|i'll|we'll|i've|we've|here|the \w+ \w+|an? \w+ \w+|our \w+ \w+|my \w+ \w+|your \w+ \w+)\b"
    ),
}


def statement_before(question: str, language: Language) -> str:
    """Return the statement that stands before the question in ``question``; empty when none stands by itself."""
    parts = clauses(question)
    asking = forms(parts, language)
    first = next((index for index, form in enumerate(asking) if form), len(parts) - 1)
    marked = next((index for index, part in enumerate(parts) if has_mark(part.after)), len(parts))
    first = min(first, marked)
    kept = parts[:first]
    if not kept or not _stands_alone(kept, parts[first], asking[first], language):
        return ""
    statement = joined(kept).strip(" ,;:-–—")
    statement = statement + "." if statement[-1:].isalnum() or statement[-1:] in "%€$°" else statement
    return "" if is_question(statement, language) else statement


def _stands_alone(kept: list[Clause], asked: Clause, form: Form | None, language: Language) -> bool:
    """Whether ``kept`` says something whole, and the clause ``asked`` after it is a question of its own."""
    if all(_ANSWERS[language].match(part.text) for part in kept):
        return True
    states = _STATES[language]
    return states.match(kept[-1].text) is not None and (form is not None or states.match(asked.text) is not None)
