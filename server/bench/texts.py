"""What the synthetic candidates say, and what the voice is given to speak.

A question is phrases with a pause between them, as people think while they speak. The monologue is task 1's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engines.protocols import Language

Phrases = tuple[str, ...]

QUESTIONS: Final[Mapping[Language, tuple[Phrases, ...]]] = {
    "en": (
        ("Hello, I would like some information please.", "What can you offer me for two people?"),
        ("And how much does it cost,", "with everything included?"),
        ("Is there a lower price for children under ten?",),
        ("I see.", "Which days of the week are the quietest,", "and when should I come?"),
        ("Do I have to book in advance, or can I simply turn up?",),
        ("What happens if I have to cancel at the last moment?",),
        ("Could you tell me what is included in that price?",),
        ("How do I get there from the station,", "if I have no car?"),
        ("Can I pay by card,", "or do you only take cash?"),
        ("My mother walks with a stick.", "Is there a lift in the building?"),
        ("What time does it open in the morning, and until when can I stay?",),
        ("Thank you.", "One last thing,", "is there someone I can phone if I have a problem?"),
    ),
    "fr": (
        ("Bonjour, je voudrais quelques renseignements.", "Qu'est-ce que vous proposez pour deux personnes ?"),
        ("Et combien est-ce que ça coûte,", "tout compris ?"),
        ("Est-ce qu'il y a un tarif réduit pour les enfants de moins de dix ans ?",),
        ("Je vois.", "Quels sont les jours les plus calmes,", "et quand est-ce que je devrais venir ?"),
        ("Faut-il réserver à l'avance, ou est-ce que je peux venir directement ?",),
        ("Qu'est-ce qui se passe si je dois annuler au dernier moment ?",),
        ("Pouvez-vous me dire ce qui est compris dans ce prix ?",),
        ("Comment est-ce que je viens depuis la gare,", "si je n'ai pas de voiture ?"),
        ("Est-ce que je peux payer par carte,", "ou seulement en espèces ?"),
        ("Ma mère marche avec une canne.", "Est-ce qu'il y a un ascenseur dans le bâtiment ?"),
        ("À quelle heure est-ce que vous ouvrez le matin, et jusqu'à quand peut-on rester ?",),
        ("Merci.", "Une dernière chose,", "est-ce que je peux appeler quelqu'un si j'ai un problème ?"),
    ),
}

MONOLOGUE: Final[Mapping[Language, Phrases]] = {
    "en": (
        "Good morning, my name is Claire and I come from a small town by the sea.",
        "I have been working in a hospital for about six years now.",
        "I like my work, but the hours are long and I often come home late in the evening.",
        "At the weekend I usually go walking in the hills with two friends and an old dog.",
        "Last summer we travelled through the north of the country by train, which was wonderful.",
        "I would like to learn how to cook properly, because I eat too many sandwiches.",
        "My brother lives abroad with his family, so we talk to each other on Sundays.",
        "In a few years I hope to open a small practice of my own, somewhere quiet.",
    ),
    "fr": (
        "Bonjour, je m'appelle Claire et je viens d'une petite ville au bord de la mer.",
        "Je travaille dans un hôpital depuis six ans environ.",
        "J'aime mon métier, mais les journées sont longues et je rentre souvent tard le soir.",
        "Le week-end, je pars marcher dans les collines avec deux amies et un vieux chien.",
        "L'été dernier, nous avons traversé le nord du pays en train, c'était magnifique.",
        "Je voudrais apprendre à bien cuisiner, parce que je mange trop de sandwichs.",
        "Mon frère vit à l'étranger avec sa famille, alors nous nous parlons le dimanche.",
        "Dans quelques années, j'espère ouvrir mon propre cabinet, dans un endroit tranquille.",
    ),
}

_ANSWERS: Final[Mapping[Language, Phrases]] = {
    "en": (
        "Of course.",
        "It is on the left.",
        "We open at nine.",
        "That comes to forty euros.",
        "The museum is closed on Mondays.",
        "Children under ten pay half of the price.",
        "You can pay by card, in cash, or by bank transfer.",
        "The next bus leaves in twenty minutes from the square behind the station.",
        "For a week in February we have two rooms left, one with a balcony and one that looks over the garden.",
        "Breakfast is included, it is served from seven to ten, and on Sundays the kitchen stays open until eleven.",
    ),
    "fr": (
        "Bien sûr.",
        "C'est à gauche.",
        "Nous ouvrons à neuf heures.",
        "Cela fait quarante euros.",
        "Le musée est fermé le lundi.",
        "Les enfants de moins de dix ans paient la moitié du prix.",
        "Vous pouvez payer par carte, en espèces ou par virement.",
        "Le prochain bus part dans vingt minutes, de la place derrière la gare.",
        "Pour une semaine en février, il nous reste deux chambres, une avec un balcon et une qui donne sur le jardin.",
        "Le petit déjeuner est compris, il est servi de sept heures à dix heures, et le dimanche jusqu'à onze heures.",
    ),
}

TEXTS: Final = 50


def texts_to_speak(language: Language) -> tuple[str, ...]:
    """Return :data:`TEXTS` texts, all different, of 9 to 213 characters: answers alone, in pairs and in threes."""
    answers = _ANSWERS[language]
    alone = list(answers)
    pairs = [f"{one} {answers[(at + 3) % len(answers)]}" for at, one in enumerate(answers)]
    others = [f"{one} {answers[(at + 7) % len(answers)]}" for at, one in enumerate(answers)]
    threes = [f"{pair} {answers[(at + 5) % len(answers)]}" for at, pair in enumerate(pairs)]
    lasts = [phrases[-1] for phrases in QUESTIONS[language]]
    return tuple([*alone, *MONOLOGUE[language], *pairs, *others, *threes, *lasts][:TEXTS])


def phrases_to_hear(language: Language) -> tuple[str, ...]:
    """Return the sentences that speech to text is given, each a recording of its own."""
    return (*MONOLOGUE[language], *(" ".join(phrases) for phrases in QUESTIONS[language]))
