"""Callers who take nothing of their answer.

The system and uvicorn keep some 64 KB of an answer each; then the answer stands still, and so does the job that makes
it. Closing such a connection would wait for what is kept to be taken, so it is cut.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


def impatient(idle_s: float) -> type[H11Protocol]:
    """Return uvicorn's protocol, which cuts a connection whose answer has stood still for ``idle_s`` seconds.

    The application is told as of a caller who hung up.
    """

    class Impatient(H11Protocol):
        _cut: asyncio.TimerHandle | None = None

        def pause_writing(self) -> None:
            super().pause_writing()
            self._cut = self.loop.call_later(idle_s, self.transport.abort)

        def resume_writing(self) -> None:
            self._go_on()
            super().resume_writing()

        def connection_lost(self, exc: Exception | None) -> None:
            self._go_on()
            super().connection_lost(exc)

        def _go_on(self) -> None:
            if self._cut is not None:
                self._cut.cancel()

    return Impatient
