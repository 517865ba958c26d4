"""English questions that put the auxiliary before the subject, and the conditions and commands that look like them."""

from __future__ import annotations

from server.exam.guard.english.words import ANY_AUXILIARY, AUXILIARY, PERSON, SUBJECT, WH
from server.exam.guard.grammar import Form, Place, one_of, rule

_CONDITION = (
    r"^should (?:you|we|they|it|there|anything|anyone)\b"
    r".*\b(?:need|have|wish|want|require|change|decide|prefer|happen|be|call)\b|"
    r"^had (?:i|we|you|they|he|she|it)\b.*\w+(?:n|ed|d|t)\b$|"
    r"^were (?:you|we|they|it|i|he|she) to\b|^was the\b.*\bby\b"
)
_TURNING = one_of("so neither nor only never rarely seldom than as not little then")

INVERSION = (
    # "is it free"; but "should you need help", "had I known", "were you to cancel" are conditions.
    rule(Form.INVERSION, rf"^{AUXILIARY} {SUBJECT}\b", unless=_CONDITION),
    # "do come in", "have a seat" command: before a pronoun, or a noun and its verb, they ask.
    rule(
        Form.INVERSION,
        rf"^(?:do|have) (?:{PERSON}|any of|both of|(?:the|your|our|my) \w+ \w)",
        unless=(
            r"^do (?:it|this|that|these|those|your best|everything)\b(?! \w+)|"
            r"^have (?:it|this|that|the|your)\b(?! .*\b(?:been|done|had|\w+ed|seen|gone|made)\b)"
        ),
    ),
    # At the head of a sentence these need no pronoun: "does Tuesday suit you"; but "is included: …" is an answer.
    rule(
        Form.INVERSION,
        r"^(?:is|are|was|were|does|did|has|isn't|aren't|doesn't|didn't|hasn't) "
        r"(?!\w+ed\b|not\b|also\b|free\b|open\b)\w+ \w",
        unless=_CONDITION,
        place=Place.FIRST,
    ),
    rule(Form.INVERSION, r"^may (?:i|we)\b(?! (?:say|add))"),
    # In the middle of a clause, with no comma before it; not after "so", "nor", "only then".
    rule(
        Form.INVERSION,
        r"\b(?:do|did|would|could) you \w",
        unless=rf"\b{_TURNING} (?:\w+ )?(?:do|did|would|could) you\b",
    ),
    # "what kind of music do you like"; but "what matters is the view".
    rule(
        Form.INVERSION,
        rf"\b{WH}(?: \w+){{0,3}} {ANY_AUXILIARY} (?:you|i|we|they|he|she|it|your|the|there)\b",
        unless=(
            r"\b(?:so|neither|nor) (?:do|did|is|are|can)\b|^what (?!class|bus|address)\w+s is\b|"
            r"\bis the\b.*\b(?:that|where)\b|^(?:what|where|how) (?:i|you|we|it)\b"
        ),
    ),
)
