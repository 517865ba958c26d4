"""English questions asked indirectly: a clause that says that the speaker wants to be told something."""

from __future__ import annotations

from server.exam.guard.english.words import INDIRECT, WH
from server.exam.guard.grammar import Form, rule

_TELL_ME = "(?:tell|let|give|show|remind) (?:me|us)"

# Offers and announcements: "let me know if you need anything", "let me check when it opens", "he will tell us where".
_OFFER = (
    r"\b(?:if|when|whether) (?:you|there|anything|something)\b"
    r".*\b(?:need|questions?|anything|problem|change|help|ready|further|interested|stuck|unsure)\b"
)
_ANNOUNCED = (
    r"\blet (?:me|us) (?:check|see|look|find|show|tell|explain|get|give|ask)\b|"
    r"\bshow (?:me|us)\b(?! (?:how|where|what) you\b)|"
    r"\b(?:i|we|he|she|they|you|will|can|could|to)(?:'ll|'d)? (?:tell|show|remind|give|let) (?:me|us|you)\b"
)

REQUESTS = (
    rule(
        Form.REQUEST,
        rf"\b(?:{_TELL_ME}|please (?:specify|indicate|describe|say|state))\b.*? {INDIRECT}\b|"
        rf"\bplease (?:specify|indicate|describe|state) (?:your|{WH})\b",
        unless=f"{_ANNOUNCED}|{_OFFER}",
    ),
    # "tell me about your plans": what only the candidate can tell.
    rule(
        Form.REQUEST,
        r"\b(?:tell|remind|give) (?:me|us) (?:\w+ ){0,3}?(?:your|yours|yourself)\b|"
        r"\btell (?:me|us) (?:more|a (?:bit|little))\b",
    ),
    rule(Form.REQUEST, rf"\bi(?:'m| am| was)? ?wonder(?:ing|ed)? {INDIRECT}\b"),
    # "I'd like to know how long", "I'm curious about your plans"
    rule(
        Form.REQUEST,
        r"\b(?:i|we)(?:'d| would| want| need|'m| am)?(?: \w+){0,2} (?:to (?:know|hear|ask|learn)|curious|knowing|"
        r"hearing)\b"
        rf".*?(?: {INDIRECT}\b| your\b| more\b| about you\b)",
        unless=r"\b(?:not|don't|can't|cannot|didn't)\b|\byou need\b",
    ),
    rule(
        Form.REQUEST,
        r"\byou (?:can|could|may|might|should|would have to) (?:please |just |also )?(?:tell|let|give|remind) (?:me|"
        r"us)\b"
        rf".*?(?: {INDIRECT}| your)\b",
        unless=r"\bif you (?:need|have)\b",
    ),
)
