"""What happened, in the past tense: the exam's inputs.

Frozen data without behaviour. ``turn`` numbers an examiner's turn, counted by the exam core: it hands the number out in
an effect, and every fact about that work carries it back; a fact with an old number is dropped by the core.
``segment`` numbers a stretch of candidate speech, counted by the ear. ``*_ms`` on the candidate's side are positions on
the audio clock (samples received since the session began), never wall-clock times.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """The socket is open and the engines are ready: the exam's time begins now."""


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """The candidate began to speak, or went on after a pause."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class SpeechSustained:
    """The candidate has spoken long enough (250 ms) for it to be meant: it may cut the examiner short."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class SpeechPaused:
    """The candidate fell silent a moment ago (about 200 ms): between words, or at the end of a turn."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class SegmentClosed:
    """A stretch of speech is complete and on its way to recognition: its text will come, whatever happens."""

    segment: int
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The candidate's turn is over: silence lasted long enough, or the client said so.

    ``last_segment`` is the newest segment of the turn; its text may still be on its way.
    """

    last_segment: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class UtteranceHeard:
    """A segment was recognised. ``text`` is empty when nothing was said (a cough), or when recognition failed.

    ``confidence`` is 0 to 1; ``speech_ms`` the part of the segment in which the voice was heard; ``lost`` says that
    recognition failed after its retries, so that words may be missing; ``pauses_ms`` are the silences of 250 ms or more
    between its words.
    """

    segment: int
    text: str
    start_ms: int
    end_ms: int
    speech_ms: int
    confidence: float
    lost: bool = False
    pauses_ms: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class StockTaken:
    """Text of the open segment as far as it was spoken (answers ``TakeStock``)."""

    turn: int
    open_text: str


@dataclass(frozen=True, slots=True)
class ReplyReady:
    """The first audio of the examiner's turn lies ready; nothing of it has been sent."""

    turn: int


@dataclass(frozen=True, slots=True)
class ReplyFailed:
    """No audio can be had for this turn: its engine failed, and one more try failed too, or the deadline passed.

    After ``Say`` it means that no more audio will come: what there is is still sent, and ``AudioSent`` and a complete
    ``AudioPlayed`` follow.
    """

    turn: int
    engine: str


@dataclass(frozen=True, slots=True)
class SentenceVoiced:
    """A sentence of the turn became audio of ``samples`` samples at 24 kHz, after the sentences before it."""

    turn: int
    text: str
    samples: int


@dataclass(frozen=True, slots=True)
class ReplyVoiced:
    """The turn's last sentence has become audio; no more will come."""

    turn: int


@dataclass(frozen=True, slots=True)
class AudioSent:
    """The last audio frame of the turn went out on the socket."""

    turn: int


@dataclass(frozen=True, slots=True)
class AudioPlayed:
    """``samples`` samples (24 kHz) of the turn have had the time to be heard; ``complete`` when that is all of it."""

    turn: int
    samples: int
    complete: bool


@dataclass(frozen=True, slots=True)
class EndRequested:
    """The client asked for the end."""


@dataclass(frozen=True, slots=True)
class ClientLeft:
    """The socket is gone, with or without a word. Nothing can be sent any more."""


@dataclass(frozen=True, slots=True)
class LimitExceeded:
    """A limit of the connection was passed (``AUDIO_BACKLOG``, idle client): end the exam and close with ``code``."""

    code: int
    reason: str


@dataclass(frozen=True, slots=True)
class ListeningStopped:
    """The ear was closed (answers ``StopListening``); the pending text takes about ``expected_s`` seconds."""

    expected_s: float


@dataclass(frozen=True, slots=True)
class PendingHeard:
    """Every segment that was pending when listening stopped has been reported as ``UtteranceHeard``."""


@dataclass(frozen=True, slots=True)
class RecordFailed:
    """The production could not be stored; ``final`` is that of the ``Record`` which failed."""

    final: bool = False


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The production was evaluated; ``report`` is the wire's ``report.data``."""

    report: dict[str, object]


@dataclass(frozen=True, slots=True)
class EvaluationFailed:
    """No valid report could be had; the production stays, with its transcript."""


Fact = (
    SessionStarted
    | SpeechStarted
    | SpeechSustained
    | SpeechPaused
    | SegmentClosed
    | TurnEnded
    | UtteranceHeard
    | StockTaken
    | ReplyReady
    | ReplyFailed
    | SentenceVoiced
    | ReplyVoiced
    | AudioSent
    | AudioPlayed
    | EndRequested
    | ClientLeft
    | LimitExceeded
    | ListeningStopped
    | PendingHeard
    | RecordFailed
    | Evaluated
    | EvaluationFailed
)
