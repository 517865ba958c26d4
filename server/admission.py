"""Places for live sessions: so many at once, so many of task 2, so many a user, none while the server stops.

Looking and taking are one step without an ``await`` between, so that two sessions never get the last place.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

FullReason = Literal["closing", "sessions", "t2_sessions", "user_sessions"]
Task = Literal["t1", "t2"]


class Full(Exception):
    """No place: ``reason`` says which limit was met. The client is told to try again later."""

    def __init__(self, reason: FullReason) -> None:
        super().__init__(f"no place for another session: {reason}")
        self.reason: FullReason = reason


class Admission:
    """The places of one server."""

    def __init__(self, *, max_sessions: int, max_t2_sessions: int, max_sessions_per_user: int) -> None:
        self._max_sessions = max_sessions
        self._max_t2_sessions = max_t2_sessions
        self._max_sessions_per_user = max_sessions_per_user
        self._sessions_of: Counter[str] = Counter()
        self._sessions_in: Counter[Task] = Counter()
        self._closed = False
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def active(self) -> int:
        """Sessions that hold a place now."""
        return self._sessions_of.total()

    @contextmanager
    def place(self, sub: str, task: Task) -> Iterator[None]:
        """Hold a place in ``task`` for the user ``sub``. Raises :class:`Full`."""
        if self._closed:
            raise Full("closing")
        if self.active >= self._max_sessions:
            raise Full("sessions")
        if task == "t2" and self._sessions_in["t2"] >= self._max_t2_sessions:
            raise Full("t2_sessions")
        if self._sessions_of[sub] >= self._max_sessions_per_user:
            raise Full("user_sessions")
        self._sessions_of[sub] += 1
        self._sessions_in[task] += 1
        self._empty.clear()
        try:
            yield
        finally:
            self._leave(sub, task)

    def close(self) -> None:
        """Give no more places. Those that are held stay."""
        self._closed = True

    async def emptied(self) -> None:
        """Return once no session holds a place."""
        await self._empty.wait()

    def _leave(self, sub: str, task: Task) -> None:
        self._sessions_in[task] -= 1
        self._sessions_of[sub] -= 1
        if not self._sessions_of[sub]:
            del self._sessions_of[sub]  # else the table would keep every user that ever came
        if not self._sessions_of:
            self._empty.set()
