"""English words that several rules share. Patterns are tried on folded clauses: small letters, single spaces."""

from __future__ import annotations

from server.exam.guard.grammar import one_of

_BE = one_of("is are was were am isn't aren't wasn't weren't")
_HAVE = one_of("has had hasn't haven't hadn't")
_DO = one_of("does did don't doesn't didn't")
_MODAL = one_of("can could will would shall should might must can't couldn't won't wouldn't shouldn't mustn't")

AUXILIARY = f"(?:{_BE}|{_HAVE}|{_DO}|{_MODAL})"
"""An auxiliary that can be nothing but a verb of its clause: not "do", "have" and "may", which command and wish too."""

ANY_AUXILIARY = f"(?:{AUXILIARY}|do|have|may)"

PERSON = one_of(
    "you i we he she it they there this that these those anyone anybody anything someone everyone everything"
)
SUBJECT = f"(?:{PERSON}|the|your|my|our|his|her|their|any|both|all)"
"""What a subject begins with."""

WH = one_of("what which who whom whose where when why how")
INDIRECT = f"(?:{WH}|if|whether)"
PREPOSITION = f"(?:{one_of('at in on for from to with by until till since of about under')} )"

GOVERNS = (
    r"\b"
    + one_of(
        "know knows knew see sees say says tell tells told show shows explain explains understand understands "
        "depends? depending decide check find_out learn matter remember choose wonder idea ask sure that_is that's "
        "is was no"
    )
    + r"\b"
)
"""What makes a question word introduce something known, said or shown: "I'll show you where the station is"."""
