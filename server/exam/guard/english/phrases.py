"""English tags after a statement, and set phrases that ask without any form of a question."""

from __future__ import annotations

from server.exam.guard.english.words import ANY_AUXILIARY
from server.exam.guard.grammar import Form, Place, rule

TAGS = (
    # ", isn't it", ", have you", ", shall we"
    rule(
        Form.TAG,
        rf"^(?:or )?{ANY_AUXILIARY}(?:n't)? (?:you|it|i|we|he|she|they|there)(?: not)?$",
        place=Place.LATER,
        whole=True,
    ),
    # Alone these agree or deny; after a statement and a comma they ask for agreement.
    rule(
        Form.TAG,
        r"^(?:right|okay|ok|yeah|huh|eh|correct|no|yes|or not|or what|true|deal|sounds? good|all right|alright|"
        r"is that right)$",
        place=Place.LATER,
        whole=True,
    ),
    rule(Form.TAG, r"\S or not$", unless=r"\b(?:whether|if)\b"),
)

FORMULAS = (
    rule(
        Form.FORMULA,
        r"^(?:and |or )?(?:anything else|and you|and yourself|what about .*|how about .*|"
        r"any (?:\w+ )?(?:questions|preferences?|ideas?|allergies|luggage|plans)(?: .*)?)$|^and your \w+(?: \w+)?$",
        whole=True,
    ),
    rule(Form.FORMULA, r"^and the \w+$", place=Place.ALONE, whole=True),
    rule(Form.FORMULA, r"^(?:ever \w+|mind if) ", place=Place.FIRST),
    # "care for a drink", "looking for a room": the auxiliary and the subject are left out.
    rule(
        Form.FORMULA,
        r"^(?:care|need|ready|want|fancy|looking|interested) (?:for|to|a|an|some|any|in|help)\b",
        unless=r"^(?:looking|interested)\b.*\b(?:is|are|was|means|takes)\b|^looking (?:at|forward)\b",
        place=Place.FIRST,
    ),
)
