"""One live session: the coordinator that alone calls the exam core and alone has its effects performed.

Around it, in one task group, stand the receiver, the ear, the recogniser, the voice, the player, the recorder and the
outbox. They report facts into one inbox; what works for a turn carries the turn's number, so that what comes late is
dropped by the core. The inbox has no bound of its own: whoever posts is (audio by the ear, playing by its pace).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from starlette.websockets import WebSocket

from engines.errors import EngineFault
from engines.protocols import Language, LanguageModel, SpeechToText, TextToSpeech, VoiceActivity
from server import cores
from server.exam.effects import Close, Say
from server.exam.facts import ClientLeft, Fact, LimitExceeded, SessionStarted, TurnEnded, UtteranceHeard
from server.exam.lead import Lead
from server.exam.sitting import Sitting
from server.live.composer import Composer
from server.live.contracts import Contract
from server.live.ear import Ear
from server.live.load import Load
from server.live.outbox import Outbox
from server.live.performer import Performer
from server.live.production import Production
from server.live.receiver import Receiver
from server.live.recogniser import Pace, Recogniser
from server.live.recorder import Evaluator, Recorder
from server.live.speaker import Speaker
from server.live.stages import Stages
from server.live.voice import Reply, Voice
from server.speech.endpoint import EndpointRules
from server.speech.sentences import SentenceSplitter
from server.wire import closes


class _Over(Exception):
    """The session is over: every task of its group is to be cancelled."""


@dataclass(frozen=True, slots=True)
class Engines:
    """What a session is conducted with. ``bank`` holds sentences that were spoken ahead of time: int16 at 24 kHz."""

    vad: VoiceActivity
    stt: SpeechToText
    llm: LanguageModel
    tts: TextToSpeech
    bank: Mapping[str, NDArray[np.int16]]
    language: Language
    pace: Pace = field(default_factory=Pace)
    lead: Lead = field(default_factory=Lead)
    load: Load = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "load", Load(self.pace, most_replies=cores.usable()))


@dataclass(frozen=True, slots=True)
class Terms:
    """How one session is conducted: what the client asked for, and the server's limits. Times in seconds."""

    contract: Contract
    captions: bool
    endpoint: EndpointRules
    reply_timeout_s: float
    max_backlog_s: float
    idle_timeout_s: float


class Session:
    """Conducts one exam over an accepted socket; :meth:`run` returns when the socket is closed."""

    def __init__(
        self,
        socket: WebSocket,
        exam: Sitting,
        engines: Engines,
        terms: Terms,
        production: Production,
        evaluator: Evaluator,
        stages: Stages,
    ) -> None:
        self._socket = socket
        self._exam = exam
        self._engines = engines
        self._terms = terms
        self._production = production
        self._evaluator = evaluator
        self._stages = stages
        self._inbox: asyncio.Queue[Fact] = asyncio.Queue()
        self._outbox = Outbox(socket)
        self._wanted_at: float | None = None

    def post(self, fact: Fact) -> None:
        """Report a fact to the exam."""
        self._inbox.put_nowait(fact)

    async def run(self) -> Close:
        """Conduct the exam to its end; return how the socket was closed.

        Cancelling stops at once: what was recorded so far stays in the store, to be evaluated at the next start.
        """
        close = Close(closes.DONE.code)
        try:
            async with asyncio.TaskGroup() as group:
                performer = self._assemble(group)
                close = await self._coordinate(performer)
                await self._outbox.close(close.code, close.reason)
                await performer.recorder.settled()
                raise _Over  # noqa: TRY301 - how a task group is ended from within
        except* _Over:
            pass
        return close

    async def _coordinate(self, performer: Performer) -> Close:
        self.post(SessionStarted())
        while True:
            fact = await self._next_fact()
            if fact is not None:
                self._notice(fact)
            now = self._stages.now()
            for effect in self._exam.tick(now) if fact is None else self._exam.handle(fact, now):
                if isinstance(effect, Close):
                    return effect
                if isinstance(effect, Say) and effect.wanted_at is not None:
                    self._wanted_at = effect.wanted_at
                performer.perform(effect)

    async def _next_fact(self) -> Fact | None:
        deadline = self._exam.next_deadline()
        try:
            async with asyncio.timeout_at(deadline):
                return await self._inbox.get()
        except TimeoutError:
            return None

    def _notice(self, fact: Fact) -> None:
        match fact:
            case UtteranceHeard() if fact.text:
                self._production.hear(fact)
            case TurnEnded():
                self._wanted_at = self._stages.now()
            case ClientLeft():
                self._outbox.give_up()

    def _examiner_heard(self, reply: Reply) -> None:
        """The first frame of an examiner's turn went out."""
        if self._wanted_at is not None:
            self._stages.answered(self._wanted_at, reply.stages)
            self._wanted_at = None

    def _assemble(self, group: asyncio.TaskGroup) -> Performer:
        engines, terms = self._engines, self._terms
        recogniser = Recogniser(
            engines.stt, engines.language, self.post, self._stages, engines.pace, terms.reply_timeout_s
        )
        ear = Ear(engines.vad.open(), recogniser, terms.endpoint, self.post, terms.max_backlog_s)
        receiver = Receiver(self._socket, ear, self.post, terms.idle_timeout_s, manual_vad=terms.endpoint.manual)
        recorder = Recorder(self._production, self._evaluator, self.post)
        composer = Composer(engines.llm, SentenceSplitter, terms.reply_timeout_s)
        voice = Voice(
            composer, engines.tts, engines.bank, group, self.post, self._stages, engines.load, terms.reply_timeout_s
        )
        speaker = Speaker(
            self._outbox, terms.contract.encode_audio, group, self.post, self._stages.now, self._examiner_heard
        )
        for part in (self._outbox, receiver, recogniser, recorder):
            group.create_task(part.run(), name=type(part).__name__.lower())
        group.create_task(self._listen(ear), name="ear")
        return Performer(terms.contract, terms.captions, ear, voice, speaker, recorder, self._outbox, group, self.post)

    async def _listen(self, ear: Ear) -> None:
        try:
            await ear.run()
        except EngineFault:
            self.post(LimitExceeded(closes.ENGINE_FAILED.code, closes.ENGINE_FAILED.reason))
