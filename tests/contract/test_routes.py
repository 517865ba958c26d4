"""The HTTP routes and the log of a server that has held real exams."""

from __future__ import annotations

import json
import re
import uuid

import httpx
import pytest

SUJET = "8e2b4d7a-1f39-4b6c-8d15-7a90c3e5f101"
TOKEN = re.compile(r"eyJ[\w-]+")
CONTENT = re.compile(
    "best of times|wisdom|the rent|visit the flat|Candidate:|Examiner:"  # what was said
    "|You (mark|play|are|conduct)|Transcript:|candidate said|Answer in JSON|letting agent|Elgin Street",  # prompts
    re.IGNORECASE,
)


pytestmark = pytest.mark.timeout(400)  # the first that needs them sits both exams


@pytest.fixture(scope="module")
def get(exam_server):
    """GET a route of the server, as ``sub`` or as nobody."""

    def ask(path, sub=None):
        headers = {"Authorization": f"Bearer {exam_server.token(sub, plan='')}"} if sub else {}
        return httpx.get(exam_server.http + path, headers=headers)

    return ask


def error_code(answer):
    return answer.json()["error"]["code"]


def test_the_subjects_of_task_2_are_listed(get):
    """A dozen, in the server's language, open to all; what the examiner alone knows is not shown."""
    answer = get("/sujets?mode=EO&tache=2")
    assert answer.status_code == 200
    sujets = answer.json()
    assert len(sujets) >= 12
    for sujet in sujets:
        assert set(sujet) == {"id", "mode", "tache", "titre", "role", "consigne", "langue"}
        assert (sujet["mode"], sujet["tache"], sujet["langue"]) == ("EO", 2, "en")
    assert SUJET in [sujet["id"] for sujet in sujets]
    assert get("/sujets?mode=EO&tache=3").json() == []


def test_one_subject_is_shown_as_in_the_list(get):
    """By its id; an id of nothing, and what is no id, are not found."""
    (listed,) = [sujet for sujet in get("/sujets").json() if sujet["id"] == SUJET]
    assert get(f"/sujets/{SUJET}").json() == listed
    for nothing in (uuid.UUID(int=7), "flat"):
        answer = get(f"/sujets/{nothing}")
        assert (answer.status_code, error_code(answer)) == (404, "NOT_FOUND")


def test_productions_are_their_owners_alone(get, interview):
    """The owner, on whatever plan, sees the exam; another user is told that there is none, and nobody sees nothing."""
    production_id = interview.report["productionId"]
    assert [production["id"] for production in get("/productions", "interviewee").json()] == [production_id]
    whole = get(f"/productions/{production_id}", "interviewee").json()
    assert whole["transcript"] == interview.transcript
    assert whole["rapport"] == interview.report
    assert get("/productions", "stranger").json() == []
    assert get(f"/productions/{production_id}", "stranger").status_code == 404
    for path in ("/productions", f"/productions/{production_id}"):
        answer = get(path)
        assert (answer.status_code, error_code(answer)) == (401, "AUTH_REQUIRED")


def test_the_server_is_up_and_ready(get):
    """``/healthz`` for the process, ``/readyz`` for every engine, each proven."""
    assert get("/healthz").status_code == 200
    answer = get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"ready": True, "engines": dict.fromkeys(("vad", "stt", "llm", "tts", "bank"), "ready")}


def test_a_server_that_cannot_hold_an_exam_is_up_and_not_ready(unfit_server):
    """``/readyz`` is 503 and says which engines failed; the process is up all the same."""
    assert httpx.get(f"{unfit_server.http}/healthz").status_code == 200
    answer = httpx.get(f"{unfit_server.http}/readyz")
    assert answer.status_code == 503
    assert answer.json()["ready"] is False
    assert "failed" in answer.json()["engines"].values()


def test_metrics_count_what_happened(get, interview):
    """Sessions by close code, stages, tokens, engines' attempts; not one word of a candidate in them."""
    answer = get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    figures = dict(line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#"))
    assert float(figures['relance_sessions_total{close_code="1000",task="t1"}']) >= 1
    assert float(figures['relance_sessions_active{task="t1"}']) == 0
    assert float(figures['relance_tokens_total{direction="out"}']) >= 1
    assert any(name.startswith("relance_engine_attempts_total{") and "stt" in name for name in figures)
    assert any(name.startswith("relance_stage_seconds_count{") for name in figures)
    assert interview.report["productionId"] not in answer.text
    assert "interviewee" not in answer.text


def test_one_event_tells_of_a_session(exam_server, interview):
    """Task, duration, turns, relances, tokens, close code, times of the stages: once, when it ends."""
    events = [json.loads(line) for line in exam_server.log.read_text().splitlines() if line.startswith("{")]
    production_id = interview.report["productionId"]
    (event,) = [event for event in events if event["event"] == "session_ended" and event["production"] == production_id]
    turns = len(interview.transcript.splitlines())
    assert (event["task"], event["close_code"], event["turns"], event["relances"]) == ("t1", 1000, turns, 1)
    assert event["duration_ms"] >= 7_000
    assert event["tokens_in"] >= 0
    assert event["tokens_out"] >= 0
    assert "stt" in event["stages"]


def test_the_log_holds_no_content(exam_server, interview, dialogue):
    """At the debug level, the engines' own processes included: no token, no user's words, no prompt, no answer."""
    log = exam_server.log.read_text()
    assert log.count("session_ended") >= 2
    assert not TOKEN.search(log)
    for exam in (interview, dialogue):
        judged = [*exam.report["pointsForts"], *(criterion["comment"] for criterion in exam.report["criteres"])]
        for text in (exam.transcript, *(caption["text"] for caption in exam.all("caption")), *judged):
            if len(text.split()) >= 3:  # a small model's "with" or "yes" is in any log
                assert text not in log
    assert not CONTENT.search(log)


async def test_no_refusal_leaves_a_token_in_the_log(client, speech_server):
    """Tokens that hold, that do not, that are no tokens at all, by every way in: the log has none of them."""
    good, bad = speech_server.token("logged"), "a-token-that-is-none-and-must-not-be-seen"
    address = f"ws://{speech_server.address}/t2/live"
    for token in (good, bad):
        for url, handshake in (
            (f"{address}?token={token}&sujet=none", {}),
            (address, {"additional_headers": {"Authorization": f"Bearer {token}"}}),
            (address, {"subprotocols": ["bearer", token]}),
        ):
            async with client.sit(url, **handshake) as candidate:
                assert (await candidate.over()).close[0] in (4001, 4004)
        async with httpx.AsyncClient(base_url=speech_server.http) as http:
            await http.get(f"/productions?token={token}", headers={"Authorization": f"Bearer {token}"})
            await http.get(f"/nowhere/{token}")
    log = speech_server.log.read_text()
    assert log.count("session_refused") >= 6
    assert bad not in log
    assert not TOKEN.search(log)
    assert good.rsplit(".", 1)[1] not in log
