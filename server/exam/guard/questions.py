"""Whether a sentence asks, and by which form."""

from __future__ import annotations

from collections.abc import Sequence

from server.exam.guard.clauses import Clause, clauses
from server.exam.guard.english import ENGLISH
from server.exam.guard.french import FRENCH
from server.exam.guard.grammar import Form, Grammar, Place
from server.exam.guard.text import Language, composed, has_mark

GRAMMARS: dict[Language, Grammar] = {"fr": FRENCH, "en": ENGLISH}


def is_question(sentence: str, language: Language) -> bool:
    """Whether ``sentence`` asks something, with or without a mark."""
    sentence = composed(sentence)
    return has_mark(sentence) or any(forms(clauses(sentence), language))


def forms(parts: Sequence[Clause], language: Language) -> list[Form | None]:
    """Say for each clause of one sentence by which form it asks, its mark left aside; ``None`` where it does not."""
    grammar = GRAMMARS[language]
    found: list[Form | None] = []
    first, governed, last = True, False, len(parts) - 1
    for index, clause in enumerate(parts):
        core = grammar.openers.sub("", clause.text, count=1)
        places = {Place.ANY}
        if first:
            places |= {Place.FIRST, Place.ALONE} if index == last else {Place.FIRST}
        elif index == last and clause.before.strip() == ",":
            places.add(Place.LATER)
        found.append(_form(grammar, clause, core, places, governed=governed and core == clause.text))
        aside = not core or grammar.asides.fullmatch(core) is not None
        first = first and aside
        governed = governed or (not aside and grammar.governs.search(core) is not None)
    return found


def _form(grammar: Grammar, clause: Clause, core: str, places: set[Place], *, governed: bool) -> Form | None:
    if grammar.exclaims.search(core if not clause.after.startswith("!") else f"{core} !"):
        return None
    for rule in grammar.rules:
        if rule.place not in places or (governed and rule.form is Form.FRONTED):
            continue
        text = clause.text if rule.whole else core
        if rule.pattern.search(text) and not (rule.unless and rule.unless.search(text)):
            return rule.form
    return None
