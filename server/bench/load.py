"""``relance bench load``: many candidates at one server, each at the pace of a microphone, for some minutes.

Task 2's candidates are silent at first, for the cost of a session in which nothing is said; then each begins a little
after the one before, as candidates do, and asks until the time is up. Task 1's sit one exam after another.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import httpx

from engines.protocols import VoiceActivity
from server.bench.candidates import asking, telling
from server.bench.inside import Inside
from server.bench.moments import barge_ins, interview_turns, roleplay_turns
from server.bench.processes import Use, named, use
from server.bench.record import Turn
from server.bench.sitting import Exam, Sat, Talk, sit
from server.bench.spoken import rules, spoken_in
from server.bench.turns import DRAWN_MS, RELANCE_PATIENCE_S, Measured
from server.bench.venue import Venue
from server.bench.voices import Voice
from server.client.errors import ServerUnreachable
from server.client.subjects import first_subject
from server.wire import closes

SILENCE_S = 10.0
SETTLED_S = 2.0
"""How long after the handshakes the cost of silence is measured from."""

APART_S = 0.7
"""How much later than the one before each candidate begins, the eighth with the first again."""

LOOK_S = 1.0
TRY_AGAIN_LATER = closes.TRY_AGAIN_LATER.code
UNREACHABLE = 0
"""In place of a close code: the handshake failed."""

Task = Literal["t1", "t2"]


@dataclass(slots=True)
class Loaded:
    """What one number of sessions gave.

    ``closes`` counts exams by close code; ``looks`` are moments in seconds with what each process had used by then.
    """

    sessions: int
    measured: Measured = field(default_factory=Measured)
    closes: Counter[int] = field(default_factory=Counter)
    looks: list[tuple[float, dict[str, Use]]] = field(default_factory=list)


async def measure_load(
    venue: Venue,
    task: Task,
    voices: Sequence[Voice],
    sessions: int,
    minutes: float,
    silence_ms: int,
    vad: VoiceActivity,
    silence_s: float = SILENCE_S,
) -> Loaded:
    """Have so many candidates sit at once. Raises :class:`server.client.errors.ClientError` when none can begin."""
    crowd = _Crowd(venue, task, voices, sessions, 60 * minutes, silence_s)
    async with httpx.AsyncClient(trust_env=not venue.address.is_local) as web:
        inside = Inside(venue.seat("load"), web)
        before = await inside.counted(task)
        await crowd.sit(web)
        lags = (await inside.counted(task)).lags_since(before)
    loaded = Loaded(sessions, Measured(lags=lags), crowd.closes, crowd.looks)
    found = await asyncio.gather(*(_turns(task, number, sat, silence_ms, vad) for number, sat in crowd.sat))
    for turns, cut_in in found:
        loaded.measured.turns += turns
        loaded.measured.barge_ins += cut_in
    return loaded


class _Crowd:
    """Candidates of one run."""

    def __init__(
        self, venue: Venue, task: Task, voices: Sequence[Voice], sessions: int, talk_s: float, silence_s: float
    ) -> None:
        self._venue, self._task, self._voices, self._sessions = venue, task, voices, sessions
        self._silence_s = silence_s if task == "t2" else 0.0
        self._talk_s = talk_s
        self._until = 0.0
        self.sat: list[tuple[int, Sat]] = []
        self.closes: Counter[int] = Counter()
        self.looks: list[tuple[float, dict[str, Use]]] = []

    async def sit(self, web: httpx.AsyncClient) -> None:
        """Sit until all exams are over."""
        subject = await asyncio.to_thread(first_subject, self._venue.seat("load")) if self._task == "t2" else None
        query = {"sujet": subject.id} if subject else {}
        self._until = time.monotonic() + self._silence_s + self._talk_s
        watching = asyncio.create_task(self._watch())
        try:
            await asyncio.gather(*(self._candidate(number, query, web) for number in range(1, self._sessions + 1)))
        finally:
            watching.cancel()

    async def _candidate(self, number: int, query: dict[str, str], web: httpx.AsyncClient) -> None:
        apart_s = number % 8 * APART_S
        if self._task == "t2":
            asks = asking(self._questions(number), counts=False)
            await self._sit(number, query, _after(self._silence_s + apart_s, asks), web)
            return
        await asyncio.sleep(apart_s)
        talk = telling(self._voices[0], len(DRAWN_MS), patience_s=RELANCE_PATIENCE_S, counts=False)
        while time.monotonic() < self._until and await self._sit(number, query, talk, web):
            pass

    async def _sit(self, number: int, query: dict[str, str], talk: Talk, web: httpx.AsyncClient) -> bool:
        """Sit one exam; return whether it took place."""
        try:
            sat = await sit(self._venue.seat(f"load-{number}"), self._task, query, talk, web)
        except ServerUnreachable:
            self.closes[UNREACHABLE] += 1
            return False
        self.closes[sat.closed.code] += 1
        self.sat.append((number, sat))
        return sat.sent.samples > 0 and sat.closed.code != TRY_AGAIN_LATER

    def _questions(self, number: int) -> Iterator[Voice]:
        at = number  # so that not all ask the same at the same time
        while time.monotonic() < self._until:
            yield self._voices[at % len(self._voices)]
            at += 1

    async def _watch(self) -> None:
        while (pid := self._venue.pid) is not None:
            uses = {name: found for name, of in named(pid).items() if (found := use(of)) is not None}
            self.looks.append((time.monotonic(), uses))
            await asyncio.sleep(LOOK_S)


def _after(seconds: float, talk: Talk) -> Talk:
    async def later(exam: Exam) -> None:
        await asyncio.sleep(seconds)
        await talk(exam)

    return later


async def _turns(
    task: Task, number: int, sat: Sat, silence_ms: int, vad: VoiceActivity
) -> tuple[list[Turn], list[tuple[float, float]]]:
    if task == "t1":
        is_whole = len(sat.heard) > 0
        return (interview_turns(number, sat, [at / 1000 for at in DRAWN_MS]) if is_whole else []), []
    spoken = await spoken_in(sat.sent.pcm(), vad, rules(silence_ms))
    return roleplay_turns(number, sat, spoken), barge_ins(sat, spoken)
