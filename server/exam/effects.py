"""What to do, in the imperative: the exam's outputs, performed in order by the session's coordinator alone.

They speak of the exam, not of a wire: a contract's codec turns those that the client should see into its own frames,
and leaves the others unseen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from server.exam.brief import Prompt, ReplyBrief


@dataclass(frozen=True, slots=True)
class TakeStock:
    """Recognise the open segment as far as it was spoken, without closing it; answer ``StockTaken``."""

    turn: int


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Have the LLM read the prompt, of which a later one will be the continuation. No fact answers."""

    prompt: Prompt


@dataclass(frozen=True, slots=True)
class PrepareReply:
    """Make the turn's audio, unheard; answer ``ReplyReady`` at the first block, or ``ReplyFailed``."""

    turn: int
    brief: ReplyBrief


@dataclass(frozen=True, slots=True)
class Say:
    """Send the turn's audio, from its beginning, as it becomes ready.

    ``wanted_at`` (T1) is the drawn time, on the exam's clock; in T2 audio is wanted when the candidate's turn ended.
    """

    turn: int
    wanted_at: float | None = None


@dataclass(frozen=True, slots=True)
class CancelReply:
    """Drop the turn: cancel its requests, send no more audio; report what was heard as a last ``AudioPlayed``."""

    turn: int


@dataclass(frozen=True, slots=True)
class BeginInterruption:
    """T1: tell the client that the examiner cuts in and that it should stop capturing."""

    turn: int


@dataclass(frozen=True, slots=True)
class EndInterruption:
    """T1: tell the client that the relance has been heard and that it should capture again."""

    turn: int


@dataclass(frozen=True, slots=True)
class YieldFloor:
    """T2: the candidate cut in: tell the client to stop playing and to empty its queue."""

    turn: int


@dataclass(frozen=True, slots=True)
class CompleteTurn:
    """Tell the client that the examiner's turn is complete."""

    turn: int


@dataclass(frozen=True, slots=True)
class PauseListening:
    """Close the open segment (its text still comes) and drop the candidate's audio until ``ResumeListening``."""


@dataclass(frozen=True, slots=True)
class ResumeListening:
    """Listen again."""


@dataclass(frozen=True, slots=True)
class StopListening:
    """Close the open segment, take no more audio for good; answer ``ListeningStopped``, later ``PendingHeard``."""


@dataclass(frozen=True, slots=True)
class Warn:
    """Tell the client that the time is nearly up."""

    message: str


@dataclass(frozen=True, slots=True)
class Caption:
    """Text that was heard, for clients that asked for captions."""

    role: Literal["examiner", "candidate"]
    text: str


@dataclass(frozen=True, slots=True)
class Record:
    """Store the production as it stands: the whole transcript, a line a turn. Answer ``RecordFailed`` on failure.

    ``final`` says that nothing will be added any more; ``RecordFailed`` carries it back.
    """

    transcript: str
    final: bool = False


@dataclass(frozen=True, slots=True)
class Evaluate:
    """The production is final and stored: have it evaluated; answer ``Evaluated`` or ``EvaluationFailed``."""


@dataclass(frozen=True, slots=True)
class SendReport:
    """Hand the report to the client."""

    report: dict[str, object]


@dataclass(frozen=True, slots=True)
class SendError:
    """Tell the client what went wrong, before the close."""

    code: Literal["EMPTY_TRANSCRIPT", "PERSISTENCE_FAILED", "CORRECTION_FAILED"]
    message: str


@dataclass(frozen=True, slots=True)
class Close:
    """Close the socket. The last effect of a session; an ``Evaluate`` just before it goes on in the background."""

    code: int
    reason: str = ""


Effect = (
    TakeStock
    | WarmUp
    | PrepareReply
    | Say
    | CancelReply
    | BeginInterruption
    | EndInterruption
    | YieldFloor
    | CompleteTurn
    | PauseListening
    | ResumeListening
    | StopListening
    | Warn
    | Caption
    | Record
    | Evaluate
    | SendReport
    | SendError
    | Close
)
