"""The prompt of task 2: a role that answers and does not lead.

The system message is the same for the whole session and the history only grows (but for its rare cut), so
that what the LLM has read once it need not read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from server.exam.brief import Prompt, Role
from server.exam.notices import Language

MAX_TOKENS = 96
"""Three short sentences: about fifteen seconds of speech."""


TEMPERATURE, TEMPERATURE_AGAIN = 0.4, 0.7
"""Higher the second time, so that the answer is another one."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What the role-play is about: whom the examiner plays, in what setting, and what the candidate was told to do."""

    role: str
    contexte: str
    consigne: str = ""


_SCENE: dict[Language, str] = {
    "fr": "Vous jouez ce rôle dans une conversation de la vie courante : {role}.\nLa situation : {contexte}",
    "en": "You play this role in an everyday conversation: {role}.\nThe situation: {contexte}",
}

_ERRAND: dict[Language, str] = {"fr": "Ce qui amène l'autre : {}", "en": "What brings the other one: {}"}

_CONDUCT: dict[Language, str] = {
    "fr": (
        "C'est l'autre qui conduit l'échange et qui vous interroge.\n"
        "Donnez-lui ce qu'il demande en une à trois phrases courtes, comme on parle, avec des faits : prix, heures.\n"
        "Toutes vos phrases sont des affirmations. Vous n'interrogez jamais, même par politesse.\n"
        "Restez dans votre rôle. Pas de liste, pas de titre, rien entre parenthèses."
    ),
    "en": (
        "The other one guides the exchange and inquires; you reply.\n"
        "Give what is requested in one to three short sentences, the way people talk, with facts: prices, hours.\n"
        "All your sentences are statements. You never inquire, not even out of politeness.\n"
        "Stay in your role. No list, no heading, nothing in brackets."
    ),
}

_REMINDER: dict[Language, str] = {
    "fr": "(Une ou deux affirmations, chacune finie par un point.)",
    "en": "(One or two statements, each ending with a full stop.)",
}


def roleplay_prompts(
    language: Language, subject: Subject, history: Sequence[tuple[Role, str]]
) -> tuple[Prompt, Prompt]:
    """Return the request for an answer, and the one to make when nothing of its answer could be said.

    ``history`` is the dialogue so far, roles alternating; its last message is the candidate's turn.
    """
    messages: list[tuple[Role, str]] = [("system", _system(language, subject)), *history]
    role, words = messages[-1]
    again = (*messages[:-1], (role, f"{words}\n{_REMINDER[language]}"))
    return Prompt(tuple(messages), MAX_TOKENS, TEMPERATURE), Prompt(again, MAX_TOKENS, TEMPERATURE_AGAIN)


def _system(language: Language, subject: Subject) -> str:
    scene = _SCENE[language].format(role=subject.role.strip().rstrip("."), contexte=subject.contexte.strip())
    errand = [_ERRAND[language].format(subject.consigne.strip())] if subject.consigne.strip() else []
    return "\n".join([scene, *errand, _CONDUCT[language]])
