"""The interrogatives of English, and what looks like one."""

from __future__ import annotations

import re

from server.exam.guard.english.inversion import INVERSION
from server.exam.guard.english.phrases import FORMULAS, TAGS
from server.exam.guard.english.requests import REQUESTS
from server.exam.guard.english.wh import FRONTED, IN_SITU
from server.exam.guard.grammar import Grammar, one_of

_OPENERS = one_of(
    "and but so or then well okay ok great good right yes no sure now oh ah also sir madam hello hi thanks "
    "thank_you please actually perfect lovely wonderful excellent by_the_way of_course"
)
_ASIDES = one_of(
    "i_see i_understand got_it very_good very_well all_right no_problem of_course certainly in_your_opinion "
    "(?:dear_)?(?:sir|madam) good_morning good_evening good_afternoon tell_me"
)
# "so do I", "so is the pool" agree: their "so" opens nothing.
_AGREES = (
    "(?!so (?:am|is|are|was|do|does|did|can|will|would|have|has) (?:i|we|you|he|she|it|they|(?:the|my|our) \\w+)$)"
)
_NICE = one_of(
    "kind nice lovely wonderful sweet good great beautiful exciting interesting funny thoughtful delightful amazing"
)

# "what a nice day", "how kind of you"; "may you enjoy it" wishes, "neither is it" denies.
_EXCLAIMS = (
    r"^what an? (?!(?:\w+ )*(?:do|does|did|are|would) )|"
    rf"^how {_NICE}\b(?! (?:is|are|was|do|does|did|would)\b)|"
    r"^may (?:you|the|your)\b|^(?:neither|nor|so) |^how \w+ !$"
)

ENGLISH = Grammar(
    rules=(*REQUESTS, *INVERSION, *FRONTED, *TAGS, *FORMULAS, *IN_SITU),
    openers=re.compile(rf"^{_AGREES}(?:{_OPENERS}(?: |$))+"),
    asides=re.compile(_ASIDES),
    governs=re.compile(
        rf"\b{one_of('know say tell_you told show_you explain explains understand depends? decide check see')}\b"
    ),
    exclaims=re.compile(_EXCLAIMS),
)
