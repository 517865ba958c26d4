"""A hand-driven exam: the clock moves only when the test says so, and every effect is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from server.exam import effects as do
from server.exam import facts
from server.exam.sitting import Sitting

E = TypeVar("E")

SAMPLES_PER_S = 24_000


class Everything:
    """A screen that lets everything pass."""

    def feed(self, sentence: str) -> list[str]:
        return [sentence]

    def finish(self) -> list[str]:
        return []


class Stage:
    """Gives facts to an exam at chosen moments (seconds since the session began) and keeps what it answers."""

    def __init__(self, exam: Sitting, *, start: bool = True) -> None:
        self.exam = exam
        self.now = 0.0
        self.effects: list[do.Effect] = []
        self._segment = 0
        if start:
            self(facts.SessionStarted())

    def __call__(self, *happened: facts.Fact) -> list[do.Effect]:
        """Give facts at the present moment; return what they led to."""
        new = [effect for fact in happened for effect in self.exam.handle(fact, self.now)]
        self.effects += new
        return new

    def until(self, moment: float) -> list[do.Effect]:
        """Let time pass, ticking at each deadline; return what that led to."""
        new: list[do.Effect] = []
        while (due := self.exam.next_deadline()) is not None and due <= moment:
            self.now = max(self.now, due)
            new += self.exam.tick(self.now)
        self.now = moment
        self.effects += new
        return new

    def says(self, text: str, *, speech_ms: int = 1_000, lost: bool = False) -> list[do.Effect]:
        """The candidate speaks one segment, meant and closed by a pause, and it is recognised at once."""
        return self(
            facts.SpeechStarted(0),
            facts.SpeechSustained(250),
            facts.SpeechPaused(speech_ms),
            *self.segment(text, lost=lost),
        )

    def segment(self, text: str, *, lost: bool = False) -> Iterable[facts.Fact]:
        """A segment is closed and recognised."""
        self._segment += 1
        number = self._segment
        return facts.SegmentClosed(number, 0, 1_000), heard(number, text, lost=lost)

    @property
    def last_turn(self) -> int:
        """The newest turn's number that the exam handed out, 0 before the first."""
        return max(
            (effect.turn for effect in self.effects if isinstance(effect, do.TakeStock | do.PrepareReply)), default=0
        )

    def asks(self, text: str) -> list[do.Effect]:
        """Task 2: the candidate speaks one segment, and the turn is over."""
        return self.says(text) + self(facts.TurnEnded(self._segment, 3_000))

    def speaks(self, turn: int, *sentences: str, seconds: float = 2.0) -> list[do.Effect]:
        """A turn that is being said is voiced, sent and heard to its end, each sentence ``seconds`` long."""
        samples = int(seconds * SAMPLES_PER_S)
        voiced = [facts.SentenceVoiced(turn, text, samples) for text in sentences]
        total = samples * len(sentences)
        return self(*voiced, facts.ReplyVoiced(turn), facts.AudioSent(turn), facts.AudioPlayed(turn, total, True))

    def all(self, kind: type[E]) -> list[E]:
        """All effects of one kind so far."""
        return [effect for effect in self.effects if isinstance(effect, kind)]

    def only(self, kind: type[E]) -> E:
        """The one effect of its kind so far."""
        (effect,) = self.all(kind)
        return effect


def heard(number: int, text: str, *, lost: bool = False) -> facts.UtteranceHeard:
    """A segment was recognised."""
    return facts.UtteranceHeard(number, text, 0, 1_000, 800, 0.9, lost)


def names(effects: Iterable[do.Effect]) -> list[str]:
    """The effects' names, in order."""
    return [type(effect).__name__ for effect in effects]
