"""What a client of each task sees, to the byte."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.exam.effects import (
    BeginInterruption,
    CancelReply,
    Caption,
    Close,
    CompleteTurn,
    Effect,
    EndInterruption,
    Evaluate,
    PauseListening,
    Record,
    ResumeListening,
    Say,
    SendError,
    SendReport,
    StopListening,
    TakeStock,
    Warn,
    YieldFloor,
)
from server.live.contracts import INTERVIEW, ROLEPLAY, Contract

BOTH = pytest.mark.parametrize("contract", [INTERVIEW, ROLEPLAY], ids=lambda contract: contract.name)


@pytest.mark.parametrize(
    ("effect", "frame"),
    [
        (BeginInterruption(1), '{"type":"interruption_start"}'),
        (EndInterruption(1), '{"type":"interruption_end"}'),
        (CompleteTurn(1), '{"serverContent":{"turnComplete":true}}'),
        (YieldFloor(1), None),
    ],
)
def test_turns_of_the_interview(effect: Effect, frame: str | None) -> None:
    """T1 tells of interruptions, and of the turn's end in Gemini's own frame; it has no barge-in."""
    assert INTERVIEW.encode(effect, captions=True) == ([] if frame is None else [frame])


@pytest.mark.parametrize(
    ("effect", "frame"),
    [
        (YieldFloor(1), '{"type":"interrupted"}'),
        (CompleteTurn(1), '{"type":"turnComplete"}'),
        (BeginInterruption(1), None),
        (EndInterruption(1), None),
    ],
)
def test_turns_of_the_roleplay(effect: Effect, frame: str | None) -> None:
    """T2 tells of barge-in and of the turn's end; it has no interruptions."""
    assert ROLEPLAY.encode(effect, captions=True) == ([] if frame is None else [frame])


@BOTH
@pytest.mark.parametrize(
    ("effect", "frame"),
    [
        (Warn("Il reste 30 secondes."), '{"type":"warning","message":"Il reste 30 secondes."}'),
        (SendReport({"score": 12, "nclc": 8}), '{"type":"report","data":{"score":12,"nclc":8}}'),
        (
            SendError("EMPTY_TRANSCRIPT", "Rien n’a été dit."),
            '{"type":"error","code":"EMPTY_TRANSCRIPT","message":"Rien n’a été dit."}',
        ),
        (Caption("examiner", "Bonjour."), '{"type":"caption","role":"examiner","text":"Bonjour."}'),
    ],
)
def test_what_both_tasks_say_alike(contract: Contract, effect: Effect, frame: str) -> None:
    """Warning, report, error and caption have one shape."""
    assert contract.encode(effect, captions=True) == [frame]


@BOTH
def test_captions_are_for_those_who_asked(contract: Contract) -> None:
    """A client that did not ask never sees a caption."""
    assert contract.encode(Caption("candidate", "Bonjour."), captions=False) == []


@BOTH
@pytest.mark.parametrize(
    "effect",
    [
        TakeStock(1),
        Say(1),
        CancelReply(1),
        PauseListening(),
        ResumeListening(),
        StopListening(),
        Record("…"),
        Evaluate(),
        Close(1000),
    ],
    ids=lambda effect: type(effect).__name__,
)
def test_the_exams_inner_work_is_not_seen(contract: Contract, effect: Effect) -> None:
    """Effects that are not for the client give no frame."""
    assert contract.encode(effect, captions=True) == []


@given(st.binary(max_size=500))
def test_examiner_audio(pcm: bytes) -> None:
    """Audio has Gemini's frame in T1 and its own in T2, key for key, with standard base64."""
    data = base64.b64encode(pcm).decode()
    assert INTERVIEW.encode_audio(pcm) == (
        '{"serverContent":{"modelTurn":{"role":"model","parts":'
        '[{"inlineData":{"mimeType":"audio/pcm;rate=24000","data":"' + data + '"}}]}}}'
    )
    assert ROLEPLAY.encode_audio(pcm) == '{"type":"audio","data":"' + data + '","mimeType":"audio/pcm;rate=24000"}'


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_the_wire(text: str) -> None:
    """Text comes out of the JSON as it went in."""
    (frame,) = ROLEPLAY.encode(Warn(text), captions=False)
    assert json.loads(frame) == {"type": "warning", "message": text}


def test_what_a_contract_is() -> None:
    """Route, task and the close code of each contract."""
    assert (INTERVIEW.route, INTERVIEW.tache, INTERVIEW.unavailable.reason) == ("/t1/live", "EO_T1", "GEMINI_CONFIG")
    assert (ROLEPLAY.route, ROLEPLAY.tache) == ("/t2/live", "EO_T2_LIVE")
    assert (ROLEPLAY.unavailable.code, ROLEPLAY.unavailable.reason) == (4005, "GEMINI_UNAVAILABLE")
