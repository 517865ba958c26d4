"""Ctrl-C in an exam: the first asks for its end and the report, the second leaves. So does SIGTERM."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from server.client.candidate import Candidate


@contextmanager
def signals_heard(candidate: Candidate, sitting: asyncio.Task[None], say: Callable[[str], None]) -> Iterator[None]:
    """While inside, let the first SIGINT make ``candidate`` leave, and a second, or SIGTERM, cancel ``sitting``.

    ``say`` is told what the first one did. Only for the main thread's event loop.
    """
    loop = asyncio.get_running_loop()

    def leave() -> None:
        loop.add_signal_handler(signal.SIGINT, sitting.cancel)
        candidate.leave()
        say("asking for the end; Ctrl-C again quits without the report")

    loop.add_signal_handler(signal.SIGINT, leave)
    loop.add_signal_handler(signal.SIGTERM, sitting.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)
