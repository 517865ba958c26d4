"""A whole session over fakes: the real session, exam core, guards, endpoint, codec and socket."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

from engines.protocols import STT_RATE_HZ, TTS_RATE_HZ
from server.exam.effects import Close
from server.exam.guard import PassiveScreen, RelanceScreen
from server.exam.interview import Interview
from server.exam.roleplay import Roleplay, Subject
from server.exam.rules import InterviewRules, RoleplayRules
from server.live.contracts import INTERVIEW, ROLEPLAY
from server.live.production import Production
from server.live.session import Engines, Session, Terms
from server.live.stages import Stages
from server.speech.endpoint import EndpointRules

TERMS = Terms(
    contract=ROLEPLAY,
    captions=True,
    endpoint=EndpointRules(),
    reply_timeout_s=20.0,
    max_backlog_s=30.0,
    idle_timeout_s=60.0,
)
SUBJECT = Subject("employé d'une agence de voyages", "une agence à Lyon", "préparer un voyage")


@dataclass
class Room:
    """One exam to be: its parts may be changed before :meth:`conduct`."""

    candidate: Any
    vad: Any
    stt: Any
    llm: Any
    tts: Any
    bank: dict[str, Any]
    productions: Any
    evaluator: Any
    exam: Interview | Roleplay
    terms: Terms
    stages: Stages = field(default_factory=lambda: Stages(_now, lambda stage, seconds: None))

    async def conduct(self, script: Callable[[Any], Awaitable[None]], *, timeout_s: float = 1_200.0) -> Close:
        """Sit the exam with a client that follows ``script``; return how the session was closed.

        Whatever happens in it: no task is left behind, no engine's stream open, and the detector is freed. The
        script is stopped when the session is over.
        """
        socket = await self.candidate.connect()
        session = Session(
            socket, self.exam, self._engines(), self.terms, self._production(), self.evaluator, self.stages
        )
        acting = asyncio.ensure_future(script(self.candidate))
        try:
            async with asyncio.timeout(timeout_s):
                close = await session.run()
        finally:
            if not acting.done():
                acting.cancel()
            await asyncio.gather(acting, return_exceptions=True)
        if not acting.cancelled():
            acting.result()
        await self._check_that_nothing_is_left()
        return close

    async def _check_that_nothing_is_left(self) -> None:
        await asyncio.sleep(0)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, f"tasks outlive the session: {[task.get_name() for task in left]}"
        assert (self.llm.unfinished, self.tts.unfinished, self.vad.closed) == (0, 0, 1)

    def _engines(self) -> Engines:
        return Engines(self.vad, self.stt, self.llm, self.tts, self.bank, "fr")

    def _production(self) -> Production:
        return Production(
            self.productions,
            user_id="sofia",
            tache=self.terms.contract.tache,
            sujet_id=None,
            langue="fr",
            instance="here",
            elapsed_ms=lambda: round(_now() * 1000),
            latency=self.stages.latency,
        )


class Rooms:
    """Makes rooms. ``fakes`` and ``client`` are the modules beside this one."""

    def __init__(self, fakes: ModuleType, client: ModuleType) -> None:
        self._fakes = fakes
        self._client = client

    def roleplay(self, *answers: Any, rules: RoleplayRules | None = None, **terms: Any) -> Room:
        """Task 2, with the LLM's answers in order; without speculations unless the rules have them."""
        exam = Roleplay(rules or RoleplayRules(speculations=0), "fr", SUBJECT, lambda: PassiveScreen("fr"))
        return self._room(exam, answers, replace(TERMS, **terms))

    def interview(
        self, *answers: Any, relances_s: tuple[float, ...] = (), rules: InterviewRules | None = None, **terms: Any
    ) -> Room:
        """Task 1, with relances drawn at exactly these seconds."""
        planned = replace(rules or InterviewRules(), **_plan(relances_s))
        exam = Interview(planned, "fr", random.Random(1), lambda: RelanceScreen("fr"))
        contract = replace(TERMS, contract=INTERVIEW, endpoint=EndpointRules(turn_silence_ms=None))
        return self._room(exam, answers, replace(contract, **terms))

    def _room(self, exam: Interview | Roleplay, answers: tuple[Any, ...], terms: Terms) -> Room:
        sounds, voices = self._fakes.Sounds(STT_RATE_HZ), self._fakes.Sounds(TTS_RATE_HZ)
        return Room(
            candidate=self._client.Candidate(sounds, voices),
            vad=self._fakes.LevelDetector(),
            stt=self._fakes.ReadingRecogniser(sounds),
            llm=self._fakes.ScriptedModel(deque(answers)),
            tts=self._fakes.ScriptedVoice(voices),
            bank=self._fakes.bank(voices),
            productions=self._fakes.MemoryProductions(),
            evaluator=self._fakes.TimedEvaluator(),
            exam=exam,
            terms=terms,
        )


def _plan(relances_s: tuple[float, ...]) -> dict[str, Any]:
    """Return rules under which the clock can draw nothing but these times."""
    chances = [float(len(relances_s) == count) for count in range(3)]
    plan: dict[str, Any] = dict(zip(("interruption_p0", "interruption_p1", "interruption_p2"), chances, strict=True))
    if relances_s:
        first, last = round(relances_s[0] * 1000), round(relances_s[-1] * 1000)
        plan |= {"interruption_window_start_ms": first, "interruption_window_end_ms": last}
        plan |= {"interruption_min_spacing_ms": last - first}
    return plan


def _now() -> float:
    return asyncio.get_running_loop().time()
