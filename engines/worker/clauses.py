"""Text cut into clauses, so that the first audio leaves before the rest is spoken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

FIRST_CHARS: Final = 12
"""A first clause shorter than this waits for the next: "Oui," alone sounds clipped and gains nothing."""

LATER_CHARS: Final = 60
"""Later clauses are joined up to this length: longer pieces have better prosody, and time is no longer short."""

JOINED_CHARS: Final = 100
"""Clauses are not joined beyond this, six seconds of speech: a caller who hangs up holds the lane for one piece."""

MAX_CHARS: Final = 200
"""No piece is longer: about 250 phonemes, half of what Kokoro takes, and at most some seconds in the lane."""

_AFTER_MARK = re.compile(r"""(?<=[.!?…;:,])(?:["»”’')\]]|\s+»)*\s+""")


def clauses(text: str) -> Iterator[str]:
    """Yield the pieces of ``text`` in order; together they hold every letter and mark of it.

    A piece ends after ``. ! ? … ; : ,`` where white space follows, so "12,50" and "14:30" stay whole. A stretch
    without marks is cut at a space; only a word longer than :data:`MAX_CHARS` is cut inside.
    """
    pending, wanted = "", FIRST_CHARS
    for piece in _bounded(text):
        joined = f"{pending} {piece}".strip()
        limit = JOINED_CHARS if len(pending) >= FIRST_CHARS else MAX_CHARS
        if len(pending) >= wanted or len(joined) > limit:
            yield pending
            joined, wanted = piece, LATER_CHARS
        pending = joined
    if pending:
        yield pending


def _bounded(text: str) -> Iterator[str]:
    for clause in _marked(text):
        while len(clause) > MAX_CHARS:
            cut = clause.rfind(" ", 1, MAX_CHARS + 1)
            cut = cut if cut > 0 else MAX_CHARS
            yield clause[:cut].rstrip()
            clause = clause[cut:].lstrip()
        yield clause


def _marked(text: str) -> Iterator[str]:
    start = 0
    for gap in _AFTER_MARK.finditer(text):
        yield text[start : gap.end()].strip()
        start = gap.end()
    yield text[start:].strip()
