"""Text cut into clauses, so that the first audio leaves before the rest is spoken.

Each piece may be twice as long as the one before: while it is heard, the next one is spoken, without a gap as long as
that takes less than half of the time that it lasts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engines.worker.breaths import breaths

FIRST_CHARS: Final = 12
"""A first clause shorter than this waits for the next: "Oui," alone sounds clipped and gains nothing."""

OPENING_CHARS: Final = 40
"""The first piece is no longer than this if a voice may pause before: two and a half seconds of speech."""

BREATH_CHARS: Final = 18
"""Where no mark stands a piece is cut only with this much on either side: shorter ones sound chopped."""

SECOND_CHARS: Final = 30
"""The least that the second piece may have, however short the first is."""

JOINED_CHARS: Final = 100
"""Clauses are not joined beyond this, six seconds of speech: a caller who hangs up holds the lane for one piece."""

MAX_CHARS: Final = 200
"""No piece is longer: about 250 phonemes, half of what Kokoro takes, and at most some seconds in the lane."""

_MARKS: Final = frozenset(".!?…;:,")
_AFTER_MARK: Final = re.compile(r"""(?<=[.!?…;:,])(?:["»”’')\]]|\s+»)*\s+""")


def clauses(text: str, language: str = "") -> Iterator[str]:
    """Yield the pieces of ``text`` in order; together they hold every letter and mark of it.

    A piece ends after ``. ! ? … ; : ,`` where white space follows, so "12,50" and "14:30" stay whole; where none comes
    in time, before a word at which a voice may pause (:func:`engines.worker.breaths.breaths`, by ``language``). A
    stretch without either is cut at a space beyond :data:`MAX_CHARS`; only a word longer than that is cut inside.
    """
    rest = text.strip()
    end = _opening(rest, language)
    while rest:
        piece, rest = rest[:end].rstrip(), rest[end:].lstrip()
        yield piece
        end = _later(rest, language, min(max(2 * len(piece), SECOND_CHARS), JOINED_CHARS))


def mark_after(piece: str) -> str:
    """Return the mark that ends ``piece``, a closing quote or bracket aside; empty where none does."""
    last = piece.rstrip("\"»”’')] ")[-1:]
    return last if last in _MARKS else ""


def _opening(text: str, language: str) -> int:
    """Where the first piece ends: at the first mark, or before it at the first breath if it is too far away."""
    mark = _marks(text)[0]
    if mark <= OPENING_CHARS:
        return mark
    return next(iter(_breaths(text, mark, language)), _bounded(text, mark))


def _later(text: str, language: str, limit: int) -> int:
    """Where a later piece ends: as far within ``limit`` as there is a mark, or else a breath, or else beyond it."""
    if len(text) <= limit:
        return len(text)
    marks = _marks(text)
    within = [mark for mark in marks if len(text[:mark].rstrip()) <= limit]
    if within:
        return within[-1]
    places = _breaths(text, marks[0], language)
    return max((place for place in places if place <= limit), default=min(places, default=_bounded(text, marks[0])))


def _marks(text: str) -> list[int]:
    """Where pieces may end that are no scraps: after each mark, and at the end of the text."""
    ends = [gap.end() for gap in _AFTER_MARK.finditer(text) if len(text[: gap.end()].rstrip()) >= FIRST_CHARS]
    return [*ends, len(text)]


def _breaths(text: str, mark: int, language: str) -> list[int]:
    """Where a voice may pause before ``mark``, far enough from both ends."""
    return [
        place
        for place in breaths(text[:mark], language)
        if len(text[:place].rstrip()) >= BREATH_CHARS and mark - place >= BREATH_CHARS
    ]


def _bounded(text: str, end: int) -> int:
    """``end``, or a place before it where there are no more than :data:`MAX_CHARS`."""
    if len(text[:end].rstrip()) <= MAX_CHARS:
        return end
    space = text.rfind(" ", 1, MAX_CHARS + 1)
    return space if space > 0 else MAX_CHARS
