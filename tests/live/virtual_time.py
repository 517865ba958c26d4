"""An event loop that never waits: when nothing can run, its clock jumps to the next timer.

The loop asks its selector to wait until that timer; the selector adds the wait to the clock instead of sleeping through
it. So three minutes of an exam take milliseconds, and every run is the same. What waits for a thread or a socket has no
place here. When nothing can run and no timer is left, the test has come to a standstill, and fails at once.

Each pass of the loop takes a nanosecond of its own, so that code which polls the clock sees it move, as it would.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any

PASS_S = 1e-9


class Standstill(Exception):
    """Nothing can run any more, and no timer is left."""


class VirtualSelector(selectors.DefaultSelector):
    """Passes time instead of waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready; with nothing ready, ``timeout`` seconds have passed."""
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise Standstill(f"everything waits at {self.now} s, and no timer is set")
            self.now += timeout
        self.now += PASS_S
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A loop on the virtual clock, which begins at 0."""

    def __init__(self) -> None:
        self._virtual = VirtualSelector()
        super().__init__(self._virtual)

    def time(self) -> float:
        """Return virtual seconds."""
        return self._virtual.now


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run ``coroutine`` in virtual time; return its result."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(coroutine)
