"""Frames to messages and back. Decoding never raises: whatever is not a message of the contract is ``None``."""

from __future__ import annotations

import base64
import binascii

import msgspec

from server.wire.messages import (
    EXAMINER_MIME_TYPE,
    ActivityEnd,
    ActivityStart,
    AudioChunk,
    ClientMessage,
    End,
    GeminiFrame,
    InlineData,
    ModelTurn,
    Part,
    ServerContent,
    ServerMessage,
)

# URL-safe letters become standard ones; line breaks, which some encoders put in, go.
_BASE64_LETTERS = str.maketrans({"-": "+", "_": "/", "\r": None, "\n": None, "\t": None, " ": None})


class _Audio(msgspec.Struct, tag_field="type", tag="audio"):
    data: str


class _End(msgspec.Struct, tag_field="type", tag="end"):
    pass


class _ActivityStart(msgspec.Struct, tag_field="type", tag="activityStart"):
    pass


class _ActivityEnd(msgspec.Struct, tag_field="type", tag="activityEnd"):
    pass


_FRAMES = msgspec.json.Decoder(_Audio | _End | _ActivityStart | _ActivityEnd)
_ENCODER = msgspec.json.Encoder()


def decode(frame: str | bytes, *, manual_vad: bool) -> ClientMessage | None:
    """Return the message that a client's frame holds, or ``None`` for a frame to ignore.

    Ignored are binary frames, what is not JSON, unknown types, bad base64, and, unless the client asked for
    ``manual_vad``, ``activityStart`` and ``activityEnd``. Base64 may be standard or URL-safe, padded or not, and hold
    line breaks. Never raises.
    """
    if isinstance(frame, bytes):
        return None
    try:
        message = _FRAMES.decode(frame)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    match message:
        case _Audio(data=data):
            return _chunk(data)
        case _End():
            return End()
        case _ActivityStart() if manual_vad:
            return ActivityStart()
        case _ActivityEnd() if manual_vad:
            return ActivityEnd()
    return None


def _chunk(data: str) -> AudioChunk | None:
    letters = data.translate(_BASE64_LETTERS).rstrip("=")
    try:
        return AudioChunk(base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True))
    except (binascii.Error, ValueError):
        return None


def encode(message: ServerMessage) -> str:
    """Return the text frame that says ``message``."""
    return _ENCODER.encode(message).decode()


def gemini_audio(pcm: bytes) -> GeminiFrame:
    """T1: Gemini's frame around examiner audio (PCM s16le mono at 24 kHz)."""
    return GeminiFrame(ServerContent(ModelTurn("model", (Part(InlineData(EXAMINER_MIME_TYPE, pcm)),))))


def gemini_turn_complete() -> GeminiFrame:
    """T1: Gemini's frame at the end of the examiner's turn."""
    return GeminiFrame(ServerContent(turn_complete=True))
