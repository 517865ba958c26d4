"""French questions asked indirectly: a clause that says that the speaker wants to be told something."""

from __future__ import annotations

from server.exam.guard.french.words import INDIRECT
from server.exam.guard.grammar import Form, one_of, rule

_TELL = one_of("dire préciser indiquer expliquer rappeler confirmer parler raconter décrire communiquer donner")
_TELLING = one_of(
    "dites dis indiquez indique précisez précise expliquez explique racontez raconte rappelez confirmez décrivez "
    "parlez parle"
)
_WISHER = r"(?:je\b|j'|il (?:me |m' )?(?:faut|faudrait)\b|nous\b|on\b|puis-je\b)"
_NEGATED = r"\b(?:ne\b|n')"

REQUESTS = (
    # "dites-moi ce que vous cherchez"; an offer is no question: "dites-moi si vous avez besoin d'aide".
    rule(
        Form.REQUEST,
        rf"\b(?:{_TELLING}|donnez|donne|faites)-(?:moi|nous)\b.*? {INDIRECT}",
        unless=(
            r"\b(?:si|s') (?:jamais |un jour )?(?:vous|tu|il|quelque|quoi)\b"
            r".*\b(?:besoin|questions?|problèmes?|changez|manque|doutes?)\b"
        ),
    ),
    # "parlez-moi un peu de vos goûts": what only the candidate can tell.
    rule(
        Form.REQUEST,
        rf"\b{_TELLING}-(?:moi|nous) (?:(?!si )\w+ ){{0,3}}?(?:de |d' )?(?:vous|votre|vos|toi|ton|ta|tes)\b",
    ),
    # "j'aimerais savoir si", "je serais curieux de savoir", "il me faudrait savoir"
    rule(
        Form.REQUEST,
        rf"\b{_WISHER}.*\b(?:savoir|connaître|vous demander|te demander)\b"
        rf".*?(?: {INDIRECT}| votre\b| vos\b| davantage| plus)",
        unless=rf"{_NEGATED}|\bvous (?:voul|pouv|dev|all)\w+ savoir|\bfaire savoir",
    ),
    rule(Form.REQUEST, rf"\b(?:je me|nous nous) demand\w+ {INDIRECT}|\bje (?:vous|te) demande {INDIRECT}"),
    # "vous pouvez me dire quand", "merci de m'indiquer votre adresse"
    rule(
        Form.REQUEST,
        r"\b(?:vous|tu|faut|faudrait|merci de|veuillez|besoin|prie de)\b.* (?:me|m'|nous) "
        rf"{_TELL}(?: \S+){{0,3}}? (?:{INDIRECT}|votre\b|vos\b|de vous\b)",
        unless=_NEGATED,
    ),
    rule(
        Form.REQUEST,
        r"^(?:vous|tu) (?:me|m'|nous) (?:dites|dis|précisez|indiquez|confirmez|rappelez)(?: \S+)? "
        rf"(?:{INDIRECT}|votre\b|vos\b)",
        unless=r" (?:et|puis) (?:je|on|nous)\b",  # "vous me dites quand vous êtes prêt et je commence"
    ),
)
