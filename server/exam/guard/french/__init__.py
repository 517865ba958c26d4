"""The interrogatives of French, and what looks like one."""

from __future__ import annotations

import re

from server.exam.guard.french.inversion import INVERSION
from server.exam.guard.french.phrases import FORMULAS, TAGS
from server.exam.guard.french.requests import REQUESTS
from server.exam.guard.french.wh import FRONTED, IN_SITU
from server.exam.guard.french.words import GOVERNS
from server.exam.guard.grammar import Form, Grammar, one_of, rule

_OPENERS = one_of(
    "et mais alors donc or bon bien très_bien ah ah_bon oh eh_bien ben d'_accord oui non parfait merci(?!_de) "
    "puis(?!_je) ensuite sinon ok okay euh enfin voyons en_fait au_fait maintenant du_coup bonjour bonsoir madame "
    "monsieur mademoiselle s'_il_vous_plaît super génial pardon excusez-moi"
)
_ASIDES = one_of(
    "dites-moi dis-moi dites je_vois je_comprends je_note c'_est_noté c'_est_parfait c'_est_entendu "
    "c'_est_très_bien c'_est_bien c'_est_d'_accord c'_est_compris bien_sûr entendu tout_à_fait absolument "
    "certainement avec_plaisir volontiers à_votre_avis selon_vous d'_après_vous de_votre_côté au_juste "
    r"(?:cher_)?monsieur(?:_\w+)? (?:chère_)?madame(?:_\w+)? messieurs mesdames"
)
_ADMIRABLE = one_of(
    "beau bel belle bon bonne jolie? grande? charmante? magnifique superbe excellente? merveilleux merveilleuse "
    "drôle heureux heureuse curieux curieuse"
)
_ADMIRED = one_of("plaisir joie bonheur chance dommage surprise honneur idée horreur histoire merveille journée")
_INVERTED = r"\w-(?:t-)?(?:vous|il|elle|on|je|ils|elles|ce)\b"

# "Quel plaisir", "quelle bonne idée", "que de monde", "comme c'est gentil"; with its mark, any head without inversion.
_EXCLAIMS = (
    rf"^(?:avec )?quel(?:le)?s? (?:{_ADMIRED}|{_ADMIRABLE} \w+)\b"
    r"(?!.*\bvous (?:préfér|voul|cherch|plaî|arrang|convien))|"
    r"^(?:que de|que d'|que c' est|qu' il est|qu' elle est|comme c' est|comme vous|comme il|comme elle)\b|"
    rf"^(?:quel(?:le)?s? (?!est|sont|serait|sera)\w+|combien|comment|que|qu')(?!.*{_INVERTED}).* !$"
)

_PARTICLE = (rule(Form.PARTICLE, r"\best[- ]ce (?:que|qu'|qui)(?: |$)|\bqu' est[- ]ce\b"),)

FRENCH = Grammar(
    rules=(*_PARTICLE, *REQUESTS, *INVERSION, *FRONTED, *TAGS, *FORMULAS, *IN_SITU),
    openers=re.compile(rf"^(?:{_OPENERS}(?: |$))+"),
    asides=re.compile(_ASIDES),
    governs=re.compile(GOVERNS),
    exclaims=re.compile(_EXCLAIMS),
)
