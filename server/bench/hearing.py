"""What the client hears of one exam, as moments at its socket, and waiting for them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from server.client.events import Closed, ExaminerAudio, Interrupted, InterruptionEnd, InterruptionStart, TurnComplete
from server.client.session import ExamClient, TimedEvent


class Kind(Enum):
    """What can be heard."""

    FIRST_FRAME = "the first audio of an examiner's turn"
    TURN_COMPLETE = "the examiner's turn is complete"
    INTERRUPTED = "the candidate has cut in"
    INTERRUPTION_START = "the examiner cuts in"
    INTERRUPTION_END = "the relance has been heard"


_KINDS = {
    TurnComplete: Kind.TURN_COMPLETE,
    Interrupted: Kind.INTERRUPTED,
    InterruptionStart: Kind.INTERRUPTION_START,
    InterruptionEnd: Kind.INTERRUPTION_END,
}


@dataclass(frozen=True, slots=True)
class Heard:
    """Something heard ``at_s`` seconds after the handshake."""

    kind: Kind
    at_s: float


class Hearing:
    """Of one exam; :meth:`run` is its task, and ends when the socket is closed. Only a turn's first frame is kept."""

    def __init__(self, client: ExamClient) -> None:
        self.heard: list[Heard] = []
        self.closed: Closed | None = None
        self._client = client
        self._in_turn = False
        self._news = asyncio.Event()

    async def run(self) -> None:
        """Listen until the socket is closed."""
        async for timed in self._client:
            self._take(timed)
            self._news.set()

    async def first(self, kinds: Collection[Kind], since: int, patience_s: float) -> Heard | None:
        """Wait for the first of ``kinds`` behind the ``since`` that were heard; ``None`` when none comes in time."""
        try:
            async with asyncio.timeout(patience_s):
                while True:
                    for heard in self.heard[since:]:
                        if heard.kind in kinds:
                            return heard
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return None

    def _take(self, timed: TimedEvent) -> None:
        match timed.event:
            case Closed() as closed:
                self.closed = closed
            case ExaminerAudio():
                if not self._in_turn:
                    self.heard.append(Heard(Kind.FIRST_FRAME, timed.at_s))
                self._in_turn = True
            case event if kind := _KINDS.get(type(event)):
                self._in_turn = False
                self.heard.append(Heard(kind, timed.at_s))
