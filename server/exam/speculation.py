"""Replies that are prepared before it is known that they are needed: one at a time, a few in each turn.

    none ──begin──> prepared for some words ──decide, the same words──> the turn's reply
    prepared ──drop, or other words──> none

Nothing of a speculation that was dropped is said, kept in the dialogue, or counted as a turn of the examiner's: what it
cost is counted here, and there is a budget of it for each turn of the candidate.
"""

from __future__ import annotations


class Speculations:
    """One session's; ``budget`` of them in a turn. ``is_ready`` tells that the newest one has audio."""

    def __init__(self, budget: int) -> None:
        self.confirmed = 0
        self.wasted = 0
        self.is_ready = False
        self._budget = budget
        self._left = budget
        self._words: str | None = None

    @property
    def may_begin(self) -> bool:
        """Whether the turn's budget is not spent."""
        return self._left > 0

    @property
    def under_way(self) -> bool:
        """Whether a reply to some words is prepared, or being so."""
        return self._words is not None

    def begin(self, words: str) -> None:
        """A reply to ``words`` is being prepared; one that was under way is wasted."""
        self.drop()
        self._left -= 1
        self._words = words

    def drop(self) -> None:
        """The one under way, if there is one, is of no use."""
        self.wasted += self._words is not None
        self._words, self.is_ready = None, False

    def decide(self, words: str) -> bool:
        """The candidate's turn is over, and was ``words``: return whether the one under way is the reply to it.

        One that is not is wasted. The next turn has the whole budget.
        """
        is_reply = self._words == words
        if is_reply:
            self.confirmed += 1
            self._words = None
        else:
            self.drop()
        self._left = self._budget
        return is_reply
