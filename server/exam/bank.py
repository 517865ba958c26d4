"""Sentences that need no model: they are spoken ahead of time, at start-up, and stand in when there is nothing better.

Each costs a synthesis at start-up, so there are few. The relances are questions of 10 to 20 words that fit any answer;
the statements answer any request without asking anything.
"""

from __future__ import annotations

import random
from enum import Enum

from server.exam.notices import Language


class Need(Enum):
    """What a sentence of the bank is for."""

    NOT_BEGUN = "a relance for a candidate who has not begun"
    LITTLE_SAID = "a relance for one who has said little"
    RELANCE = "a relance for one who has said enough"
    STATEMENT = "an answer in the role-play"


_SENTENCES: dict[Language, dict[Need, tuple[str, ...]]] = {
    "fr": {
        Need.NOT_BEGUN: (
            "Pouvez-vous commencer par vous présenter et me parler de votre vie de tous les jours ?",
            "Pour commencer tout simplement, comment se passe une journée ordinaire chez vous, en semaine ?",
        ),
        Need.LITTLE_SAID: (
            "Pouvez-vous m’en dire un peu plus sur vous, votre famille et vos activités habituelles ?",
            "Et le reste du temps, quelles sont les activités qui vous font le plus plaisir ?",
        ),
        Need.RELANCE: (
            "Pouvez-vous me donner un exemple précis, tiré de votre vie, pour illustrer cela ?",
            "De tout ce dont vous parlez, qu’est-ce qui compte le plus pour vous aujourd’hui ?",
            "Comment imaginez-vous la suite pour vous et pour vos proches dans les prochaines années ?",
        ),
        Need.STATEMENT: (
            "Je vous écoute, prenez tout votre temps.",
            "C’est bien noté, je reste à votre disposition.",
            "Je comprends, nous allons trouver une solution ensemble.",
            "Très bien, cela ne pose aucune difficulté.",
            "Bien sûr, je peux vous renseigner sur ce point.",
        ),
    },
    "en": {
        Need.NOT_BEGUN: (
            "Could you begin by introducing yourself and telling me about your everyday life?",
            "To begin simply, could you tell me about the town or the village you live in?",
        ),
        Need.LITTLE_SAID: (
            "Could you tell me a little more about yourself, your family and your usual activities?",
            "And for the rest of your time, which activities do you enjoy the most?",
        ),
        Need.RELANCE: (
            "Could you give me one clear example of that, taken from your own life?",
            "Of all the things that you mention, which one matters most to you today?",
            "How do you imagine the next few years for you and the people around you?",
        ),
        Need.STATEMENT: (
            "I am listening, please take all your time.",
            "That is noted, and I am here to help you.",
            "I understand, we will find a solution together.",
            "Very well, that is no trouble at all.",
            "Of course, I can tell you more about that.",
        ),
    },
}


def every_sentence(language: Language) -> tuple[str, ...]:
    """Return all sentences of the bank, for synthesis ahead of time."""
    return tuple(sentence for sentences in _SENTENCES[language].values() for sentence in sentences)


def sentences(language: Language, need: Need) -> tuple[str, ...]:
    """Return the sentences for ``need``."""
    return _SENTENCES[language][need]


class Bank:
    """One session's way through the bank: a sentence comes back only when all for the same need were spent."""

    def __init__(self, language: Language, rng: random.Random | None = None) -> None:
        """Take the sentences as they are written, or in an order of ``rng``."""
        self._left = {need: list(sentences(language, need)) for need in Need}
        self._spent: dict[Need, list[str]] = {need: [] for need in Need}
        if rng is not None:
            for left in self._left.values():
                rng.shuffle(left)

    def look_up(self, need: Need) -> str:
        """Return the next sentence for ``need``; it stays the next one until it is spent."""
        if not self._left[need]:
            self._left[need], self._spent[need] = self._spent[need], []
        return self._left[need][0]

    def spend(self, sentence: str) -> None:
        """``sentence`` may have been heard."""
        for need, left in self._left.items():
            if sentence in left:
                left.remove(sentence)
                self._spent[need].append(sentence)
