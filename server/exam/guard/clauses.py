"""A sentence as clauses: what stands between commas, colons, dashes, brackets and quotes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from server.exam.guard.text import QUESTION_MARKS, fold

# Commas and colons between digits break nothing: 3,5 and 10:30.
_BREAK = re.compile(rf"(?:(?<!\d)[,;:.]|[,;:.](?!\d)|[!…{re.escape(QUESTION_MARKS)}]|[«»“”()\[\]\"–—]|\s-+\s)+")


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: ``raw`` as written, ``text`` folded for the rules, ``before`` and ``after`` the marks around it."""

    raw: str
    text: str
    before: str
    after: str


def clauses(sentence: str) -> list[Clause]:
    """Cut ``sentence`` (composed, one line) into its clauses, in order, none empty."""
    found: list[Clause] = []
    before, start = "", 0
    for mark in [*_BREAK.finditer(sentence), None]:
        raw = sentence[start : mark.start() if mark else len(sentence)]
        after = mark[0] if mark else ""
        if text := fold(raw):
            found.append(Clause(raw, text, before, after.strip()))
            before = after
        else:
            before += raw + after
        start = mark.end() if mark else start
    return found


def joined(some: list[Clause]) -> str:
    """Write clauses that follow each other as one text again, with the marks between them and none around them."""
    text = "".join(clause.before + clause.raw for clause in some)
    return " ".join(text.removeprefix(some[0].before).split())
