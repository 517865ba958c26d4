"""Streams and retries of the official client, seen from both sides: by the client, and by the worker's own figures."""

import base64
import json
import socket
import time
from collections.abc import Callable, Iterator

import httpx
import httpx2
import openai
import pytest

from engines.supervision import Supervised
from engines.worker.clauses import clauses

TEXT = "The train leaves at nine in the morning, and the ticket costs forty dollars. " * 25
CLAUSES = len(list(clauses(TEXT)))
JOBS, STEPS = 'relance_worker_lane_jobs{lane="tts"}', 'relance_worker_lane_steps_total{lane="tts"}'
RUNNING, WAITING = 'relance_worker_lane_running{lane="tts"}', 'relance_worker_lane_waiting{lane="tts"}'
SPOKEN = {"model": "kokoro", "voice": "af_heart"}


@pytest.fixture(scope="module")
def client(worker: Supervised) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=worker.base_url, api_key="unused", max_retries=0) as client:
        yield client


def wait_for(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, what


@pytest.mark.parametrize("response_format", ["pcm", "wav", "mp3", "opus"])
def test_audio_arrives_before_the_rest_is_made_and_the_rest_is_never_made_for_nobody(
    client: openai.OpenAI, figure: Callable[[str], float], response_format: str
) -> None:
    """With the first bytes in hand, the job is still open; who hangs up then ends it after the clause it is in."""
    wait_for(lambda: figure(JOBS) + figure(RUNNING) == 0, "the lane is not free")
    before = figure(STEPS)
    asked = {**SPOKEN, "input": TEXT, "response_format": response_format}
    with client.audio.speech.with_streaming_response.create(**asked) as response:
        audio = response.iter_bytes()  # kept: an iterator that is dropped closes the connection
        assert next(audio)
        assert figure(STEPS) - before < CLAUSES
        assert figure(JOBS) == 1
    wait_for(lambda: figure(JOBS) == 0, "the place was not freed")
    wait_for(lambda: figure(RUNNING) == 0, "the thread was not freed")
    assert figure(WAITING) == 0
    made = figure(STEPS) - before
    assert made < CLAUSES
    assert client.audio.speech.create(**{**SPOKEN, "input": "Now me."}).content
    assert figure(STEPS) - before == made + 2, "one clause, and the step that finds the end"


def test_the_last_event_of_speech_tells_what_was_used(client: openai.OpenAI) -> None:
    """``speech.audio.done`` has OpenAI's three figures: Kokoro's phonemes in, frames of 25 ms out, and their sum."""
    asked = {**SPOKEN, "input": "Good morning. How are you today?", "response_format": "pcm", "stream_format": "sse"}
    with client.audio.speech.with_streaming_response.create(**asked) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        *deltas, done = (json.loads(line.removeprefix("data: ")) for line in response.iter_lines() if line)
    seconds = sum(len(base64.b64decode(delta["audio"], validate=True)) for delta in deltas) / 48_000
    assert {delta["type"] for delta in deltas} == {"speech.audio.delta"}
    usage = done["usage"]
    assert set(usage) == {"input_tokens", "output_tokens", "total_tokens"}
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert 15 < usage["input_tokens"] < 45
    assert seconds <= usage["output_tokens"] / 40 + 0.5
    assert usage["output_tokens"] / 40 < seconds + 2.0


def test_a_retry_waits_as_long_as_it_is_told(client: openai.OpenAI, worker: Supervised) -> None:
    """The client tries again by itself on 429, a second later, as ``Retry-After`` says, and is served in the end."""
    answers: list[tuple[int, float]] = []

    def note(response: httpx2.Response) -> None:
        answers.append((response.status_code, time.monotonic()))
        if len(answers) == 1:
            for caller in callers:
                caller.close()

    http = openai.DefaultHttpxClient(event_hooks={"response": [note]})
    with (
        openai.OpenAI(base_url=worker.base_url, api_key="unused", max_retries=20, http_client=http) as patient,
        client.audio.speech.with_streaming_response.create(**SPOKEN, input=TEXT) as first,
        client.audio.speech.with_streaming_response.create(**SPOKEN, input=TEXT) as second,
    ):
        callers = (first, second)
        assert patient.audio.speech.create(**SPOKEN, input="Now me.").content
    statuses = [status for status, _ in answers]
    assert statuses == [429] * (len(answers) - 1) + [200]
    assert len(answers) > 1
    assert answers[1][1] - answers[0][1] >= 1.0


def test_an_upload_that_is_too_large_is_refused_before_it_is_there(worker: Supervised) -> None:
    """By its declared length at once; without one, as soon as the limit is passed, while more is to come."""
    url = httpx.URL(worker.base_url)
    head = f"POST {url.path}/audio/transcriptions HTTP/1.1\r\nHost: worker\r\n"
    head += "Content-Type: multipart/form-data; boundary=b\r\n"
    part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    with socket.create_connection((url.host, url.port), timeout=60) as caller:
        caller.sendall(f"{head}Content-Length: 10000000000\r\n\r\n".encode())
        assert caller.recv(65_536).startswith(b"HTTP/1.1 413 ")
    with socket.create_connection((url.host, url.port), timeout=60) as caller:
        caller.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n{len(part):x}\r\n".encode() + part + b"\r\n")
        for _ in range(26):
            caller.sendall(b"100000\r\n" + bytes(1 << 20) + b"\r\n")
        answer = caller.recv(65_536)
        while b"}}" not in answer and (more := caller.recv(65_536)):
            answer += more
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"file_too_large"' in answer
