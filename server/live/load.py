"""How busy the sessions of one server keep its engines, and whether there is room for work that may be wasted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from server.live.recogniser import Pace

HEARING_S: Final = 1.0
"""With more audio waiting for recognition than this takes, a speculation would come too late and make it worse."""


class Load:
    """Shared by the sessions; ``replies`` are those that are being made now, ``most_replies`` how many fit."""

    def __init__(self, pace: Pace, most_replies: int) -> None:
        self.replies = 0
        self._pace = pace
        self._most_replies = most_replies

    @contextmanager
    def making(self) -> Iterator[None]:
        """A reply is being made while inside."""
        self.replies += 1
        try:
            yield
        finally:
            self.replies -= 1

    def has_room(self) -> bool:
        """Whether a reply may be prepared that will perhaps not be needed."""
        return self.replies < self._most_replies and self._pace.expected_s(0) < HEARING_S
