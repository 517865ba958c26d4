from __future__ import annotations

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.client.events import (
    Caption,
    ErrorReceived,
    ExaminerAudio,
    Interrupted,
    InterruptionEnd,
    InterruptionStart,
    ReportReceived,
    TurnComplete,
    Unreadable,
    Warned,
    read_frame,
)

DATA = base64.b64encode(np.array([0, 1, -1, 32_767, -32_768], "<i2").tobytes()).decode()


@pytest.mark.parametrize(
    "frame",
    [
        '{"serverContent":{"modelTurn":{"role":"model","parts":[{"inlineData":{"mimeType":"audio/pcm;rate=24000","data":"%s"}}]}}}',
        '{"type":"audio","data":"%s","mimeType":"audio/pcm;rate=24000"}',
    ],
)
def test_examiner_audio_of_both_tasks_is_the_same(frame):
    """Gemini's own frame of T1 and the flat one of T2 give the same samples."""
    event = read_frame(frame % DATA)
    assert isinstance(event, ExaminerAudio)
    assert event.pcm.dtype == np.int16
    assert event.pcm.tolist() == [0, 1, -1, 32_767, -32_768]


@pytest.mark.parametrize(
    ("frame", "event"),
    [
        ('{"serverContent":{"turnComplete":true}}', TurnComplete()),
        ('{"type":"turnComplete"}', TurnComplete()),
        ('{"type":"interruption_start"}', InterruptionStart()),
        ('{"type":"interruption_end"}', InterruptionEnd()),
        ('{"type":"interrupted"}', Interrupted()),
        ('{"type":"warning","message":"Encore une minute."}', Warned("Encore une minute.")),
        ('{"type":"caption","role":"examiner","text":"Bonjour."}', Caption("examiner", "Bonjour.")),
        ('{"type":"caption","role":"candidate","text":"Oui."}', Caption("candidate", "Oui.")),
        ('{"type":"report","data":{"score":14}}', ReportReceived({"score": 14})),
        ('{"type":"error","code":"EMPTY_TRANSCRIPT","message":"…"}', ErrorReceived("EMPTY_TRANSCRIPT", "…")),
    ],
)
def test_every_message_of_the_contract_is_read(frame, event):
    """Each row of the contract becomes its event."""
    assert read_frame(frame) == event


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (b"\0\1", "binary frame of 2 bytes"),
        ("not json", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1]", "no message of the contract"),
        ('{"type":"applause"}', "'applause'"),
        ('{"type":"caption","role":"jury","text":"…"}', "'caption'"),
        ('{"type":"report","data":[]}', "'report'"),
        ('{"type":"audio","data":"AAA=","mimeType":"audio/pcm;rate=16000"}', "rate=16000"),
        ('{"type":"audio","data":"AA==","mimeType":"audio/pcm;rate=24000"}', "1 bytes"),
        ('{"type":"audio","data":"é","mimeType":"audio/pcm;rate=24000"}', "not base64"),
        ('{"type":"audio","data":7,"mimeType":"audio/pcm;rate=24000"}', "not a string"),
    ],
)
def test_what_the_contract_does_not_have_is_named(frame, why):
    """A frame outside the contract is told as one, with what is wrong, and is no reason to stop."""
    event = read_frame(frame)
    assert isinstance(event, Unreadable)
    assert why in event.why


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["type", "data", "serverContent", "parts"]), inner),
)


@given(st.text() | st.binary() | json_values.map(json.dumps))
def test_no_frame_raises(frame):
    """Whatever a server sends, reading it gives an event."""
    assert read_frame(frame) is not None
