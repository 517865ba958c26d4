"""Task 1 with every engine real: a person reads, one relance comes, the time runs out, the report arrives."""

from __future__ import annotations

import base64
import re

import pytest

RATE_HZ = 24_000
CHUNK_BYTES = 4_800
AUDIO_MIME_TYPE = "audio/pcm;rate=24000"
SLACK_S = 0.5
"""How late a frame may come to a client on a busy machine. Less than the second that audio is sent ahead."""


pytestmark = pytest.mark.timeout(400)  # the first of them sits both exams


def seconds_of(pcm_frames):
    return sum(len(base64.b64decode(frame, validate=True)) for frame in pcm_frames) / 2 / RATE_HZ


def data_of(message):
    return message["serverContent"]["modelTurn"]["parts"][0]["inlineData"]["data"]


def test_the_relance_comes_in_the_order_that_clients_know(interview):
    """``interruption_start``, audio, ``turnComplete``, ``interruption_end``: each once, and nothing in between."""
    kinds = [kind for kind in interview.kinds if kind not in ("caption", "warning")]
    start, end = kinds.index("interruption_start"), kinds.index("interruption_end")
    audio = kinds[start + 1 : end - 1]
    assert kinds == ["interruption_start", *audio, "turnComplete", "interruption_end", "report"]
    assert len(audio) > 10
    assert set(audio) == {"modelTurn"}


def test_examiner_audio_is_geminis_own_frame(interview):
    """The very keys, and no other: role, one part, its MIME type, PCM in chunks of 100 ms that are not all silent."""
    frames = interview.all("modelTurn")
    for frame in frames:
        part = {"inlineData": {"mimeType": AUDIO_MIME_TYPE, "data": data_of(frame)}}
        assert frame == {"serverContent": {"modelTurn": {"role": "model", "parts": [part]}}}
    pcm = [base64.b64decode(data_of(frame), validate=True) for frame in frames]
    assert {len(chunk) for chunk in pcm[:-1]} == {CHUNK_BYTES}
    assert 0 < len(pcm[-1]) <= CHUNK_BYTES
    assert len(pcm[-1]) % 2 == 0
    assert any(b"".join(pcm))
    assert interview.all("turnComplete") == [{"serverContent": {"turnComplete": True}}]


def test_interruptions_have_nothing_but_their_type(interview):
    """Both frames to the key."""
    assert interview.all("interruption_start") == [{"type": "interruption_start"}]
    assert interview.all("interruption_end") == [{"type": "interruption_end"}]


def test_the_floor_is_given_back_once_the_relance_has_been_heard(interview):
    """``interruption_end`` is not sent before the audio has had the time to play out."""
    (end_s,) = interview.times("interruption_end")
    heard_s = seconds_of(data_of(frame) for frame in interview.all("modelTurn"))
    assert end_s - interview.times("modelTurn")[0] >= heard_s - SLACK_S


def test_audio_goes_out_at_most_a_second_ahead(interview):
    """No chunk comes more than a second, and the client's own lateness, before its moment."""
    first_s = interview.times("modelTurn")[0]
    ahead = [at * 0.1 - (at_s - first_s) for at, at_s in enumerate(interview.times("modelTurn"))]
    assert max(ahead) <= 1 + SLACK_S


def test_what_is_said_into_the_relance_is_dropped(interview):
    """Words before and after it are in the transcript, those sent meanwhile are not."""
    assert "best of times" in interview.transcript
    assert "belief" in interview.transcript
    assert not re.search("spring|winter|despair", interview.transcript)


def test_the_transcript_has_a_line_a_turn_in_the_order_of_speech(interview):
    """Candidate, examiner, candidate; the relance is one question of 10 to 20 words."""
    lines = interview.transcript.splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["Candidate", "Examiner", "Candidate"]
    relance = lines[1].partition(": ")[2]
    assert relance.endswith("?")
    assert 10 <= len(relance.split()) <= 20


def test_captions_follow_what_was_heard(interview):
    """Role and text of each utterance; the examiner's is the relance, and what was dropped has none."""
    captions = interview.all("caption")
    assert all(set(caption) == {"type", "role", "text"} for caption in captions)
    roles = [caption["role"] for caption in captions]
    assert roles.count("examiner") == 1
    assert roles[0] == roles[-1] == "candidate"
    for caption in captions:
        assert caption["text"] in interview.transcript.replace("\n", " ")


def test_the_warning_comes_before_the_end(interview):
    """Four seconds are left by these settings, and the message says so."""
    assert interview.all("warning") == [{"type": "warning", "message": "You have 4 seconds left."}]
    assert interview.times("warning")[0] < interview.times("report")[0]


def test_the_time_runs_out_then_the_report_then_1000(interview):
    """The client asked for nothing: the report is the last frame, and the close has no reason."""
    assert interview.kinds[-1] == "report"
    assert interview.close == (1000, "")


def test_the_report_has_every_field(interview, report_is_whole):
    """Every field of the contract, in its range."""
    report_is_whole(interview.report, "EO_T1")
    assert 22_000 <= interview.report["durationMs"] < 120_000


def test_the_production_is_stored_with_the_report(interview, exam_server, stored):
    """Task 1 is stored as EO_T1, bound to no subject, with the report that was sent."""
    production = stored(exam_server, "interviewee", "evaluated")
    assert production["id"] == interview.report["productionId"]
    assert (production["tache"], production["sujetId"], production["mode"]) == ("EO_T1", None, "entrainement")
    assert production["transcript"] == interview.transcript
    assert production["rapport"] == interview.report
    assert (production["score"], production["nclc"]) == (interview.report["score"], interview.report["nclc"])
