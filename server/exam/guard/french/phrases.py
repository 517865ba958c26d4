"""French tags after a statement, and set phrases that ask without any form of a question."""

from __future__ import annotations

from server.exam.guard.grammar import Form, Place, one_of, rule

_PLEASES = one_of("va convient arrange dit tente plaît intéresse")
_WOULD_PLEASE = one_of("irait conviendrait arrangerait dirait tenterait plairait intéresserait")

TAGS = (
    rule(Form.TAG, r"\bn' est[- ]ce pas\b"),
    rule(
        Form.TAG,
        r"^(?:hein|pas vrai|vous ne (?:trouvez|croyez|pensez) pas|ou pas|ou non|ou bien|oui ou non)$",
        whole=True,
    ),
    # Alone these agree or deny; after a statement and a comma they ask for agreement.
    rule(
        Form.TAG,
        r"^(?:d' accord|ok|okay|non|c' est (?:bien )?ça|c' est bien cela|vrai|ça marche|c' est bon|ça va)$",
        place=Place.LATER,
        whole=True,
    ),
    rule(Form.TAG, r"(?:\S|^) ?\bou (?:pas|non)(?: encore)?$", unless=r"\b(?:que|qu'|si|s'|soit)(?!\w)"),
    # "ça vous va", also alone; but "ça vous va très bien" is said of a coat.
    rule(Form.TAG, rf"^(?:ça|cela|ceci) (?:vous|te|t') {_PLEASES}(?: (?:alors|comme ça|de|d')(?: .*)?)?$"),
    rule(Form.TAG, rf"^(?:ça|cela|ceci) (?:vous|te|t') {_WOULD_PLEASE}\b"),
)

FORMULAS = (
    rule(
        Form.FORMULA,
        r"^et (?:avec (?:ça|cela|ceci)|(?:pour )?(?:vous|toi)|(?:de )?votre côté)(?: (?:monsieur|madame))?$",
        whole=True,
    ),
    # "et côté budget", "et pour la livraison": a topic alone, held out to be filled.
    rule(
        Form.FORMULA,
        r"^et (?:(?:côté|niveau|question) |pour (?:l' |(?:le|la|les|votre|vos) ))\w+$",
        place=Place.ALONE,
        whole=True,
    ),
    rule(Form.FORMULA, r"^(?:(?:et|ou) )?autre chose$|^rien d' autre$|^une autre question$", whole=True),
    # "et si vous veniez": a suggestion, in the imperfect and without a main clause.
    rule(
        Form.FORMULA,
        r"^(?:et )?si (?:on|nous|vous|tu|j'|je) (?:\S+ )?\w+(?:iez|ions|ais|ait)\b",
        unless=r"\b(?:je|on|il) \w+rai[ts]?\b",
        place=Place.ALONE,
        whole=True,
    ),
    rule(Form.FORMULA, r"^(?:vous|tu) (?:préfér\w+|aimez mieux|choisissez plutôt|prendriez) .* ou "),
    rule(Form.FORMULA, r"^plutôt .* ou (?:plutôt )?"),
    rule(
        Form.FORMULA,
        r"^(?:vous|tu) (?:voul\w+|souhait\w+|aimeriez|voudriez|désirez|veux) (?:que|qu') (?:je|j'|on|nous)(?!\w)",
    ),
    # The polite conditional, negated, asks by itself: "vous n'auriez pas une adresse".
    rule(
        Form.FORMULA,
        r"^(?:vous|tu) n[e'] ?(?:auriez|aurais|voudriez|pourriez|seriez|connaîtriez) pas\b(?! (?:à|besoin|le droit|"
        r"dû))",
    ),
)
