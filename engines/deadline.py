"""The time that is left for an answer: that of the turn, for every attempt and every part of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import Self, TypeVar

T = TypeVar("T")


class Deadline:
    """The moment by which an answer must be whole. Time that its reader takes between two parts is not the engine's."""

    def __init__(self, timeout_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = clock() + timeout_s

    def left(self) -> float:
        """Return the seconds that are left; negative when none are."""
        return self._at - self._clock()

    def share(self, part: float) -> Self:
        """Return the deadline of whoever may take ``part`` of what is left, 0 to 1."""
        return type(self)(self.left() * part, self._clock)

    def within(self, limit_s: float) -> asyncio.Timeout:
        """Return a time limit of ``limit_s`` seconds from now, or of what is left if that is less."""
        return asyncio.timeout(max(0.0, min(limit_s, self.left())))

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Put the deadline off by the time that the block takes."""
        begun = self._clock()
        try:
            yield
        finally:
            self._at += self._clock() - begun


async def unhurried(parts: AsyncGenerator[T], deadline: Deadline) -> AsyncGenerator[T]:
    """Yield ``parts``, and close them; ``deadline`` is put off by the time that the reader takes with each."""
    async with aclosing(parts):
        async for part in parts:
            with deadline.suspended():
                yield part
