"""What happens in an exam as a client sees it, as frozen data: what came, and what the candidate did.

Task 1 carries Gemini's own frames, task 2 the flat ones; both become the same events here. A frame that fits neither
becomes :class:`Unreadable`: it is shown, and the exam goes on, as an existing client would do.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

EXAMINER_RATE_HZ = 24_000
"""Rate of the examiner's audio: the contract's ``audio/pcm;rate=24000``."""

_MIME_TYPE = f"audio/pcm;rate={EXAMINER_RATE_HZ}"


@dataclass(frozen=True, slots=True, eq=False)
class ExaminerAudio:
    """A piece of the examiner's voice: ``pcm`` is int16, mono, 24 kHz, shape [n]."""

    pcm: NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class InterruptionStart:
    """T1: the examiner cuts in; the client stops capturing."""


@dataclass(frozen=True, slots=True)
class InterruptionEnd:
    """T1: the relance has been heard; the client captures again."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """T2: the candidate cut in; the client stops playing and empties its queue."""


@dataclass(frozen=True, slots=True)
class TurnComplete:
    """The examiner's turn is over."""


@dataclass(frozen=True, slots=True)
class Warned:
    """The time is nearly up."""

    message: str


@dataclass(frozen=True, slots=True)
class Caption:
    """What was said, for a client that asked for captions. ``role`` is ``examiner`` or ``candidate``."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class ReportReceived:
    """The exam's report: ``data`` as the server sent it."""

    data: dict[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class ErrorReceived:
    """The exam could not be marked: ``code`` is one of the contract's (``EMPTY_TRANSCRIPT``), a close follows."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A frame outside the contract; ``why`` tells what is wrong with it."""

    why: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The socket is closed: always the last event. ``code`` is 1006 when no close frame came."""

    code: int
    reason: str


ServerEvent = (
    ExaminerAudio
    | InterruptionStart
    | InterruptionEnd
    | Interrupted
    | TurnComplete
    | Warned
    | Caption
    | ReportReceived
    | ErrorReceived
    | Unreadable
    | Closed
)


@dataclass(frozen=True, slots=True)
class CandidateSpeaks:
    """The client begins to play the candidate's turn ``turn``, of ``samples`` samples at 16 kHz."""

    turn: int
    samples: int


@dataclass(frozen=True, slots=True)
class CandidateSilent:
    """The last sample of the candidate's turn ``turn`` was sent; what follows is silence."""

    turn: int


@dataclass(frozen=True, slots=True)
class EndSent:
    """The client asked for the end."""


CandidateEvent = CandidateSpeaks | CandidateSilent | EndSent
Event = ServerEvent | CandidateEvent


def read_frame(frame: str | bytes) -> ServerEvent:
    """Return the event that a server's frame stands for. Never raises: what cannot be read is :class:`Unreadable`."""
    if isinstance(frame, bytes):
        return Unreadable(f"a binary frame of {len(frame)} bytes, expected text")
    try:
        message = msgspec.json.decode(frame)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return Unreadable(f"a frame of {len(frame)} characters that is not JSON")
    return _read_message(message)


def _read_message(message: object) -> ServerEvent:
    match message:
        case {"serverContent": {"modelTurn": {"parts": [{"inlineData": {"mimeType": mime_type, "data": data}}]}}}:
            return _read_audio(mime_type, data)
        case {"type": "audio", "mimeType": mime_type, "data": data}:
            return _read_audio(mime_type, data)
        case {"type": "interruption_start"}:
            return InterruptionStart()
        case {"type": "interruption_end"}:
            return InterruptionEnd()
        case {"type": "interrupted"}:
            return Interrupted()
        case {"serverContent": {"turnComplete": True}} | {"type": "turnComplete"}:
            return TurnComplete()
        case _:
            return _read_words(message)


def _read_words(message: object) -> ServerEvent:
    match message:
        case {"type": "warning", "message": str(text)}:
            return Warned(text)
        case {"type": "caption", "role": "examiner" | "candidate" as role, "text": str(text)}:
            return Caption(role, text)
        case {"type": "report", "data": dict(data)}:
            return ReportReceived(data)
        case {"type": "error", "code": str(code), "message": str(text)}:
            return ErrorReceived(code, text)
        case {"type": str(kind)}:
            return Unreadable(f"a message of type {kind!r} that the contract does not have in this shape")
        case _:
            return Unreadable("a JSON frame that is no message of the contract")


def _read_audio(mime_type: object, data: object) -> ExaminerAudio | Unreadable:
    if mime_type != _MIME_TYPE:
        return Unreadable(f"audio of type {mime_type!r}, expected {_MIME_TYPE!r}")
    if not isinstance(data, str):
        return Unreadable("audio whose data is not a string")
    try:
        pcm = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return Unreadable("audio whose data is not base64")
    if len(pcm) % 2:
        return Unreadable(f"audio of {len(pcm)} bytes, expected whole samples of 2 bytes")
    return ExaminerAudio(np.frombuffer(pcm, dtype="<i2").astype(np.int16))
