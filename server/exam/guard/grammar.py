"""What a language's interrogatives are written in: rules, each a pattern on one clause."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Form(Enum):
    """How a sentence asks."""

    MARK = "a question mark"
    PARTICLE = "est-ce que"
    INVERSION = "the verb before its subject"
    FRONTED = "a question word at the head"
    IN_SITU = "a question word left in its place"
    TAG = "a tag after a statement"
    REQUEST = "a question asked indirectly"
    FORMULA = "a set phrase that asks"


DIRECT = frozenset({Form.PARTICLE, Form.INVERSION, Form.FRONTED, Form.IN_SITU})
"""The forms that are a question by themselves, so that one without its mark may be given it."""


class Place(Enum):
    """Where in a sentence a rule looks."""

    ANY = "any clause"
    FIRST = "a clause with nothing but openers before it"
    ALONE = "the only clause but for openers"
    LATER = "the last clause, after a comma that follows a statement"


@dataclass(frozen=True, slots=True)
class Rule:
    """A clause that ``pattern`` finds asks by ``form``, unless ``unless`` finds it too.

    ``pattern`` is tried on the clause without its openers (*et*, *alors*, *so*), or with them when ``whole``.
    """

    form: Form
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    place: Place = Place.ANY
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language's interrogatives.

    ``openers``: words before a clause that change nothing about its form. ``asides``: whole clauses that say nothing.
    ``governs``: a word that makes what follows it an indirect question. ``exclaims``: a clause that exclaims.
    """

    rules: Sequence[Rule]
    openers: re.Pattern[str]
    asides: re.Pattern[str]
    governs: re.Pattern[str]
    exclaims: re.Pattern[str]


def one_of(table: str) -> str:
    """Return a pattern for any one of the entries of ``table``, set apart by blanks; ``_`` in an entry is a space."""
    return f"(?:{'|'.join(table.split()).replace('_', ' ')})"


def rule(form: Form, pattern: str, *, unless: str = "", place: Place = Place.ANY, whole: bool = False) -> Rule:
    """Make a :class:`Rule` of patterns written as text; an empty ``unless`` makes no exception."""
    return Rule(form, re.compile(pattern), re.compile(unless) if unless else None, place, whole)
