"""French words that several rules share. Patterns are tried on folded clauses: ``qu' est-ce``, single spaces."""

from __future__ import annotations

from server.exam.guard.grammar import one_of

QUEL = "quel(?:le)?s?"
LEQUEL = "(?:le|la|les)quel(?:le)?s?"
WH = rf"(?:où|quand|comment|combien|pourquoi|quoi|qui|{QUEL}|{LEQUEL})"
"""A question word. Most of them also begin relatives and subordinates."""

PREPOSITION = (
    "(?:"
    + one_of(
        "à a d' de du en dans pour par avec sans chez vers depuis jusqu'_à jusqu' pendant sur sous entre selon "
        "après avant"
    )
    + " )"
)

INDIRECT = rf"(?:{PREPOSITION}?{WH}|si|s'|ce (?:que|qu'|qui|dont)|est-ce)(?!\w)"
"""What begins an indirect question."""

GOVERNS = (
    r"\b"
    + one_of(
        r"sai[st] savez savons savent savoir saur\w+ connai\w+ di[st] dites disent dire dira\w* diront expliqu\w+ "
        r"montr\w+ indiqu\w+ précis\w+ voir voi[st] voyez voyons verr\w+ regard\w+ vérifi\w+ compren\w+ compris "
        r"décid\w+ dépend\w* selon demand\w+ appren\w+ ignor\w+ découvr\w+ importe note notez noter rappel\w+ "
        r"confirm\w+ choisi\w* imagin\w+ devin\w+ racont\w+ calcul\w+ compter prévoir mesurer estimer tient lire "
        "trop là c'_est_pourquoi"
    )
    + r"\b(?!-)"
)
"""What makes a question word introduce something known, said, seen or shown: "je vous montre où se trouve la gare"."""

GOVERNED = rf"{GOVERNS}.*\b{WH}\b|\b(?:n'|peu) importe\b|\b{QUEL} (?:que|qu')|\bquand même\b"
"""A question word that is governed, or is none at all: "n'importe où", "quel que soit", "quand même"."""
