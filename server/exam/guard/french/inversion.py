"""French questions that put the verb before its subject, and the imperatives and asides that look like them."""

from __future__ import annotations

from server.exam.guard.french.words import WH
from server.exam.guard.grammar import Form, one_of, rule

# Imperatives that carry their own "-vous": the hyphen does not make them ask.
_REFLEXIVE = one_of(
    "asseyez rasseyez installez rendez adressez présentez servez rassurez connectez inscrivez renseignez dépêchez "
    "méfiez souvenez détendez reposez amusez promenez garez dirigez arrêtez tenez mettez levez préparez munissez "
    "assurez imaginez figurez fiez inquiétez occupez changez couvrez protégez échauffez étirez habillez régalez "
    "lancez joignez abonnez procurez équipez approchez éloignez placez organisez accordez calmez excusez "
    "réjouissez concentrez laissez"
)
_TOGETHER = one_of(
    "retrouvons asseyons mettons voyons disons rappelons donnons installons rendons tenons arrêtons occupons allons"
)

# Adverbs at the head turn verb and subject round in statements: "Peut-être avez-vous raison".
_TURNING = (
    "^"
    + one_of(
        "peut-être sans_doute probablement aussi ainsi à_peine encore toujours du_moins au_moins tout_au_plus "
        "rarement en_vain à_plus_forte_raison"
    )
    + r"\b(?! est[- ]ce)"
)
# Asides that tell who says it or how sure it is ("dit-il", "paraît-il"), wishes ("puissiez-vous"), set phrases.
_SAYING = one_of(
    "dit dis répond répondit ajoute-t semble-t semblait-t paraît parait paraîtrait explique-t pense-t croit "
    "conclut précise-t"
)
_ASIDE = (
    rf"(?:^|me |m' ){_SAYING}-(?:il|elle|on|je)$|"
    r"\b(?:puiss\w+|fût|fussent|dût|dussé|soit|soient)-(?:je|il|elle|on|nous|vous|ils|elles|ce)|"
    r"ne serait-ce (?:que|qu')|ne fût-ce|qu' en-dira-t-on|dira-t-on$"
)
_NOT_ASKING = f"{_TURNING}|{_ASIDE}"

_SECOND_PERSON = rf"\b(?!(?:{_REFLEXIVE}|chez|assez|nez|rez)[- ])(?:\w+ez|êtes|etes|faites|dites)"
_BEFORE_VERB = "(?:ne |n' |l' |les? |la |en |y )?"
_CLITIC = "(?:(?:vous|te|le|la|les|l'|en|y|lui|leur) )?"

INVERSION = (
    # These pronouns are never objects after a hyphen: verb-(t-)il asks, complex inversion too ("votre mari vient-il").
    rule(
        Form.INVERSION,
        r"(?<![\w-])\w+-(?:t-)?(?:je|tu|il|elle|on|ils|elles|ce)(?![\w-])",
        unless=_NOT_ASKING,
    ),
    # "-vous" after a verb in -ez: its subject, unless the verb is an imperative with its reflexive pronoun.
    rule(
        Form.INVERSION,
        rf"{_SECOND_PERSON}-vous\b(?!-)",
        unless=(
            rf"{_NOT_ASKING}|(?:^|et )faites-vous (?:plaisir|confiance|une idée|\w+(?:er|ir)\b)|"
            r"^(?:prenez-vous y|attendez-vous à|dites-vous que)"
        ),
    ),
    # After a question word any verb asks, misspelt ones too: "quel plat préparez-vous", "que sont-vous".
    rule(
        Form.INVERSION, rf"(?:^|\s)(?:{WH}|que|qu')\b.* (?!(?:rendez|chez|entre|avec)-)\w+-vous\b(?!-)", unless=_TURNING
    ),
    # With its object before it, any verb asks: "où vous trouvez-vous", "vous rendez-vous compte".
    rule(
        Form.INVERSION,
        r"\bvous (?:\w+ez|êtes|etes)-vous\b",
        unless=r"(?:avec|pour|chez|à) vous rendez-vous",
    ),
    rule(Form.INVERSION, rf"(?<![\w-])(?!{_TOGETHER}-)\w+(?:ons|sommes)-nous\b(?!-)", unless=_TURNING),
    # The hyphen forgotten: the verb must open the clause, or follow a question word.
    rule(
        Form.INVERSION,
        rf"(?:^|\b{WH} |\bque |\bqu' ){_BEFORE_VERB}"
        rf"(?:{_SECOND_PERSON} vous|(?:dois|peux) je|puis je {_CLITIC}\w+(?:er|ir|re|oir)|(?:peux|veux|as|es) tu|"
        r"(?:est|sera|a|va|faut|peut|y a) (?:t )?(?:il|elle|on))\b",
        unless=_TURNING,
    ),
)
