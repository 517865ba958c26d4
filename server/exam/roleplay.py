"""Task 2, the service role-play: the candidate leads and speaks first, the examiner answers when a turn is over.

    LISTENING ──turn ended, all its text there──> PREPARING ──ReplyReady──> SPEAKING ──heard──> LISTENING
    PREPARING ──SpeechSustained──> LISTENING: nothing was said, the turn stays open
    SPEAKING  ──SpeechSustained──> LISTENING: the candidate cuts in, and what was heard stays

* One turn, one decision, all its segments: what is answered is everything that the candidate said since the examiner
  was last heard. So a turn that went on, a reply that was dropped unheard, a cough after it: all come down to the same
  reading of the dialogue. With nothing to answer nothing happens.
* The decision (``TurnEnded``) waits for the text of the segments announced until then. Sustained speech takes it back.
* A short word into the examiner's turn, not sustained, is an aside: it is kept in its place, and asks for no reply.
* A reply that fails before it is said is tried once more under a new number; then the exam ends with the close code of
  a failed engine.
* Preparing and saying are two steps. The decision comes before the first; a speculation would take that step earlier.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from server.exam import facts
from server.exam.bank import Bank, Need
from server.exam.brief import ReplyBrief, Screen
from server.exam.effects import CancelReply, CompleteTurn, Effect, Say, YieldFloor
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
        self, rules: RoleplayRules, language: Language, subject: Subject, new_screen: Callable[[], Screen]
    ) -> None:
        super().__init__(
            language,
            timeout_ms=rules.session_timeout_ms,
            warning_ms=rules.session_warning_ms,
            grace_ms=rules.terminal_flush_grace_ms,
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
                return self._answer_if_complete()
            case Phase.LISTENING, facts.UtteranceHeard():
                return self._answer_if_complete()
            case Phase.LISTENING, facts.SpeechSustained():
                self._ended_with = None
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

    def _answer_if_complete(self) -> list[Effect]:
        if self._ended_with is None or not self._dialogue.is_heard_up_to(self._ended_with):
            return []
        self._ended_with = None
        self._tries = 0
        return self._prepare() if self._dialogue.unanswered else []

    def _prepare(self) -> list[Effect]:
        self._phase = Phase.PREPARING
        self._tries += 1
        self._fallback = self._bank.look_up(Need.STATEMENT)
        history = self._dialogue.history(self._rules.history_budget_chars)
        prompts = roleplay_prompts(self._language, self._subject, history)
        return self._examiner.prepare(ReplyBrief(prompts, self._new_screen, self._fallback))

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
