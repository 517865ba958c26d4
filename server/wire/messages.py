"""Messages of the exam's WebSocket contract, as frozen data. Text in frames is UTF-8 JSON; audio in it is base64."""

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

CaptionRole = Literal["examiner", "candidate"]
ErrorCode = Literal["EMPTY_TRANSCRIPT", "PERSISTENCE_FAILED", "CORRECTION_FAILED"]
