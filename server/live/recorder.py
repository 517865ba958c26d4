"""Keeps one session's production in the store as it grows, so that a crash loses no finished turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol
from uuid import UUID

import structlog

from server.exam.facts import Evaluated, EvaluationFailed, Fact, RecordFailed
from server.live.production import Production
from server.store.errors import StoreError

log = structlog.get_logger()


class Evaluator(Protocol):
    """Evaluates what is stored; ``server.live.evaluations`` has it."""

    def submit(self, user_id: str, production_id: UUID) -> asyncio.Future[dict[str, object] | None]:
        """Have the production evaluated, whatever becomes of the session; the result is the report, or ``None``."""
        ...


class Recorder:
    """Writes in the order in which it is asked, one write at a time; :meth:`run` is its task.

    When writes are slower than turns, only the newest of those that wait is made: each holds the whole transcript.
    """

    def __init__(self, production: Production, evaluator: Evaluator, post: Callable[[Fact], None]) -> None:
        self._production = production
        self._evaluator = evaluator
        self._post = post
        self._wanted: asyncio.Queue[tuple[str, bool]] = asyncio.Queue()
        self._report: asyncio.Future[dict[str, object] | None] | None = None

    def record(self, transcript: str, *, final: bool) -> None:
        """Have the transcript stored soon; a failure is posted as ``RecordFailed``.

        The final one, once stored, is handed to the evaluation.
        """
        self._wanted.put_nowait((transcript, final))

    async def settled(self) -> None:
        """Wait until everything that was asked for has been stored, or has failed."""
        await self._wanted.join()

    async def evaluate(self) -> None:
        """Wait for the evaluation of the final record, and post what came of it."""
        await self.settled()
        if self._report is None:
            return  # the final record failed, and that has been posted
        report = await asyncio.shield(self._report)
        self._post(EvaluationFailed() if report is None else Evaluated(report))

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            transcript, final = await self._wanted.get()
            taken = 1
            while not final and not self._wanted.empty():
                transcript, final = self._wanted.get_nowait()
                taken += 1
            try:
                await self._write(transcript, final=final)
            finally:
                for _ in range(taken):
                    self._wanted.task_done()

    async def _write(self, transcript: str, *, final: bool) -> None:
        try:
            await self._production.write(transcript, final=final)
        except StoreError as error:
            log.error("record_failed", final=final, error=type(error).__name__)
            self._post(RecordFailed(final))
            return
        if final and self._production.id:
            self._report = self._evaluator.submit(self._production.user_id, self._production.id)
