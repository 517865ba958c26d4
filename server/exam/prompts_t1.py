"""The prompt of task 1: one question about what was just said.

Short, because a CPU reads it, and with examples, because a model of 1.5 billion parameters follows those better than
rules. The examples are turns of the chat in the very shape of the real request, so that the real one differs
from them in its last message only, and all before it stays in the LLM's cache.
"""

from __future__ import annotations

from server.exam.brief import Prompt, Role
from server.exam.notices import Language
from server.exam.spoken import tail

HEARD_CHARS = 600
"""How much of the monologue is read, from its end: forty seconds of speech. A relance is about what was just said."""

MAX_TOKENS = 64
"""Twenty words are about forty tokens; what runs on is cut."""

TEMPERATURE, TEMPERATURE_AGAIN = 0.3, 0.7
"""Low at first: at 0.7 Qwen 1.5B loses the thread and the length. Higher again, so that it says something else."""

_RULES: dict[Language, str] = {
    "fr": (
        "Vous menez un entretien amical. La personne en face de vous se présente, et vous montrez votre intérêt.\n"
        "Vous écrivez une seule phrase : une question, de 12 à 18 mots, avec « vous », en français courant et poli.\n"
        "Elle reprend un détail précis de ses paroles et lui donne envie de développer.\n"
        "Ni remerciement, ni compliment, ni correction, ni explication : seulement la question."
    ),
    "en": (
        "You lead a friendly interview. The person in front of you talks about their life, and you show interest.\n"
        "You write a single sentence: a question of 12 to 18 words, said to them as “you”, in plain, polite English.\n"
        "It takes up one precise detail of their words and makes them want to go on.\n"
        "No thanks, no praise, no correction, no explanation: only the question."
    ),
}

_EXAMPLES: dict[Language, tuple[tuple[str, str], ...]] = {
    "fr": (
        (
            "Je m'appelle Sofia, je suis infirmière, je travaille la nuit et j'ai deux enfants.",
            "Comment organisez-vous vos journées avec vos deux enfants quand vous avez travaillé toute la nuit ?",
        ),
        (
            "Moi euh j'aime beaucoup la cuisine, le dimanche je prépare les plats de mon pays pour mes amis.",
            "Quel plat de votre pays préparez-vous le plus souvent pour vos amis le dimanche ?",
        ),
    ),
    "en": (
        (
            "My name is Sofia, I am a nurse, I work at night and I have two children.",
            "How do you organise your days with your two children when you have worked all night?",
        ),
        (
            "Me, uh, I like cooking very much, on Sunday I make dishes of my country for my friends.",
            "Which dish of your country do you make most often for your friends on Sunday?",
        ),
    ),
}
"""No names of places and one plain question each: a small model takes over both the details and the shape."""

_ASKED: dict[Language, str] = {"fr": "(Déjà demandé : {})", "en": "(Already asked: {})"}

_REMINDER: dict[Language, str] = {
    "fr": "(Répondez par une question seule, adressée à « vous », de 12 à 18 mots.)",
    "en": "(Answer with one question alone, said to “you”, of 12 to 18 words.)",
}


def interview_prompts(language: Language, heard: str, asked: list[str]) -> tuple[Prompt, Prompt]:
    """Return the request for a relance, and the one to make when its answer was of no use.

    ``heard`` is all that the candidate has said, ``asked`` the relances that were heard before.
    """
    messages: list[tuple[Role, str]] = [("system", _RULES[language])]
    for said, question in _EXAMPLES[language]:
        messages += [("user", said), ("assistant", question)]
    words = "\n".join([tail(heard, HEARD_CHARS), *(_ASKED[language].format(question) for question in asked)])
    again = f"{words}\n{_REMINDER[language]}"
    return (
        Prompt((*messages, ("user", words)), MAX_TOKENS, TEMPERATURE),
        Prompt((*messages, ("user", again)), MAX_TOKENS, TEMPERATURE_AGAIN),
    )
