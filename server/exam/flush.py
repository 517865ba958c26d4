"""The terminal flush, the same for both tasks: whatever ends an exam, it is ended once, in one order.

    OPEN ──begin──> GATHERING ──last words heard, or deadline──> EVALUATING ──report or failure──> CLOSED

* The first cause wins. A later one changes nothing, but a client that leaves waits for no report any more.
* GATHERING: the ear is closed; the words on their way are waited for, and the count of what was heard of a turn that
  was cut. The wait is the grace, or twice the time that the pending audio takes, whichever is longer.
* Then the production is recorded for the last time and its evaluation begins. With no word from the candidate there is
  no production: neither is ever asked for.
* A client that can still hear waits for the report. Where the cause has a close code of its own (a limit, a failed
  engine, a client that is gone) the socket is closed when the evaluation has begun, which goes on in the background.
* CLOSED: every fact is dropped.
"""

from __future__ import annotations

from enum import Enum

from server.exam import facts
from server.exam.dialogue import Dialogue
from server.exam.effects import Close, Effect, Evaluate, Record, SendError, SendReport, StopListening
from server.exam.facts import Fact
from server.exam.notices import ErrorCode, Language, error_text
from server.wire import closes

CLIENT_LEFT = closes.CloseCode(1001, "CLIENT_LEFT")
"""For the log: a socket that is gone carries no close frame."""

_STOP = closes.SHUTTING_DOWN


LAST_WORDS_S = 45.0
"""How long words that are on their way are waited for at most, where without them nothing, or nobody, is left."""


class Stage(Enum):
    """Where the flush stands."""

    OPEN = "not begun"
    GATHERING = "gathering the last words"
    EVALUATING = "evaluating"
    CLOSED = "over"


class Flush:
    """One session's end. ``grace_s`` is the shortest wait for the last words, in seconds."""

    def __init__(self, dialogue: Dialogue, language: Language, grace_s: float) -> None:
        self.stage = Stage.OPEN
        self.deadline: float | None = None
        self._dialogue = dialogue
        self._language: Language = language
        self._grace_s = grace_s
        self._close: closes.CloseCode | None = None
        self._words_pending = True
        self._words_lost = False
        self._last_moment = 0.0
        self._cut_turn: int | None = None

    def begin(self, now: float, close: closes.CloseCode | None = None, cut_turn: int | None = None) -> list[Effect]:
        """Begin; ``close`` is the cause's own close code, ``cut_turn`` the turn that was cut while it was said."""
        self.stage = Stage.GATHERING
        self.deadline = now + self._grace_s
        self._last_moment = now + max(LAST_WORDS_S, self._grace_s)
        self._close, self._cut_turn = close, cut_turn
        return [StopListening()]

    def words_lost(self) -> None:
        """Recognition has failed on something that the candidate said."""
        self._words_lost = True

    def handle(self, fact: Fact, now: float) -> list[Effect]:
        """Take a fact after the end began; whatever is not the flush's own is dropped."""
        if isinstance(fact, facts.ClientLeft) and self._close is None:
            self._close = CLIENT_LEFT
        if self.stage is Stage.GATHERING:
            return self._gather(fact, now)
        if self.stage is Stage.EVALUATING:
            return self._conclude(fact)
        return []

    def tick(self, now: float) -> list[Effect]:
        """Wait no longer, if it is time."""
        if self.deadline is None or now < self.deadline:
            return []
        if self._is_worth_waiting() and now < self._last_moment:
            self.deadline = self._last_moment
            return []
        return self._settle()

    def _is_worth_waiting(self) -> bool:
        """Whether words on their way are all that there would be, or keep nobody waiting."""
        return self._words_pending and (self._dialogue.is_empty or self._close == CLIENT_LEFT)

    def _gather(self, fact: Fact, now: float) -> list[Effect]:
        match fact:
            case facts.ListeningStopped(expected_s):
                self.deadline = now + max(self._grace_s, 2 * expected_s)
            case facts.PendingHeard():
                self._words_pending = False
            case facts.AudioPlayed(turn) if turn == self._cut_turn:
                self._cut_turn = None
        return [] if self._words_pending or self._cut_turn is not None else self._settle()

    def _conclude(self, fact: Fact) -> list[Effect]:
        match fact:
            case facts.ClientLeft():
                return self._shut(CLIENT_LEFT)
            case facts.LimitExceeded(code, reason) if (code, reason) == (_STOP.code, _STOP.reason):
                return self._shut(_STOP)
            case facts.Evaluated(report):
                return [SendReport(report), *self._shut(closes.DONE)]
            case facts.EvaluationFailed():
                return self._fail("CORRECTION_FAILED", closes.CORRECTION_FAILED)
            case facts.RecordFailed(final=True):
                return self._fail("PERSISTENCE_FAILED", closes.PERSISTENCE_FAILED)
        return []

    def _settle(self) -> list[Effect]:
        self.deadline = None
        if self._dialogue.is_empty:
            return self._end_empty()
        self.stage = Stage.EVALUATING
        effects: list[Effect] = [Record("\n".join(self._dialogue.lines), final=True), Evaluate()]
        return effects if self._close is None else effects + self._shut(self._close)

    def _end_empty(self) -> list[Effect]:
        if self._close is not None:
            return self._shut(self._close)
        if self._words_pending or self._words_lost:
            return self._shut(closes.ENGINE_FAILED)  # something was said: it is not for want of speech
        return self._fail("EMPTY_TRANSCRIPT", closes.DONE)

    def _fail(self, code: ErrorCode, close: closes.CloseCode) -> list[Effect]:
        return [SendError(code, error_text(self._language, code)), *self._shut(close)]

    def _shut(self, close: closes.CloseCode) -> list[Effect]:
        self.stage, self.deadline = Stage.CLOSED, None
        return [Close(close.code, close.reason)]
