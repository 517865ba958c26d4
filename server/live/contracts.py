"""The two wire contracts: which frames a client of each task sees for what the exam does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from server.exam.effects import (
    BeginInterruption,
    Caption,
    CompleteTurn,
    Effect,
    EndInterruption,
    SendError,
    SendReport,
    Warn,
    YieldFloor,
)
from server.wire.closes import T1_UNAVAILABLE, T2_UNAVAILABLE, CloseCode
from server.wire.codec import encode, gemini_audio, gemini_turn_complete
from server.wire.messages import (
    CaptionText,
    ExaminerAudio,
    Failure,
    Interrupted,
    InterruptionEnd,
    InterruptionStart,
    Report,
    ServerMessage,
    TimeWarning,
    TurnComplete,
)

Tache = Literal["EO_T1", "EO_T2_LIVE"]


class Contract(Protocol):
    """What a session must know of its wire."""

    @property
    def name(self) -> Literal["t1", "t2"]:
        """The task, in logs and metrics."""

    @property
    def route(self) -> str:
        """Path of the WebSocket."""

    @property
    def tache(self) -> Tache:
        """What the production is stored as."""

    @property
    def unavailable(self) -> CloseCode:
        """The close when the pipeline cannot run."""

    def encode(self, effect: Effect, *, captions: bool) -> list[str]:
        """Return the text frames that tell the client of ``effect``: none when it is not for the client's eyes."""

    def encode_audio(self, pcm: bytes) -> str:
        """Return the text frame around examiner audio (PCM s16le mono at 24 kHz)."""


@dataclass(frozen=True, slots=True)
class InterviewContract:
    """Task 1: interruptions, and Gemini's own frame around the audio."""

    name: Literal["t1"] = "t1"
    route: str = "/t1/live"
    tache: Tache = "EO_T1"
    unavailable: CloseCode = T1_UNAVAILABLE

    def encode(self, effect: Effect, *, captions: bool) -> list[str]:
        """See :meth:`Contract.encode`."""
        match effect:
            case BeginInterruption():
                return [encode(InterruptionStart())]
            case EndInterruption():
                return [encode(InterruptionEnd())]
            case CompleteTurn():
                return [encode(gemini_turn_complete())]
        return _in_both_tasks(effect, captions=captions)

    def encode_audio(self, pcm: bytes) -> str:
        """See :meth:`Contract.encode_audio`."""
        return encode(gemini_audio(pcm))


@dataclass(frozen=True, slots=True)
class RoleplayContract:
    """Task 2: a dialogue in which the candidate may cut in."""

    name: Literal["t2"] = "t2"
    route: str = "/t2/live"
    tache: Tache = "EO_T2_LIVE"
    unavailable: CloseCode = T2_UNAVAILABLE

    def encode(self, effect: Effect, *, captions: bool) -> list[str]:
        """See :meth:`Contract.encode`."""
        match effect:
            case YieldFloor():
                return [encode(Interrupted())]
            case CompleteTurn():
                return [encode(TurnComplete())]
        return _in_both_tasks(effect, captions=captions)

    def encode_audio(self, pcm: bytes) -> str:
        """See :meth:`Contract.encode_audio`."""
        return encode(ExaminerAudio(pcm))


def _in_both_tasks(effect: Effect, *, captions: bool) -> list[str]:
    message: ServerMessage | None = None
    match effect:
        case Warn(message=text):
            message = TimeWarning(text)
        case Caption(role=role, text=text) if captions:
            message = CaptionText(role, text)
        case SendReport(report=report):
            message = Report(report)
        case SendError(code=code, message=text):
            message = Failure(code, text)
    return [] if message is None else [encode(message)]


INTERVIEW: Contract = InterviewContract()
ROLEPLAY: Contract = RoleplayContract()
