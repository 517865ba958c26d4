"""Messages of the exam's WebSocket contract, as frozen data. Text in frames is UTF-8 JSON; audio in it is base64.

What the server says is declared in the order of its keys on the wire; a ``bytes`` field becomes standard base64.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class AudioChunk(msgspec.Struct, frozen=True):
    """Candidate audio: bytes of PCM s16le mono at 16 kHz, of any length, odd ones too."""

    pcm: bytes


class End(msgspec.Struct, frozen=True):
    """The client asks for the end of the exam."""


class ActivityStart(msgspec.Struct, frozen=True):
    """Push-to-talk (``?vad=manual``): the candidate's turn begins."""


class ActivityEnd(msgspec.Struct, frozen=True):
    """Push-to-talk: the candidate's turn is over."""


ClientMessage = AudioChunk | End | ActivityStart | ActivityEnd

EXAMINER_MIME_TYPE = "audio/pcm;rate=24000"
"""Examiner audio: PCM s16le mono at 24 kHz."""

CaptionRole = Literal["examiner", "candidate"]
ErrorCode = Literal["EMPTY_TRANSCRIPT", "PERSISTENCE_FAILED", "CORRECTION_FAILED"]


class InlineData(msgspec.Struct, frozen=True, rename="camel"):
    """T1, in Gemini's own frame: a block of examiner audio."""

    mime_type: str
    data: bytes


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """T1, in Gemini's own frame: one part of a turn."""

    inline_data: InlineData


class ModelTurn(msgspec.Struct, frozen=True):
    """T1, in Gemini's own frame: the examiner's turn, or a piece of it."""

    role: Literal["model"]
    parts: tuple[Part, ...]


class ServerContent(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """T1, in Gemini's own frame: what it holds. One of the two is set."""

    model_turn: ModelTurn | None = None
    turn_complete: bool = False


class GeminiFrame(msgspec.Struct, frozen=True, rename="camel"):
    """T1: Gemini's own frame."""

    server_content: ServerContent


class InterruptionStart(msgspec.Struct, frozen=True, tag_field="type", tag="interruption_start"):
    """T1: the examiner cuts in; the client stops capturing."""


class InterruptionEnd(msgspec.Struct, frozen=True, tag_field="type", tag="interruption_end"):
    """T1: the relance has been heard; the client captures again."""


class ExaminerAudio(msgspec.Struct, frozen=True, rename="camel", tag_field="type", tag="audio"):
    """T2: a block of examiner audio."""

    data: bytes
    mime_type: str = EXAMINER_MIME_TYPE


class Interrupted(msgspec.Struct, frozen=True, tag_field="type", tag="interrupted"):
    """T2: the candidate cut in; the client stops playing and empties its queue."""


class TurnComplete(msgspec.Struct, frozen=True, tag_field="type", tag="turnComplete"):
    """T2: the examiner's turn is over and has had the time to play out."""


class TimeWarning(msgspec.Struct, frozen=True, tag_field="type", tag="warning"):
    """The time is nearly up."""

    message: str


class CaptionText(msgspec.Struct, frozen=True, tag_field="type", tag="caption"):
    """What was said, once it was heard; only for clients that asked for captions."""

    role: CaptionRole
    text: str


class Report(msgspec.Struct, frozen=True, tag_field="type", tag="report"):
    """The evaluated production."""

    data: dict[str, object]


class Failure(msgspec.Struct, frozen=True, tag_field="type", tag="error"):
    """What went wrong; the close follows."""

    code: ErrorCode
    message: str


ServerMessage = (
    GeminiFrame
    | InterruptionStart
    | InterruptionEnd
    | ExaminerAudio
    | Interrupted
    | TurnComplete
    | TimeWarning
    | CaptionText
    | Report
    | Failure
)
