"""English question words, at the head of a clause or left in their place."""

from __future__ import annotations

from server.exam.guard.english.words import GOVERNS, PREPOSITION, WH
from server.exam.guard.grammar import Form, Place, rule

# "what I can offer is", "what matters is", "how it works", "which means", "in which case", "what's more"
_FREE_RELATIVE = (
    r"^(?:what|how|where|why) (?:i|you|we|they|he|she|it|people|most|this|that)(?:'\w+)?\b(?! (?:do|does|did|are|"
    r"is) you)|"
    r"^what(?:ever)? \w+(?<!is)(?<!are) (?:\w+ ){0,3}?(?:is|are|was)\b(?! (?:it|that|this|there|he|she)\b)|"
    r"^what's (?:more|included|nice|great|new is|special)|^how to\b|^which (?:means|is|makes|was|gives)\b|"
    r"^in which (?:case|you|the)\b|^(?:for|by|of|with|from|to) which\b|"
    r"^how(?:ever| much you .* depends| many you .* depends)|^who knows$|^why this\b.* is$"
)

FRONTED = (
    rule(Form.FRONTED, rf"^{PREPOSITION}?(?:what|how|where|who|whom|whose|why|which)\b", unless=_FREE_RELATIVE),
    rule(Form.FRONTED, r"^when's\b"),
    # "when" subordinates unless an auxiliary follows.
    rule(
        Form.FRONTED,
        r"^(?:by |since |until |till |for )?when "
        r"(?:is|are|was|were|do|does|did|will|would|can|could|should|have|has|shall)\b",
    ),
    rule(Form.FRONTED, r"^(?:by|since|until|till|for) when\b|^when$", place=Place.FIRST),
)

_LEFT = (
    r"(?:where|when|what|who|whom|why|how|how (?:many|much|long|often|far)|which (?:one|day|size|kind)|"
    r"what (?:time|day|size|kind))"
)

IN_SITU = (
    # "you live where", "and you are staying until when"
    rule(
        Form.IN_SITU,
        rf"\S {PREPOSITION}?{_LEFT}(?: exactly| then| now)?$",
        unless=(
            rf"{GOVERNS} (?:\S+ )*?{PREPOSITION}?{WH}(?: \S+){{0,2}}$|\b(?:or|and|but|somehow|that is) {WH}$|"
            r"\bguess what$|\bso what$"
        ),
    ),
    # "you're looking for what kind of flat"
    rule(
        Form.IN_SITU,
        r"^you(?:'re|'d|'ve)? .*\b(?:what|which) (?:kind|sort|type|size|time|day|one|area)\b",
        unless=rf"{GOVERNS} (?:\S+ )*?{PREPOSITION}?{WH}\b",
    ),
    # "you need how many nights"
    rule(
        Form.IN_SITU,
        r"^(?:you|it|that|this|they)(?:'re|'s|'d)? .*\bhow (?:many|much|long) \w",
        unless=rf"{GOVERNS} (?:\S+ )*?{PREPOSITION}?{WH}\b",
    ),
)
