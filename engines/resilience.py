"""One engine out of several backends: tried again, fallen back from, skipped while down. The same for every kind.

- The backends are asked in order: first the primary, then its fallback. Each is tried again as
  :mod:`engines.retries` has it; what is left of an error then goes to the next one.
- A backend with another behind it may take half of what is left of the turn, so that the other has time to answer.
- One that failed and could not be helped by trying again is skipped (:mod:`engines.breaker`), where there is another to
  ask. A permanent error skips nothing: it costs no time, and may be the request's own.
- Once the first part of an answer has been handed on, nothing switches any more: a failure is final.

Adapters know nothing of this: each makes one attempt, within the ``timeout_s`` that it is given.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from engines.breaker import Breaker
from engines.deadline import Deadline
from engines.errors import EngineError, EngineTimeout
from engines.retries import RetryRules, tried

E = TypeVar("E")
T = TypeVar("T")

PRIMARY_SHARE = 0.5
"""Part of what is left of the turn that a backend may take while another waits behind it."""

OVERTIME_S = 0.2
"""How long after its time an adapter may still say itself that the time was up, and clean up as it does then."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request to one engine, for metrics and logs.

    ``number`` counts from 1 on each backend; ``outcome`` is ``ok``, the ``code`` of an
    :class:`engines.errors.EngineError`, ``cancelled``, or ``bug``; ``duration_s`` runs to the end of the answer.
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
class Backend(Generic[E]):
    """An adapter in its place: of which style, whether at a process of our own, and whether it is skipped now."""

    engine: E
    style: str
    is_own: bool = False
    breaker: Breaker = field(default_factory=Breaker)


class Resilience(Generic[E]):
    """Asks the ``backends`` of one kind (``stt``, ``llm``, ``tts``); ``observe`` is told every attempt."""

    def __init__(
        self,
        kind: str,
        backends: Sequence[Backend[E]],
        rules: RetryRules = RetryRules(),  # noqa: B008  frozen
        observe: Observe = unobserved,
    ) -> None:
        assert backends  # noqa: S101 - whoever asks nobody gets no answer
        self._kind = kind
        self._backends = tuple(backends)
        self._rules = rules
        self._observe = observe

    async def call(self, request: Callable[[E, float], Awaitable[T]], timeout_s: float) -> T:
        """Return what ``request(engine, timeout_s)`` gives; the last error when no backend is left."""

        async def once(backend: Backend[E], number: int, share: Deadline) -> T:
            with self._observed(backend, number):
                async with asyncio.timeout(share.left() + OVERTIME_S):
                    return await request(backend.engine, share.left())

        return await self._answered(once, Deadline(timeout_s))

    async def stream(self, request: Callable[[E, float], AsyncGenerator[T]], timeout_s: float) -> AsyncGenerator[T]:
        """Yield the parts of ``request(engine, timeout_s)``, tried again elsewhere only until the first has come."""
        deadline = Deadline(timeout_s)

        async def begin(backend: Backend[E], number: int, share: Deadline) -> tuple[AsyncGenerator[T], list[T]]:
            parts = self._parts(request, backend, number, share, deadline)
            return parts, [first async for first in _first(parts)]

        parts, begun = await self._answered(begin, deadline)
        async with aclosing(parts):
            for first in begun:
                yield first
            async for part in parts:
                yield part

    async def _answered(self, once: Callable[[Backend[E], int, Deadline], Awaitable[T]], deadline: Deadline) -> T:
        """Return the first answer of the backends in their order."""
        *before, last = self._asked()
        for backend in before:
            try:
                return await self._tried(backend, once, deadline.share(PRIMARY_SHARE))
            except EngineError:
                continue
        return await self._tried(last, once, deadline)

    def _asked(self) -> Sequence[Backend[E]]:
        """Return the backends that are not skipped; all when all are: there is nobody else to ask."""
        return [each for each in self._backends if not each.breaker.is_open] or self._backends

    def _skip(self, backend: Backend[E]) -> None:
        """Skip ``backend`` from now on; one that is alone never is, and is not called so in log and metrics."""
        if len(self._backends) > 1:
            backend.breaker.open()

    async def _tried(
        self, backend: Backend[E], once: Callable[[Backend[E], int, Deadline], Awaitable[T]], share: Deadline
    ) -> T:
        try:
            answer = await tried(
                lambda number: once(backend, number, share), self._rules, share, awaits_restart=backend.is_own
            )
        except EngineError as error:
            if error.transient:
                self._skip(backend)
            raise
        backend.breaker.close()
        return answer

    async def _parts(
        self,
        request: Callable[[E, float], AsyncGenerator[T]],
        backend: Backend[E],
        number: int,
        share: Deadline,
        deadline: Deadline,
    ) -> AsyncGenerator[T]:
        """Yield the parts of one attempt, the first within ``share``; what fails after it has the backend skipped."""
        with self._observed(backend, number):
            async with aclosing(request(backend.engine, deadline.left())) as parts:
                async with asyncio.timeout(share.left() + OVERTIME_S):
                    begun = [first async for first in _first(parts)]
                for first in begun:
                    yield first
                try:
                    async for part in parts:
                        yield part
                except EngineError:
                    self._skip(backend)
                    raise

    @contextmanager
    def _observed(self, backend: Backend[E], number: int) -> Iterator[None]:
        begun, outcome = time.monotonic(), "cancelled"
        try:
            yield
            outcome = "ok"
        except TimeoutError as error:
            outcome = EngineTimeout.code
            raise EngineTimeout(self._kind, "expected an answer, the time was up") from error
        except EngineError as error:
            outcome = error.code
            raise
        except Exception:
            outcome = "bug"
            raise
        finally:
            self._observe(Attempt(self._kind, backend.style, number, outcome, time.monotonic() - begun))


async def _first(parts: AsyncGenerator[T]) -> AsyncGenerator[T]:
    """Yield the first of ``parts``, if there is one."""
    async for part in parts:
        yield part
        return
