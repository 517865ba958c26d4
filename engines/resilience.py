"""Trying again on the same target, for every kind of engine, within the deadline of the turn.

- A transient error is tried again after a growing, jittered wait, ``tries`` times in all; a permanent one is raised at
  once. ``Retry-After`` is obeyed; one longer than the bound, or than what is left, ends the tries.
- An engine that is not there (:class:`engines.http_errors.EngineAbsent`) is most often a process of ours being started
  again: it is tried for as long as the deadline allows, and counts as none of the tries.
- Once the first part of an answer has been handed on, a failure is final.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import stamina

from engines.errors import EngineError
from engines.http_errors import EngineAbsent

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request to one engine, for metrics and logs.

    ``outcome`` is ``ok``, the ``code`` of an :class:`engines.errors.EngineError`, ``cancelled``, or ``bug``;
    ``duration_s`` runs to the end of the answer.
    """

    engine: str
    style: str
    number: int
    outcome: str
    duration_s: float


Observe = Callable[[Attempt], None]


def unobserved(attempt: Attempt) -> None:
    """Take an attempt and do nothing."""


@dataclass(frozen=True, slots=True)
class RetryRules:
    """How often, and after what waits (seconds), an engine is tried again."""

    tries: int = 3
    wait_initial_s: float = 0.1
    wait_max_s: float = 1.0
    wait_jitter_s: float = 0.1
    retry_after_max_s: float = 10.0


class Deadline:
    """The moment by which an answer must be whole. Time that its reader takes between two parts is not the engine's."""

    def __init__(self, timeout_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = clock() + timeout_s

    def left(self) -> float:
        """Return the seconds that are left; negative when none are."""
        return self._at - self._clock()

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


@dataclass(frozen=True, slots=True)
class Retrier:
    """Tries one target: ``engine`` (``stt``, ``llm``, ``tts``) in ``style``; ``observe`` is told every attempt."""

    engine: str
    style: str
    rules: RetryRules = field(default_factory=RetryRules)
    observe: Observe = unobserved

    async def call(self, request: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """Return what ``request()`` gives; its last :class:`engines.errors.EngineError` when no try is left."""

        async def once(number: int) -> T:
            with self._observed(number):
                return await request()

        return await self._tried(once, deadline)

    async def stream(self, request: Callable[[], AsyncGenerator[T]], deadline: Deadline) -> AsyncGenerator[T]:
        """Yield the parts of ``request()``, tried again only until its first part has come."""

        async def begin(number: int) -> tuple[AsyncGenerator[T], list[T]]:
            parts = self._observed_parts(request, number)
            return parts, [first async for first in _first(parts)]

        parts, begun = await self._tried(begin, deadline)
        async with aclosing(parts):
            for first in begun:
                with deadline.suspended():
                    yield first
            async for part in parts:
                with deadline.suspended():
                    yield part

    async def _tried(self, once: Callable[[int], Awaitable[T]], deadline: Deadline) -> T:
        rules, patience = self.rules, _Patience(self.rules, deadline)
        tries = stamina.retry_context(
            on=patience.wait_after,
            attempts=None,
            timeout=None,
            wait_initial=rules.wait_initial_s,
            wait_max=rules.wait_max_s,
            wait_jitter=rules.wait_jitter_s,
        )
        async for attempt in tries:
            patience.next_wait_s = min(rules.wait_max_s, attempt.next_wait + rules.wait_jitter_s)
            with attempt:
                return await once(attempt.num)
        raise AssertionError("unreachable: the last error was raised")

    @contextmanager
    def _observed(self, number: int) -> Iterator[None]:
        begun, outcome = time.monotonic(), "cancelled"
        try:
            yield
            outcome = "ok"
        except EngineError as error:
            outcome = error.code
            raise
        except Exception:
            outcome = "bug"
            raise
        finally:
            self.observe(Attempt(self.engine, self.style, number, outcome, time.monotonic() - begun))

    async def _observed_parts(self, request: Callable[[], AsyncGenerator[T]], number: int) -> AsyncGenerator[T]:
        with self._observed(number):
            async with aclosing(request()) as parts:
                async for part in parts:
                    yield part


@dataclass(slots=True)
class _Patience:
    """Decides after each error whether there is another try; ``next_wait_s`` is the longest wait before it."""

    rules: RetryRules
    deadline: Deadline
    next_wait_s: float = 0.0
    faults: int = 0

    def wait_after(self, error: Exception) -> bool | float:
        """Return the wait in seconds that the engine asked for, ``True`` for our own, ``False`` for no more tries."""
        if not isinstance(error, EngineError) or not error.transient:
            return False
        self.faults += not isinstance(error, EngineAbsent)
        if self.faults >= self.rules.tries:
            return False
        asked_s = error.retry_after_s
        if asked_s is None:
            return self.next_wait_s < self.deadline.left()
        return asked_s if asked_s < min(self.rules.retry_after_max_s, self.deadline.left()) else False


async def _first(parts: AsyncGenerator[T]) -> AsyncGenerator[T]:
    """Yield the first of ``parts``, if there is one."""
    async for part in parts:
        yield part
        return
