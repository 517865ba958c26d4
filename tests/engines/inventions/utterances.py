"""Short things that a candidate says, who says them, and where a person says such things in a recording."""

from __future__ import annotations

FRENCH = (
    "Oui.", "Non.", "D'accord.", "Merci.", "Bien sûr.", "Pas du tout.", "Exactement.", "Je ne sais pas.", "Bonjour.",
    "Au revoir.", "Peut-être.", "Pourquoi ?", "Bonne idée.", "Ça va.", "Très bien.", "Voilà.", "Je suis d'accord.",
    "C'est vrai.", "Tout à fait.", "Avec plaisir.", "Demain matin.", "À Montréal.", "Trois enfants.",
    "Merci beaucoup.", "Pardon ?", "Je comprends.", "Non merci.", "À bientôt.", "C'est combien ?", "Et vous ?",
)  # fmt: skip

ENGLISH = (
    "Yes.", "No.", "Okay.", "Thank you.", "Of course.", "Not at all.", "Exactly.", "I don't know.", "Hello.",
    "Goodbye.", "Maybe.", "Why?", "Good idea.", "I'm fine.", "Very good.", "That's it.", "I agree.", "That's true.",
    "Absolutely.", "With pleasure.", "Tomorrow morning.", "In London.", "Three children.", "Thank you very much.",
    "Pardon?", "I understand.", "No, thanks.", "See you soon.", "How much is it?", "And you?",
)  # fmt: skip

FRENCH_VOICES = (("ff_siwis", 1.0), ("ff_siwis", 0.85), ("ff_siwis", 1.2))
ENGLISH_VOICES = (("af_heart", 1.0), ("am_michael", 1.0), ("bf_emma", 1.1), ("bm_george", 0.9), ("am_puck", 1.0))
"""Kokoro's voices and their speeds; it has one French voice."""

BY_A_PERSON = (
    ("the worst of times", 3.40, 4.90),
    ("the age of wisdom", 5.36, 6.60),
    ("the spring of hope", 17.95, 18.98),
    ("the epoch of belief", 9.20, 10.70),
    ("the season of light", 13.95, 15.05),
    ("we had everything before us", 21.15, 22.78),
)
"""Words in the recording ``two_cities``, and the seconds between which they lie."""
