"""Task 2 with every engine real: a candidate with Kokoro's voice asks twice, the examiner answers and never asks."""

from __future__ import annotations

import base64
import itertools
import re

import pytest

RATE_HZ = 24_000
CHUNK_BYTES = 4_800
SLACK_S = 0.5
"""How late a frame may come to a client on a busy machine. Less than the second that audio is sent ahead."""

ASKING = re.compile(r"\?|^(who|what|when|where|why|how|which|do|does|did|are|is|can|could|would|will|shall)\b", re.I)
"""A question by its mark or by its first word."""

SUJET = "8e2b4d7a-1f39-4b6c-8d15-7a90c3e5f101"


pytestmark = pytest.mark.timeout(400)  # the first of them sits both exams


def turns_of(account):
    """Split the examiner's audio frames at ``turnComplete``: the frames of each turn, each with its end."""
    turns, open_turn = [], []
    for heard in account.heard:
        if heard.kind == "audio":
            open_turn.append(heard)
        elif heard.kind == "turnComplete":
            turns.append((open_turn, heard))
            open_turn = []
    assert not open_turn
    return turns


def test_the_candidate_begins(dialogue):
    """Nothing is heard of the examiner before the first question."""
    assert dialogue.heard[0].at_s > dialogue.marks["begins"]
    assert dialogue.heard[0].message["role"] == "candidate"


def test_each_question_is_answered_once(dialogue):
    """Two questions, two turns with sound in them; the report is the last frame and the close is 1000."""
    turns = turns_of(dialogue)
    assert len(turns) == 2
    assert all(frames for frames, _ in turns)
    assert set(dialogue.kinds) == {"audio", "turnComplete", "caption", "report"}
    assert dialogue.kinds[-1] == "report"
    assert dialogue.close == (1000, "")


def test_examiner_audio_is_the_flat_frame(dialogue):
    """Type, data and MIME type, no other key; PCM in chunks of 100 ms, the last of a turn at most that."""
    for frames, complete in turns_of(dialogue):
        assert complete.message == {"type": "turnComplete"}
        for frame in frames:
            assert set(frame.message) == {"type", "data", "mimeType"}
            assert frame.message["mimeType"] == "audio/pcm;rate=24000"
        pcm = [base64.b64decode(frame.message["data"], validate=True) for frame in frames]
        assert {len(chunk) for chunk in pcm[:-1]} <= {CHUNK_BYTES}
        assert 0 < len(pcm[-1]) <= CHUNK_BYTES
        assert any(b"".join(pcm))


def test_a_turn_is_complete_once_it_has_played_out(dialogue):
    """``turnComplete`` leaves the audio that was sent the time to be heard."""
    for frames, complete in turns_of(dialogue):
        heard_s = sum(len(base64.b64decode(frame.message["data"])) for frame in frames) / 2 / RATE_HZ
        assert complete.at_s - frames[0].at_s >= heard_s - SLACK_S


def test_audio_goes_out_at_most_a_second_ahead(dialogue):
    """No chunk comes more than a second, and the client's own lateness, before its moment."""
    for frames, _ in turns_of(dialogue):
        ahead = [at * 0.1 - (frame.at_s - frames[0].at_s) for at, frame in enumerate(frames)]
        assert max(ahead) <= 1 + SLACK_S


def test_the_examiner_never_asks(dialogue):
    """No sentence that it speaks is a question, whatever the small model wrote."""
    said = [caption["text"] for caption in dialogue.all("caption") if caption["role"] == "examiner"]
    assert len(said) >= 2
    assert [text for text in said if ASKING.search(text)] == []


def test_the_transcript_alternates(dialogue):
    """One line a turn, in the order of speech, and the candidate is understood."""
    lines = dialogue.transcript.splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["Candidate", "Examiner"] * 2
    assert "rent" in lines[0]
    assert "visit" in lines[2]


def test_captions_make_up_the_transcript(dialogue):
    """For each turn its captions, in order, are its line."""
    captions = dialogue.all("caption")
    assert all(set(caption) == {"type", "role", "text"} for caption in captions)
    turns = [
        (role, " ".join(caption["text"] for caption in group))
        for role, group in itertools.groupby(captions, key=lambda caption: caption["role"])
    ]
    lines = [f"{role.capitalize()}: {text}" for role, text in turns]
    assert "\n".join(lines) == dialogue.transcript


def test_the_report_has_every_field(dialogue, report_is_whole):
    """Every field of the contract, in its range; the evaluation knows the task as EO_T2."""
    report_is_whole(dialogue.report, "EO_T2")


def test_the_production_is_stored_under_its_subject(dialogue, exam_server, stored):
    """Task 2 live is stored as EO_T2_LIVE, bound to the subject of the address, with the report that was sent."""
    production = stored(exam_server, "flat-hunter", "evaluated")
    assert production["id"] == dialogue.report["productionId"]
    assert (production["tache"], production["sujetId"], production["mode"]) == ("EO_T2_LIVE", SUJET, "entrainement")
    assert production["transcript"] == dialogue.transcript
    assert production["rapport"] == dialogue.report
