"""Work that goes on beside a block of code, and ends with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress


@asynccontextmanager
async def alongside(work: Coroutine[object, object, None]) -> AsyncIterator[None]:
    """Run ``work`` as a task while inside; leaving cancels it and waits for its end.

    Unlike a task group's, the block's own exceptions come out as they are. ``work`` must not fail: if it does, its
    exception is raised on leaving.
    """
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
