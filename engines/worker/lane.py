"""One thread for one kind of inference, shared fairly and bounded.

A job is a generator: each ``next()`` is one bounded step (one window of Whisper, one piece of text of Kokoro), run on
the lane's one thread. First steps go before later ones: who waits for a first piece hears silence, who waits for a
later one is still hearing what came before. Beyond that jobs take turns in the order in which they ask, so that a long
text delays another caller's first piece by one piece and no more. A thread cannot be cancelled: a job that is dropped
ends after the step it is in, and its later steps never run.

When ``capacity`` jobs are open, one more is refused with :class:`LaneFull`; nothing waits outside.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from queue import PriorityQueue
from typing import Final, TypeVar

from engines.worker.problems import Problem

T = TypeVar("T")
_END: Final = object()


class LaneFull(Problem):
    """All places of a lane are taken: 429, with a second as the wait before the next try."""

    def __init__(self, lane: str, capacity: int) -> None:
        message = f"The {lane} lane holds {capacity} requests already; try again."
        super().__init__(429, message, code="lane_full", retry_after_s=1)


@dataclass(order=True, frozen=True, slots=True)
class _Step:
    """The next step of ``job``; the least one runs first."""

    is_later: bool
    number: int
    job: Generator[object, None, None] = field(compare=False)
    answer: Future[object] = field(compare=False)


class Lane:
    """A bounded lane of one thread. Made and used on one event loop."""

    def __init__(self, name: str, capacity: int) -> None:
        self.name = name
        self.capacity = capacity
        self.open_jobs = 0
        self.steps_begun = 0
        self._numbers = count()
        self._steps: PriorityQueue[_Step] = PriorityQueue()
        self._asked: set[Future[object]] = set()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    @property
    def running(self) -> int:
        """Steps on the thread: 0 or 1."""
        return sum(step.running() for step in tuple(self._asked))

    @property
    def waiting(self) -> int:
        """Jobs whose next step waits for the thread; one that neither runs nor waits has to be taken by its caller."""
        return len(self._asked) - self.running

    async def run(self, job: Generator[T, None, None]) -> AsyncGenerator[T, None]:
        """Yield what ``job`` yields, each step run on the lane's thread.

        Raises :class:`LaneFull` before the first step when no place is free, and whatever the job raises. Closing
        or cancelling frees the place at once; the step in progress ends on its own.
        """
        with self._place():
            is_later = False
            try:
                while (item := await asyncio.wrap_future(self._ask(job, is_later))) is not _END:
                    is_later = True
                    yield item  # type: ignore[misc]  # the sentinel is excluded by the loop's condition
            finally:
                self._thread.submit(job.close)

    def _ask(self, job: Generator[T, None, None], is_later: bool) -> Future[object]:
        answer: Future[object] = Future()
        self._asked.add(answer)
        answer.add_done_callback(self._asked.discard)
        self._steps.put(_Step(is_later, next(self._numbers), job, answer))
        self._thread.submit(self._run_one)
        return answer

    def _run_one(self) -> None:
        """Run the step whose turn it is, on the lane's one thread; as often as steps were asked for."""
        step = self._steps.get()
        if not step.answer.set_running_or_notify_cancel():
            return
        self.steps_begun += 1
        try:
            step.answer.set_result(next(step.job, _END))
        except BaseException as error:  # whatever it is, it is raised where the step is awaited, as an executor does
            step.answer.set_exception(error)

    @contextmanager
    def _place(self) -> Generator[None, None, None]:
        if self.open_jobs >= self.capacity:
            raise LaneFull(self.name, self.capacity)
        self.open_jobs += 1
        try:
            yield
        finally:
            self.open_jobs -= 1

    def close(self) -> None:
        """Drop what waits and let the thread end after its present step."""
        for answer in tuple(self._asked):
            answer.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)
