"""Frames of the client, and of the server, to the byte."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.wire.codec import decode
from server.wire.messages import ActivityEnd, ActivityStart, AudioChunk, End


def audio(data: object) -> str:
    return json.dumps({"type": "audio", "data": data})


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "end",
        "null",
        "[]",
        "{}",
        '"end"',
        '{"type":"end"',
        '{"type":"END"}',
        '{"type":["end"]}',
        '{"type":7}',
        '{"type":"hello","data":"AAAA"}',
        '{"data":"AAAA"}',
        '{"type":"audio"}',
        '{"type":"audio","data":null}',
        '{"type":"audio","data":[1]}',
        '{"type":"audio","data":"A"}',
        '{"type":"audio","data":"AAAAA"}',
        '{"type":"audio","data":"AA=A"}',
        '{"type":"audio","data":"é"}',
        '{"type":"audio","data":"AA.A"}',
        '{"type":"end","deep":' + "[" * 100_000,
        "[" * 100_000,
        '{"type":"end"}{"type":"end"}',
        "\ud800",
    ],
)
def test_what_is_no_message_is_ignored(frame: str) -> None:
    """Bad JSON, unknown types, missing data and bad base64 are ignored, never an error."""
    assert decode(frame, manual_vad=True) is None


@pytest.mark.parametrize("frame", [b"", b'{"type":"end"}', b"\x00\xff"])
def test_binary_frames_are_ignored(frame: bytes) -> None:
    """A binary frame is no message, whatever it holds."""
    assert decode(frame, manual_vad=True) is None


def test_end() -> None:
    """``end`` is a message; what else stands in the frame is not looked at."""
    assert decode('{"type":"end"}', manual_vad=False) == End()
    assert decode('{"more":{"a":[1]}, "type" : "end"}', manual_vad=False) == End()


def test_activity_counts_only_with_push_to_talk() -> None:
    """``activityStart`` and ``activityEnd`` are messages for a client that asked for manual VAD alone."""
    assert decode('{"type":"activityStart"}', manual_vad=True) == ActivityStart()
    assert decode('{"type":"activityEnd"}', manual_vad=True) == ActivityEnd()
    assert decode('{"type":"activityStart"}', manual_vad=False) is None
    assert decode('{"type":"activityEnd"}', manual_vad=False) is None


def test_an_empty_chunk_is_a_chunk() -> None:
    """Audio may be empty."""
    assert decode(audio(""), manual_vad=False) == AudioChunk(b"")


@given(pcm=st.binary(max_size=300), urlsafe=st.booleans(), padded=st.booleans(), width=st.integers(0, 80))
def test_audio_in_every_form_of_base64(pcm: bytes, urlsafe: bool, padded: bool, width: int) -> None:
    """Standard and URL-safe, padded or not, in one line or in many: the bytes come back, odd lengths too."""
    data = (base64.urlsafe_b64encode(pcm) if urlsafe else base64.b64encode(pcm)).decode()
    if not padded:
        data = data.rstrip("=")
    if width:
        data = "\r\n".join(data[i : i + width] for i in range(0, len(data), width))
    assert decode(audio(data), manual_vad=False) == AudioChunk(pcm)


@given(st.text() | st.binary())
def test_arbitrary_frames_never_raise(frame: str | bytes) -> None:
    """No frame raises."""
    decode(frame, manual_vad=True)


@given(st.text())
def test_arbitrary_audio_never_raises(data: str) -> None:
    """No text in place of base64 raises; what is decoded is bytes."""
    message = decode(audio(data), manual_vad=False)
    assert message is None or isinstance(message, AudioChunk)
