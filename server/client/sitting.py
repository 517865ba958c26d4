"""One exam, from the candidate's first word to the close of the socket."""

from __future__ import annotations

import asyncio

from server.client.candidate import Candidate, Notice
from server.client.session import ExamClient

REPORT_PATIENCE_S = 600.0
"""How long the report is waited for after the ``end``: two answers of a small model on a slow CPU, with room."""


async def sit_exam(
    client: ExamClient, candidate: Candidate, notice: Notice, *, report_patience_s: float = REPORT_PATIENCE_S
) -> None:
    """Let ``candidate`` take the exam; tell ``notice`` every event of the server, until the socket is closed.

    Raises :class:`TimeoutError` when the socket is still open ``report_patience_s`` seconds after the ``end``.
    Cancelling it leaves the exam without a word.
    """
    async with asyncio.timeout(None) as patience, asyncio.TaskGroup() as group:
        speaking = group.create_task(_play_then_wait(candidate, patience, report_patience_s))
        async for timed in client:
            candidate.hear(timed)
            notice(timed)
        speaking.cancel()


async def _play_then_wait(candidate: Candidate, patience: asyncio.Timeout, report_patience_s: float) -> None:
    await candidate.play()
    patience.reschedule(asyncio.get_running_loop().time() + report_patience_s)
