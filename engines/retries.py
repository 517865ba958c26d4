"""Trying again on the same backend.

- A transient error is tried again after a growing, jittered wait, ``tries`` times in all; a permanent one is raised at
  once. ``Retry-After`` is obeyed; one longer than the bound, or than what is left, ends the tries.
- A process of our own that is not there (:class:`engines.http_errors.EngineAbsent`) is being started again: it is tried
  for as long as there is time, and that counts as none of the tries. Of anybody else's, it is a fault like any other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import stamina

from engines.deadline import Deadline
from engines.errors import EngineError
from engines.http_errors import EngineAbsent

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryRules:
    """How often, and after what waits (seconds), a backend is tried again."""

    tries: int = 3
    wait_initial_s: float = 0.1
    wait_max_s: float = 1.0
    wait_jitter_s: float = 0.1
    retry_after_max_s: float = 10.0


async def tried(
    once: Callable[[int], Awaitable[T]], rules: RetryRules, deadline: Deadline, *, awaits_restart: bool
) -> T:
    """Return what ``once(number)`` gives, numbers from 1; its last error when no try is left."""
    patience = _Patience(rules, deadline, awaits_restart)
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


@dataclass(slots=True)
class _Patience:
    """Decides after each error whether there is another try; ``next_wait_s`` is the longest wait before it."""

    rules: RetryRules
    deadline: Deadline
    awaits_restart: bool
    next_wait_s: float = 0.0
    faults: int = 0

    def wait_after(self, error: Exception) -> bool | float:
        """Return the wait in seconds that the engine asked for, ``True`` for our own, ``False`` for no more tries."""
        if not isinstance(error, EngineError) or not error.transient:
            return False
        self.faults += not (self.awaits_restart and isinstance(error, EngineAbsent))
        if self.faults >= self.rules.tries:
            return False
        asked_s = error.retry_after_s
        if asked_s is None:
            return self.next_wait_s < self.deadline.left()
        return asked_s if asked_s < min(self.rules.retry_after_max_s, self.deadline.left()) else False
