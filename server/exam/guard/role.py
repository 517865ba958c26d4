"""Faults of both tasks: the examiner as a machine, and talk of the exam or of the answer itself."""

from __future__ import annotations

from server.exam.guard.faults import Fault, faults
from server.exam.guard.grammar import one_of
from server.exam.guard.text import Language

# Names that no person of a role-play bears. "AI" is one in English only: in French it is a verb ("j'ai").
_MACHINE_NAMES = (
    r"\b"
    + one_of(
        r"ia i\.a intelligence_artificielle artificial_intelligence modèles?_de_langage modèles?_de_langue "
        r"modèles?_linguistiques? grand_modèle language_models? large_language chat_?bots? chatgpt gpt\S* qwen\w* "
        r"smollm\w* openai alibaba anthropic hugging_?face agent_conversationnel "
        r"assistante?_(?:virtuel\w*|vocale?|numérique|ia|ai) (?:virtual|voice|digital|ai)_assistant"
    )
    + r"\b"
)
# What it says it is: "je suis un assistant", but not "je suis l'assistant du gérant", nor "un robot de cuisine".
_SELF_FR = (
    r"\b(?:je (?:ne )?(?:suis|serais|reste)(?: pas| qu')?|en tant que?|en tant qu'|étant)"
    r"(?: seulement| juste| simplement)? (?:une? |d' une? )?"
    r"(?:assistante?|robot|programme|ordinateur|machine|modèle|bot|logiciel|système|automate|algorithme)\b"
    r"(?! (?:commercia|de (?:direction|vente|gestion|l' |la )|du |d' agence|socia|maternel|dentaire|administrati))|"
    r"\bje (?:ne |n' )(?:suis|ai) pas (?:(?:un |une )?(?:humain\w*|être humain|personne réelle|vraie personne)|"
    r"de corps|d' émotions|de sentiments)|\bj' ai été (?:entraînée?|programmée?|conçue? pour)\b"
)
_SELF_EN = (
    r"\b(?:i am|i'm|i am not|i'm not|as|being) (?:just |only |merely )?(?:an? |your )?(?:\w+ )?"
    r"(?:assistant|robot|program|computer|machine|model|bot|algorithm)\b"
    r"(?! (?:manager|to the|of the|coach|teacher|director|mechanic|shop))|"
    r"\bi (?:do not|don't) have (?:feelings|emotions|a body|personal (?:experiences?|opinions?|preferences?))|"
    r"\bi was (?:trained|programmed)\b|\b(?:ai|a\.i)\b"
)
# Refusals and talk about the answer itself: no one at a counter says them.
_META_FR = (
    r"\bje (?:vais )?(?:jouer?|joue) le rôle|\bdans ce rôle\b|\ble texte (?:suivant|ci-dessus)\b|"
    r"\b(?:voici|voilà) (?:une|ma|la) (?:question|réponse|relance|proposition de réponse)\b|"
    r"\bje ne peux pas (?:générer|répondre à cette demande)"
)
_META_EN = (
    r"\b(?:here is|here's) (?:a|the|my|your|one) (?:\w+ )?(?:question|response|answer|reply|version)\b|"
    r"\bthe (?:answer|question|prompt) (?:is|to this|would be)\b|\bplay(?:ing)? the role\b|"
    r"\bi(?:'m| am) (?:unable|not able) to (?:provide|answer|generate)\b|\bthe (?:text|sentence) (?:above|below|you)\b"
)
# A left-luggage office ("la consigne à bagages"), safety rules ("les consignes de sécurité") and people who apply for a
# flat ("plusieurs candidats") belong to role-plays and stay.
_LUGGAGE = r"(?! (?:à|de (?:la|l'|sécurité|gare|bagages|sûreté)|automatiques?|d' (?:hygiène|évacuation)))(?!\w)"
_EXAM_FR = (
    r"\b(?:(?:le|la|du|au|de la|à la|cher|chère|ce|cette|notre) candidate?|examinat(?:eur|rice)s?|jury|tcf|"
    r"jeux? de rôle|"
    r"tâche (?:1|2|un|deux)|(?:l'|cet|votre) ?(?:examen oral|épreuve orale|épreuve)|prompt|"
    r"instructions? (?:données?|reçues?|du système))\b|"
    rf"\b(?:la|cette|votre|ma|de|les|mes|ces|vos) consignes?{_LUGGAGE}"
)
_EXAM_EN = (
    r"\b(?:(?:the|this|dear|our) candidate|examiners?|interviewee|role[- ]?play\w*|system prompt|"
    r"(?:the|this|your|my|these|those) (?:prompt|instructions? (?:i|you|we) (?:was|were|have)|exam|speaking test)|"
    r"(?:my|the given|per the) instructions?)\b"
)
# What is left of mark-up, a placeholder ("[votre nom]") or an address cannot be spoken.
_BROKEN = r"[\[\]{}<>|\\]|https?:|www\.|_{2,}|\.{5,}"

ROLE: dict[Language, tuple[Fault, ...]] = {
    "fr": faults(machine=f"{_MACHINE_NAMES}|{_SELF_FR}", meta=_META_FR, exam=_EXAM_FR, broken=_BROKEN),
    "en": faults(machine=f"{_MACHINE_NAMES}|{_SELF_EN}", meta=_META_EN, exam=_EXAM_EN, broken=_BROKEN),
}
"""Faults in either task."""
