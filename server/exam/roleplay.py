"""Task 2, the service role-play: the candidate leads and speaks first, the examiner answers when a turn is over.

    LISTENING ──turn ended, all its text there──> PREPARING ──ReplyReady──> SPEAKING ──heard──> LISTENING
    LISTENING ──SpeechPaused──> the same, with a speculation
    PREPARING ──SpeechSustained──> LISTENING: nothing was said, the turn stays open
    SPEAKING  ──SpeechSustained──> LISTENING: the candidate cuts in, and what was heard stays

* One turn, one decision, all its segments: what is answered is everything that the candidate said since the examiner
  was last heard. So a turn that went on, a reply that was dropped unheard, a cough after it: all come down to the same
  reading of the dialogue. With nothing to answer nothing happens.
* The decision (``TurnEnded``) waits for the text of the segments announced until then. Sustained speech takes it back.
* A short word into the examiner's turn, not sustained, is an aside: it is kept in its place, and asks for no reply.
* Words that recognition lost, with nothing else to answer, have a sentence of the bank for an answer: nobody waits in
  silence.
* A reply that fails before it is said is tried once more under a new number; then the exam ends with the close code of
  a failed engine.
* Preparing and saying are two steps. A speculation (:mod:`server.exam.speculation`) takes the first one in a pause that
  may be the turn's last: at the decision the reply is there. Whatever the candidate says more has it dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from server.exam import facts
from server.exam.bank import Bank, Need
from server.exam.brief import ReplyBrief, Screen
from server.exam.effects import CancelReply, CompleteTurn, Effect, Say, WarmUp, YieldFloor
from server.exam.facts import Fact
from server.exam.notices import Language
from server.exam.prompts_t2 import Subject, roleplay_prompts
from server.exam.rules import RoleplayRules
from server.exam.sitting import Sitting

__all__ = ["Roleplay", "Subject"]

TRIES = 2
"""How often a reply is prepared before its engine counts as gone."""


class Phase(Enum):
    """Who has the floor."""

    LISTENING = "listening"
    PREPARING = "preparing"
    SPEAKING = "speaking"


class Roleplay(Sitting):
    """One session of task 2. Satisfies :class:`server.exam.core.Exam`."""

    def __init__(
        self,
        rules: RoleplayRules,
        language: Language,
        subject: Subject,
        new_screen: Callable[[], Screen],
        has_room: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(
            language,
            timeout_ms=rules.session_timeout_ms,
            warning_ms=rules.session_warning_ms,
            grace_ms=rules.terminal_flush_grace_ms,
            speculations=rules.speculations,
        )
        self._rules = rules
        self._subject = subject
        self._new_screen = new_screen
        self._bank = Bank(language)
        self._phase = Phase.LISTENING
        self._ended_with: int | None = None
        self._tries = 0
        self._fallback = ""
        self._segment_open = False
        self._is_aside = False
        self._has_room = has_room

    def _begin(self, now: float) -> None:
        """The candidate begins: there is nothing to do."""

    def _task_deadline(self) -> float | None:
        return None

    def _task_due(self, now: float) -> list[Effect]:
        return []

    def _task_fact(self, fact: Fact, now: float) -> list[Effect]:
        self._listen(fact)
        match self._phase, fact:
            case Phase.LISTENING, facts.TurnEnded(last_segment):
                self._ended_with = last_segment
                return self._answer_if_complete(now)
            case Phase.LISTENING, facts.SessionStarted():
                return self._warm_up()
            case Phase.LISTENING, facts.UtteranceHeard():
                return self._answer_if_complete(now) or self._warm_up()
            case Phase.LISTENING, facts.SpeechSustained():
                self._ended_with = None
            case Phase.LISTENING, _:
                return self._speculate(fact)
            case Phase.PREPARING, facts.SpeechSustained():
                return self._reopen_turn()
            case Phase.SPEAKING, facts.SpeechSustained():
                return self._yield_floor()
            case Phase.PREPARING, facts.ReplyReady():
                return self._speak(now)
            case Phase.PREPARING, facts.ReplyFailed():
                return self._try_again(now)
        return []

    def _listen(self, fact: Fact) -> None:
        match fact:
            case facts.SpeechStarted() if not self._segment_open:
                self._segment_open = True
                self._is_aside = self._phase is Phase.SPEAKING
            case facts.SpeechSustained():
                self._is_aside = False
            case facts.SegmentClosed(segment):
                self._dialogue.announce(segment, aside=self._is_aside)
                self._dialogue.release()
                self._segment_open = self._is_aside = False

    def _speculate(self, fact: Fact) -> list[Effect]:
        match fact:
            case facts.SpeechPaused() if self.speculations.may_begin and self._has_room():
                self.speculations.drop()
                return self._examiner.drop() + self._examiner.take_stock()
            case facts.SpeechStarted() | facts.ReplyFailed():
                self.speculations.drop()
                return self._examiner.drop()
            case facts.StockTaken(open_text=open_text) if not self.speculations.under_way:
                return self._prepare_ahead(open_text)
            case facts.ReplyReady():
                self.speculations.is_ready = True
        return []

    def _prepare_ahead(self, open_text: str) -> list[Effect]:
        words = self._dialogue.unanswered(open_text)
        if not words:
            return self._examiner.drop()
        self.speculations.begin(words)
        return self._examiner.prepare_same(self._brief(open_text))

    def _answer_if_complete(self, now: float) -> list[Effect]:
        if self._ended_with is None or not self._dialogue.is_heard_up_to(self._ended_with):
            return []
        self._ended_with = None
        self._tries = 0
        words = self._dialogue.unanswered()
        if not self.speculations.decide(words):
            return self._prepare() if words or self._lost else self._examiner.drop()
        self._phase, self._tries = Phase.PREPARING, 1
        return self._speak(now) if self.speculations.is_ready else []

    def _warm_up(self) -> list[Effect]:
        """Have what is known of the next prompt read; a speculation has read it already."""
        if self._examiner.turn is not None or not self._rules.speculations:
            return []
        history = self._dialogue.history(self._rules.history_budget_chars) or (("user", ""),)
        return [WarmUp(roleplay_prompts(self._language, self._subject, history)[0])]

    def _prepare(self) -> list[Effect]:
        self._phase = Phase.PREPARING
        self._tries += 1
        return self._examiner.prepare(self._brief())

    def _brief(self, open_text: str = "") -> ReplyBrief:
        self._fallback = self._bank.look_up(Need.STATEMENT)
        if not self._dialogue.unanswered(open_text):
            return ReplyBrief((), self._new_screen, self._fallback)
        history = self._dialogue.history(self._rules.history_budget_chars, open_text)
        return ReplyBrief(roleplay_prompts(self._language, self._subject, history), self._new_screen, self._fallback)

    def _try_again(self, now: float) -> list[Effect]:
        if self._tries >= TRIES:
            return self._engine_failed(now)
        return self._prepare()

    def _speak(self, now: float) -> list[Effect]:
        self._phase = Phase.SPEAKING
        self._bank.spend(self._fallback)
        return [Say(self._examiner.say(now, keep_place=self._segment_open))]

    def _reopen_turn(self) -> list[Effect]:
        self._phase = Phase.LISTENING
        return self._examiner.drop()

    def _yield_floor(self) -> list[Effect]:
        self._phase = Phase.LISTENING
        turn = self._examiner.finish()
        return [CancelReply(turn), YieldFloor(turn)]

    def _turn_over(self, turn: int, now: float) -> list[Effect]:
        self._phase = Phase.LISTENING
        return [CompleteTurn(turn)]
