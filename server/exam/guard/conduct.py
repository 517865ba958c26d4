"""Faults of a relance: talk about the candidate, about its language, or about the examiner's own life."""

from __future__ import annotations

from server.exam.guard.faults import Fault, faults
from server.exam.guard.role import ROLE
from server.exam.guard.text import Language

# A relance needs none of these words, so that they are refused in nearly any sense: a question lost costs one request.
_ABOUT_FR = (
    r"\b(?:candidat\w*|examinat\w+|consignes?|relances?|relancer|interlocut\w+|locut\w+|interviewée?s?|intervenante?|"
    r"utilisat\w+|la personne interrogée|l' orateur|cette personne (?:vient|a|est)|ses (?:propos|réponses)|"
    r"(?:comme|en tant que|le|du|au|un) modèle(?! (?:de (?!langage|langue)|d' |que vous|réduit|économique|familial))|"
    r"assistante?s?(?! (?:socia|maternel|dentaire|de |du |commercia|administrati|médica)))\b"
)
_ABOUT_EN = (
    r"\b(?:candidates?|examiners?|interviewees?|interviewer|speaker|instructions?|follow-?up|"
    r"the (?:user|person|prompt|passage|text|author|narrator|sentence)|assistant(?! (?:manager|coach|teacher)))\b"
)
# No word on the language, no praise of the answer, no correction.
_COMMENT_FR = (
    r"\bvotre (?:français|prononciation|accent|grammaire|vocabulaire|réponse|phrase|expression orale|présentation|"
    r"syntaxe|"
    r"discours|niveau de (?:français|langue))\b|"
    r"\bvous (?:parlez|vous exprimez|prononcez) (?:très |assez |vraiment )?(?:bien|mal|couramment|clairement)|"
    r"\b(?:bravo|bien dit|bien répondu|(?:bonne|excellente|belle) réponse|bon travail|félicitations|"
    r"faute de (?:français|grammaire)|petite (?:faute|erreur)|corrig\w+|correctement|excellent(?:,|$)|"
    r"(?:il faut|il faudrait|vous devriez|on devrait) dire|on dit plutôt|ne se dit pas|se dit en français|"
    r"vous vouliez dire)"
)
_COMMENT_EN = (
    r"\byour (?:english|pronunciation|accent|grammar|vocabulary|answer|response|sentence|speech|fluency)\b|"
    r"\byou speak (?:\w+ )?(?:well|clearly|fluently)|"
    r"\b(?:well done|good job|great job|(?:good|great|excellent|perfect|wonderful) (?:answer|question|response|work)|"
    r"correct(?:ed|ion|ly)?|mistakes?|rephras\w+|you should say|you meant to say)\b"
)
# The examiner says "vous". "T'" alone is "te"; the "t" of "a-t-il" is none.
_TU = r"\b(?:tu|te|toi|ton|ta|tes)\b(?!-)|(?<![\w-])t' (?=\w)|\w-(?:tu|toi)\b"
# It asks about the candidate's life: a model that has taken the candidate's part says "my".
_OWN_FR = (
    r"\b(?:mon|ma|mes) (?!avis|part|tour|cher|chère)\w+|\bpour moi\b|"
    r"^(?:que|comment|où|pourquoi) (?:puis|dois|pourrais)-je\b(?! (?:vous|savoir))"
)
_OWN_EN = r"\bmy (?!asking\b)\w+|\b(?:i|we) (?:am|was|work|live|like|love|have|had|do|did|should)\b"

RELANCE: dict[Language, tuple[Fault, ...]] = {
    "fr": (*ROLE["fr"], *faults(about=_ABOUT_FR, comment=_COMMENT_FR, tutoiement=_TU, own_life=_OWN_FR)),
    "en": (*ROLE["en"], *faults(about=_ABOUT_EN, comment=_COMMENT_EN, own_life=_OWN_EN)),
}
"""Faults in a relance of task 1: those of its role, and these."""
