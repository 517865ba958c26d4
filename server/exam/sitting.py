"""One sitting of an exam: what both tasks share, whoever leads.

* Time comes first: every fact is preceded by what was due at its moment. Times count from ``SessionStarted``.
* The examiner's turns are numbered; a fact about one that is over is late and is dropped in silence, but for what it
  says about sound (``SentenceVoiced``, ``AudioPlayed``), because the dialogue keeps what was heard.
* A said turn of which nothing more is reported for long is given up: no client stays muted.
* The candidate's words are recorded and captioned as they come, the examiner's turns when they end. As long as the
  candidate has said nothing, nothing is recorded. Two segments lost in a row mean that recognition is gone.
* The end goes to the flush (:mod:`server.exam.flush`). From then on the task gets no fact and no time any more.
* A fact that cannot be raises :class:`server.exam.legality.IllegalFact` and changes nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from server.exam import facts
from server.exam.dialogue import Dialogue
from server.exam.effects import CancelReply, Caption, Effect, Record, Warn
from server.exam.examiner import Examiner
from server.exam.facts import Fact
from server.exam.flush import CLIENT_LEFT, Flush, Stage
from server.exam.legality import check
from server.exam.notices import Language, warning_text
from server.exam.speculation import Speculations
from server.wire import closes
from server.wire.closes import CloseCode

LOST_IN_A_ROW = 2
"""Segments lost one after another that mean that recognition has failed, and has failed again."""


class Sitting(ABC):
    """What both tasks share. Satisfies :class:`server.exam.core.Exam`.

    ``relances`` counts the questions of task 1 that began to be said; ``speculations`` those of task 2.
    """

    relances = 0

    def __init__(
        self, language: Language, *, timeout_ms: int, warning_ms: int, grace_ms: int, speculations: int = 0
    ) -> None:
        self._language: Language = language
        self._timeout_ms = timeout_ms
        self._warning_ms = warning_ms
        self._dialogue = Dialogue(language)
        self._examiner = Examiner(self._dialogue)
        self._flush = Flush(self._dialogue, language, grace_ms / 1000)
        self.speculations = Speculations(speculations)
        self._start: float | None = None
        self._warned = False
        self._lost = 0

    @property
    def transcript(self) -> str:
        """The dialogue so far, a line a turn, kept to what was heard."""
        return "\n".join(self._dialogue.lines)

    @property
    def turns(self) -> int:
        """Turns of both sides so far: the transcript's lines."""
        return len(self._dialogue.lines)

    def handle(self, fact: Fact, now: float) -> list[Effect]:
        """Take a fact; return what to do, in order. Raises :class:`server.exam.legality.IllegalFact`."""
        check(fact, started=self._start is not None, stage=self._flush.stage, last_turn=self._examiner.last_turn)
        return self.tick(now) + self._take(fact, now)

    def next_deadline(self) -> float | None:
        """The moment at which :meth:`tick` should be called even if nothing happens; ``None`` when never."""
        if self._flush.stage is not Stage.OPEN:
            return self._flush.deadline
        dues = (self._timeout_at, self._warning_at, self._examiner.stalls_at, self._task_deadline())
        return min((due for due in dues if due is not None), default=None)

    def tick(self, now: float) -> list[Effect]:
        """Do what is due at ``now``; calling it early or twice does nothing."""
        effects: list[Effect] = []
        while _is_due(self.next_deadline(), now):
            effects += self._do_due(now)
        return effects

    @abstractmethod
    def _begin(self, now: float) -> None:
        """The session starts."""

    @abstractmethod
    def _task_deadline(self) -> float | None:
        """Return when the task wants to be woken."""

    @abstractmethod
    def _task_due(self, now: float) -> list[Effect]:
        """Do what the task wanted to be woken for, so that its deadline moves past ``now``, or goes."""

    @abstractmethod
    def _task_fact(self, fact: Fact, now: float) -> list[Effect]:
        """Take a fact; if it is about a turn, that turn is the one alive."""

    @abstractmethod
    def _turn_over(self, turn: int, now: float) -> list[Effect]:
        """``turn``, which was said, has been heard as far as it ever will be: give the candidate the floor."""

    def _take(self, fact: Fact, now: float) -> list[Effect]:
        if self._flush.stage in (Stage.EVALUATING, Stage.CLOSED):
            return self._flush.handle(fact, now)
        effects = self._note(fact, now)
        if self._flush.stage is not Stage.OPEN:
            return effects + self._flush.handle(fact, now)
        turn = getattr(fact, "turn", None)
        if turn is None:
            return effects + self._task_fact(fact, now)
        if turn != self._examiner.turn:
            return effects
        self._examiner.watch(now)
        return effects + self._task_fact(fact, now)

    def _note(self, fact: Fact, now: float) -> list[Effect]:
        match fact:
            case facts.SessionStarted():
                self._start = now
                self._begin(now)
            case facts.UtteranceHeard():
                return self._hear(fact, now)
            case facts.SentenceVoiced():
                self._examiner.voice(fact.turn, fact.text, fact.samples)
            case facts.AudioPlayed():
                return self._play(fact, now)
            case facts.EndRequested():
                return self._end(now)
            case facts.ClientLeft():
                return self._end(now, CLIENT_LEFT)
            case facts.LimitExceeded(code, reason):
                return self._end(now, CloseCode(code, reason))
        return []

    def _hear(self, fact: facts.UtteranceHeard, now: float) -> list[Effect]:
        self._dialogue.hear(fact.segment, fact.text)
        self._lost = self._lost + 1 if fact.lost else 0
        if fact.lost:
            self._flush.words_lost()
        effects: list[Effect] = []
        if text := fact.text.strip():
            effects = [Caption("candidate", text), Record(self.transcript)]
        return effects + self._engine_failed(now) if self._lost >= LOST_IN_A_ROW else effects

    def _play(self, fact: facts.AudioPlayed, now: float) -> list[Effect]:
        spoken = self._dialogue.said(fact.turn)
        if spoken is None:
            return []
        before = spoken.text
        spoken.play(fact.samples, complete=fact.complete)
        if self._flush.stage is not Stage.OPEN:
            return []
        captions: list[Effect] = [Caption("examiner", text) for text in spoken.newly_heard()]
        if fact.turn == self._examiner.turn:
            return captions + self._finish(now) if fact.complete else captions
        return captions + self._record() if spoken.text != before else captions

    def _finish(self, now: float) -> list[Effect]:
        turn = self._examiner.finish()
        return self._turn_over(turn, now) + self._record()

    def _give_up(self, now: float) -> list[Effect]:
        turn = self._examiner.finish()
        return [CancelReply(turn), *self._turn_over(turn, now), *self._record()]

    def _record(self) -> list[Effect]:
        return [] if self._dialogue.is_empty else [Record(self.transcript)]

    def _do_due(self, now: float) -> list[Effect]:
        if self._flush.stage is not Stage.OPEN:
            return self._flush.tick(now)
        if _is_due(self._timeout_at, now):
            return self._end(now)
        if _is_due(self._warning_at, now):
            self._warned = True
            return [Warn(warning_text(self._language, self._timeout_ms - self._warning_ms))]
        if _is_due(self._examiner.stalls_at, now):
            return self._give_up(now)
        return self._task_due(now)

    @property
    def _timeout_at(self) -> float | None:
        return None if self._start is None else self._start + self._timeout_ms / 1000

    @property
    def _warning_at(self) -> float | None:
        return None if self._start is None or self._warned else self._start + self._warning_ms / 1000

    def _engine_failed(self, now: float) -> list[Effect]:
        """An engine failed, and failed again: end the exam with that close code."""
        return self._end(now, closes.ENGINE_FAILED)

    def _end(self, now: float, close: CloseCode | None = None) -> list[Effect]:
        if self._flush.stage is not Stage.OPEN:
            return []
        cut_turn = self._examiner.turn if self._examiner.is_saying else None
        return self._examiner.drop() + self._flush.begin(now, close, cut_turn)


def _is_due(moment: float | None, now: float) -> bool:
    return moment is not None and moment <= now
