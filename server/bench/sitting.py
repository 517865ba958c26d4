"""One exam that is measured: a microphone, an ear, and a candidate's way of speaking, until the socket is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

import httpx

from server.bench.hearing import Heard, Hearing
from server.bench.inside import Counted, Inside
from server.bench.microphone import Microphone
from server.bench.record import BenchError
from server.bench.sent import Sent
from server.client.advice import explain, is_refusal
from server.client.errors import ExamOver
from server.client.events import Closed
from server.client.seat import Seat
from server.client.session import ExamClient, open_exam

CLOSE_PATIENCE_S = 600.0
"""How long the server may take from the ``end`` to the close: an evaluation on a slow CPU, with room."""


@dataclass(slots=True)
class Exam:
    """What a candidate has at hand during the exam."""

    client: ExamClient
    microphone: Microphone
    hearing: Hearing
    inside: Inside
    counted: list[Counted] = field(default_factory=list)
    """The server's counters: before the first turn, and after each."""


Talk = Callable[[Exam], Awaitable[None]]
"""How a candidate speaks; it returns when nothing more is to be said."""


@dataclass(frozen=True, slots=True)
class Sat:
    """An exam that is over, with all that its measurement needs."""

    sent: Sent
    heard: tuple[Heard, ...]
    counted: tuple[Counted, ...]
    closed: Closed
    stored: dict[str, dict[str, float]]
    """The production's ``latency``."""


async def sit(seat: Seat, task: str, query: dict[str, str], talk: Talk, web: httpx.AsyncClient) -> Sat:
    """Sit one exam of ``task``. Raises :class:`server.client.errors.ServerUnreachable`.

    An exam that breaks off is given as far as it went: its ``closed`` says why.
    """
    address = seat.address.exam(task, {"token": seat.token, **query})
    inside = Inside(seat, web)
    async with open_exam(address, through_proxy=not seat.address.is_local) as client:
        exam = Exam(client, Microphone(client), Hearing(client), inside)
        await _until_closed(exam, talk)
    closed = exam.hearing.closed or Closed(1006, "")
    stored = {} if is_refusal(closed) else await inside.stored_latency()
    return Sat(exam.microphone.sent, tuple(exam.hearing.heard), tuple(exam.counted), closed, stored)


def expect_admitted(sat: Sat) -> None:
    """Raise :class:`BenchError` when the candidate was refused."""
    if is_refusal(sat.closed):
        raise BenchError(f"no exam: {explain(sat.closed)}")


async def _until_closed(exam: Exam, talk: Talk) -> None:
    async with asyncio.TaskGroup() as group:
        speaking = group.create_task(exam.microphone.run())
        talking = group.create_task(_talk_and_end(exam, talk, speaking))
        await exam.hearing.run()
        speaking.cancel()
        talking.cancel()


async def _talk_and_end(exam: Exam, talk: Talk, speaking: asyncio.Task[None]) -> None:
    await talk(exam)
    speaking.cancel()
    with suppress(ExamOver):  # the server has closed it meanwhile
        await exam.client.end()
    await asyncio.sleep(CLOSE_PATIENCE_S)
    await exam.client.close()
