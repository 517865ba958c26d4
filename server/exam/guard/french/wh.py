"""French question words, at the head of a clause or left in their place."""

from __future__ import annotations

from server.exam.guard.french.words import GOVERNED, LEQUEL, PREPOSITION, QUEL
from server.exam.guard.grammar import Form, Place, one_of, rule

_AS_YOU_LIKE = r"(?:vous|tu) (?:voul\w+|voudr\w+|souhait\w+|pouv\w+|pourr\w+|préfér\w+)$"

FRONTED = (
    rule(
        Form.FRONTED,
        rf"^{PREPOSITION}?(?:pourquoi|comment|combien|{QUEL})\b",
        unless=rf"^{PREPOSITION}?{QUEL} (?:que|qu')|^(?:en|à) quel(?:le)? (?:sorte|point)\b|^comment (?:vous )?dire$",
    ),
    rule(Form.FRONTED, r"^(?:pour|depuis|jusqu' à|à partir de|avant|d' ici|de) quand\b"),
    # The next words also begin relatives and subordinates: only at the head of the sentence do they ask.
    rule(
        Form.FRONTED,
        r"^(?:d' |par |jusqu' |vers |de )?où\b",
        unless=rf"^(?:\S+ )?où (?:que|qu')|^où {_AS_YOU_LIKE}|^d' où (?:l'|la|le|les|une?|notre|mon|ma|ce)\b",
        place=Place.FIRST,
    ),
    rule(
        Form.FRONTED,
        rf"^{PREPOSITION}?(?:qui|{LEQUEL}|(?:au|du|aux|des)quel(?:le)?s?)\b",
        unless=r"^qui (?:plus est|vivra|sait|dit|que ce soit)\b|^auquel cas",
        place=Place.FIRST,
    ),
    rule(
        Form.FRONTED,
        rf"^{PREPOSITION}?quoi\b",
        unless=r"^quoi (?:que|qu')|^(?:sans|après|grâce à|sur|avant) quoi\b|^de quoi (?!vous)\w+(?:er|ir|re)\b",
        place=Place.FIRST,
    ),
    # "que" exclaims or subordinates before most words: these follow it in questions only.
    rule(
        Form.FRONTED,
        r"^(?:que|qu' en|qu' y) (?:\w+(?:er|ir|re|oir)|pensent?|pense|veut|veulent|font|dit|disent|devient|deviennent|"
        r"se passe|s' est|signifie|reste|désire|cherche|faut)\b",
        place=Place.FIRST,
    ),
    # "quand" subordinates as soon as a second clause follows.
    rule(
        Form.FRONTED,
        r"^quand (?:vous |tu )\w+(?: \S+){0,3}$|"
        r"^quand (?:est|sont|sera|seront|commence|arrive|part)\b(?! \S+ (?:est|sont|a|il|on)\b)",
        unless=rf"^quand {_AS_YOU_LIKE}|^quand .*\b(?:\w+ez|êtes)\b.*\b(?:je|on|nous|il|elle|c'|\w+ez)\b",
        place=Place.ALONE,
    ),
)

_AFTERWARDS = one_of(
    "exactement actuellement alors donc environ au_juste à_peu_près en_général d'_habitude normalement en_tout "
    r"au_total en_ce_moment déjà ensuite après maximum monsieur madame comme_\S+ par_\S+ chez_vous pour_vous "
    "en_fait"
)

IN_SITU = (
    # "vous habitez où", "c'est pour quand", "vous payez comment"
    rule(
        Form.IN_SITU,
        rf"\S (?:c' est )?{PREPOSITION}?(?:où|quand|comment|combien|pourquoi|qui|quoi|{LEQUEL})(?: {_AFTERWARDS})*$",
        unless=(
            rf"{GOVERNED}|\b(?:pas|y a|ont|avoir|ai|il y a) de quoi$|"
            r"^(?:c' est|voilà|voici) (?:pourquoi|comment|quand)$|\bet (?:quand|où)$"
        ),
    ),
    # "ça coûte combien pour deux", "vous faites quoi dans la vie"
    rule(Form.IN_SITU, rf"\b(?:c'|ça|cela|tu|vous|on) (?:\S+ )?{PREPOSITION}?(?:quoi|combien)\b", unless=GOVERNED),
    # "vous restez combien de nuits", "c'est pour quel jour"
    rule(Form.IN_SITU, rf"\S {PREPOSITION}?(?:combien (?:de |d' )?|{QUEL} )\w", unless=GOVERNED),
)
