"""A circuit breaker: a backend that failed is skipped until a real inference of its own has proven it again.

The probe is not a candidate's turn: it runs beside the sessions, so that a backend that stays dead costs one slow turn
in all, and none for each time that somebody looks whether it is back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from engines.errors import EngineError

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ProbeRules:
    """Waits before a skipped backend is probed, in seconds: the first, doubled with each failure up to the longest."""

    first_wait_s: float = 5.0
    max_wait_s: float = 60.0


class Breaker:
    """Closed while all is well, open while its backend is to be skipped."""

    def __init__(self) -> None:
        self._opened = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Whether the backend is to be skipped."""
        return self._opened.is_set()

    def open(self) -> None:
        """Have the backend skipped from now on."""
        self._opened.set()

    def close(self) -> None:
        """Have the backend asked again."""
        self._opened.clear()

    async def opened(self) -> None:
        """Wait until the backend is to be skipped; returns at once while it is."""
        await self._opened.wait()


async def keep_probing(breaker: Breaker, probe: Callable[[], Awaitable[object]], rules: ProbeRules) -> None:
    """Close ``breaker`` whenever it is open and ``probe`` succeeds. Runs until cancelled.

    ``probe`` does one real inference and raises :class:`engines.errors.EngineError` when that fails. It may take as
    long as the wait after it: one that hangs would hide for a minute that its backend is well again.
    """
    while True:
        await breaker.opened()
        wait_s = rules.first_wait_s
        while breaker.is_open:
            await asyncio.sleep(wait_s)
            wait_s = min(rules.max_wait_s, wait_s * 2)
            try:
                async with asyncio.timeout(wait_s):
                    await probe()
            except EngineError as error:
                log.info("engine_still_down", engine=error.engine, code=error.code, next_probe_s=wait_s)
            except TimeoutError:
                log.info("engine_still_silent", next_probe_s=wait_s)
            else:
                breaker.close()
