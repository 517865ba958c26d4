"""Task 1, the guided interview: the relance clock says when the examiner asks, and no transcript can move it.

    WAITING ──a lead before the drawn time──> STOCKTAKING ──StockTaken──> PREPARING ──ReplyReady──> READY
    READY ──drawn time come, and the candidate pauses or has had the grace──> SPEAKING ──heard──> WAITING

* A drawn relance takes place. What is not ready ``relance_patience_ms`` after the drawn time, or has failed, gives way
  to a sentence of the bank, whose audio was made ahead (STOCKTAKING, PREPARING, READY ──> PREPARING). Should even that
  fail, it is tried again after a rest (RESTING), a few times; the client is not muted before there is sound.
* Under eight words heard, the LLM is not asked at all: the bank serves.
* A relance that falls due while one is under way is taken up when that one has ended.
* SPEAKING: the ear drops the candidate's audio. A segment that was closed by the interruption and is announced only now
  was spoken before the relance, and goes before it.
* A relance whose audio breaks off counts as far as it was heard.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from enum import Enum

from server.exam import facts, relance_clock
from server.exam.bank import Bank, Need
from server.exam.brief import ReplyBrief, Screen
from server.exam.effects import (
    BeginInterruption,
    CompleteTurn,
    Effect,
    EndInterruption,
    PauseListening,
    ResumeListening,
    Say,
)
from server.exam.facts import Fact
from server.exam.lead import Lead
from server.exam.not_again import NotAgain
from server.exam.notices import Language
from server.exam.prompts_t1 import interview_prompts
from server.exam.rules import InterviewRules
from server.exam.sitting import Sitting

FEW_WORDS = 8
"""Under so many words heard there is nothing to ask about: the bank serves."""

BANK_TRIES = 5
"""How often a sentence of the bank is tried for one relance."""

BANK_REST_S = 1.0
"""Wait between two of those tries."""

BANK_PATIENCE_S = 5.0
"""How long a sentence of the bank may take: enough to synthesise it, should it not have been made ahead."""


class Phase(Enum):
    """Where the current relance stands."""

    WAITING = "waiting for the next relance"
    STOCKTAKING = "taking stock"
    PREPARING = "preparing"
    RESTING = "resting before another try"
    READY = "ready"
    SPEAKING = "speaking"


class Interview(Sitting):
    """One session of task 1. Satisfies :class:`server.exam.core.Exam`.

    ``rng`` draws the plan and the order of the bank. Raises
    :class:`server.exam.relance_clock.ImpossiblePlan` for rules that cannot be kept.
    """

    def __init__(
        self,
        rules: InterviewRules,
        language: Language,
        rng: random.Random,
        new_screen: Callable[[], Screen],
        lead: Lead | None = None,
    ) -> None:
        relance_clock.check(rules)
        super().__init__(
            language,
            timeout_ms=rules.session_timeout_ms,
            warning_ms=rules.session_warning_ms,
            grace_ms=rules.terminal_flush_grace_ms,
        )
        self._rules = rules
        self._new_screen = new_screen
        self._lead = lead or Lead(rules.relance_lead_ms / 1000)
        self._drawn_ms = relance_clock.draw(rules, rng)
        self._bank = Bank(language, rng)
        self._plan: deque[float] = deque()
        self._phase = Phase.WAITING
        self._alarm: float | None = None
        self._due = 0.0
        self._begun = 0.0
        self._waits_until = 0.0
        self._candidate_speaks = False
        self._candidate_has_spoken = False
        self._bank_tries = 0
        self._fallback = ""
        self._completed = False

    def _begin(self, now: float) -> None:
        self._plan.extend(now + at_ms / 1000 for at_ms in self._drawn_ms)
        self._await_next()

    def _task_deadline(self) -> float | None:
        return self._alarm

    def _task_due(self, now: float) -> list[Effect]:
        match self._phase:
            case Phase.WAITING:
                return self._take_stock(now)
            case Phase.RESTING:
                return self._prepare_from_bank(now)
            case Phase.READY:
                return self._speak_if_free(now)
        return self._fall_back(now)

    def _task_fact(self, fact: Fact, now: float) -> list[Effect]:
        self._listen(fact)
        match self._phase, fact:
            case Phase.STOCKTAKING, facts.StockTaken(open_text=open_text):
                return self._prepare(open_text)
            case Phase.PREPARING, facts.ReplyReady():
                return self._ready(now)
            case Phase.READY, facts.SpeechPaused():
                return self._speak_if_free(now)
            case ((Phase.PREPARING | Phase.READY), facts.ReplyFailed()):
                return self._fall_back(now)
            case Phase.SPEAKING, facts.AudioSent(turn):
                return self._complete(turn)
        return []

    def _listen(self, fact: Fact) -> None:
        match fact:
            case facts.SpeechStarted():
                self._candidate_speaks = self._candidate_has_spoken = True
            case facts.SpeechPaused() | facts.TurnEnded():
                self._candidate_speaks = False
            case facts.SegmentClosed(segment):
                self._dialogue.announce(segment)

    def _await_next(self) -> None:
        self._phase = Phase.WAITING
        self._alarm = self._plan[0] - self._lead.seconds() if self._plan else None

    def _take_stock(self, now: float) -> list[Effect]:
        self._phase, self._begun = Phase.STOCKTAKING, now
        self._due = self._plan.popleft()
        self._alarm = max(self._due, now) + self._rules.relance_patience_ms / 1000
        self._bank_tries = 0
        return self._examiner.take_stock()

    def _prepare(self, open_text: str) -> list[Effect]:
        self._phase = Phase.PREPARING
        heard = f"{self._dialogue.candidate_text} {open_text}".strip()
        words = len(heard.split())
        if words < FEW_WORDS:
            self._bank_tries = 1
            return self._examiner.prepare_same(self._from_bank(Need.LITTLE_SAID if words else Need.NOT_BEGUN))
        self._fallback = self._bank.look_up(Need.RELANCE)
        asked = self._dialogue.examiner_texts
        prompts = interview_prompts(self._language, heard, asked)
        brief = ReplyBrief(prompts, lambda: NotAgain(self._new_screen(), asked), self._fallback)
        return self._examiner.prepare_same(brief)

    def _fall_back(self, now: float) -> list[Effect]:
        if self._bank_tries == 0:
            self._lead.took(now - self._begun)
            return self._prepare_from_bank(now)
        dropped = self._examiner.drop()
        if self._bank_tries >= BANK_TRIES:
            self._await_next()
        else:
            self._phase, self._alarm = Phase.RESTING, now + BANK_REST_S
        return dropped

    def _prepare_from_bank(self, now: float) -> list[Effect]:
        self._phase, self._alarm = Phase.PREPARING, max(self._due, now) + BANK_PATIENCE_S
        self._bank_tries += 1
        return self._examiner.prepare(self._from_bank(self._need()))

    def _need(self) -> Need:
        """What kind of relance fits when stock was not taken: words may be on their way."""
        return Need.RELANCE if self._candidate_has_spoken else Need.NOT_BEGUN

    def _from_bank(self, need: Need) -> ReplyBrief:
        self._fallback = self._bank.look_up(need)
        return ReplyBrief((), self._new_screen, self._fallback)

    def _ready(self, now: float) -> list[Effect]:
        if self._bank_tries == 0:
            self._lead.took(now - self._begun)
        self._phase = Phase.READY
        self._waits_until = max(self._due, now) + self._rules.interruption_pause_grace_ms / 1000
        return self._speak_if_free(now)

    def _speak_if_free(self, now: float) -> list[Effect]:
        if now < self._due:
            self._alarm = self._due
            return []
        if self._candidate_speaks and now < self._waits_until:
            self._alarm = self._waits_until
            return []
        return self._speak(now)

    def _speak(self, now: float) -> list[Effect]:
        self._phase, self._alarm, self._completed = Phase.SPEAKING, None, False
        self._bank.spend(self._fallback)
        self.relances += 1
        turn = self._examiner.say(now, keep_place=True)
        return [PauseListening(), BeginInterruption(turn), Say(turn, self._due)]

    def _complete(self, turn: int) -> list[Effect]:
        if self._completed:
            return []
        self._completed = True
        return [CompleteTurn(turn)]

    def _turn_over(self, turn: int, now: float) -> list[Effect]:
        self._dialogue.release()
        self._candidate_speaks = False
        self._await_next()
        return [*self._complete(turn), EndInterruption(turn), ResumeListening()]
