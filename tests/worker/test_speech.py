"""POST /v1/audio/speech against the real worker."""

import base64
import contextlib
import io
import json
import time
from collections.abc import Callable

import httpx
import numpy as np
import pytest
import soundfile

ROUTE = "/audio/speech"
LONG = "Again and again. " * 200


@pytest.mark.parametrize(
    ("body", "status", "code", "param"),
    [
        (b"", 400, "invalid_value", None),
        (b"[]", 400, "invalid_value", None),
        (b"{}", 400, "invalid_value", "input"),
        (b'{"input": 1}', 400, "invalid_value", "input"),
        (json.dumps({"input": "x" * 4097}).encode(), 400, "invalid_value", "input"),
        (b'{"input": "' + b"x" * 70_000 + b'"}', 413, "body_too_large", "input"),
        (b'{"input": "x", "speed": 9}', 400, "invalid_value", "speed"),
        (b'{"input": "x", "response_format": "aac"}', 400, "invalid_value", "response_format"),
        (b'{"input": "x", "voice": "nobody"}', 400, "voice_not_found", "voice"),
        (b'{"input": "x", "voice": "jf_alpha"}', 400, "voice_not_found", "voice"),
        (b'{"input": "x", "model": "tts-9"}', 404, "model_not_found", "model"),
    ],
)
def test_a_bad_request_is_refused_in_openais_shape(
    api: httpx.Client, body: bytes, status: int, code: str, param: str | None
) -> None:
    """Every refusal names its code and the field at fault; a voice without phonemes of ours does not exist."""
    answer = api.post(ROUTE, content=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (status, code, param)


def speak(api: httpx.Client, text: str, **fields: object) -> bytes:
    answer = api.post(ROUTE, json={"input": text, "response_format": "pcm", **fields})
    assert answer.status_code == 200, answer.text
    return answer.content


def test_what_is_spoken_is_understood(api: httpx.Client) -> None:
    """Speech to text reads back what text to speech said."""
    answer = api.post(ROUTE, json={"input": "The weather is nice in the south of France.", "response_format": "wav"})
    heard = api.post("/audio/transcriptions", files={"file": answer.content}).json()["text"]
    assert "weather is nice in the south of france" in heard.lower()


def test_french_is_spoken_with_the_french_voice(api: httpx.Client) -> None:
    """A sentence of 40 letters lasts 2 to 4 s, and is neither silent nor clipped."""
    samples = np.frombuffer(speak(api, "Bonjour, parlez-moi de votre travail, là.", voice="ff_siwis"), "<i2")
    assert 2 * 24_000 < len(samples) < 4 * 24_000
    assert 3_000 < np.abs(samples).max() < 32_767


@pytest.mark.parametrize("text", ["", " \n", "🙂 …", "?!", "« »", "👨‍👩‍👧 — ♥️", "()"])
def test_text_with_nothing_to_say_gives_no_audio_and_no_error(api: httpx.Client, text: str) -> None:
    """Emoji are not described, marks are not named."""
    assert speak(api, text) == b""


def test_speed_shortens_speech(api: httpx.Client) -> None:
    """Twice the speed takes clearly less time."""
    text = "This sentence is here to be measured."
    assert len(speak(api, text, speed=2.0)) < 0.7 * len(speak(api, text))


def test_the_format_is_mp3_unless_another_is_asked_for(api: httpx.Client) -> None:
    """As with OpenAI; each format's own content is tested at the encoders."""
    answer = api.post(ROUTE, json={"input": "Good morning."})
    assert answer.headers["content-type"] == "audio/mpeg"
    samples, rate_hz = soundfile.read(io.BytesIO(answer.content))
    assert rate_hz == 24_000
    assert 0.5 < len(samples) / rate_hz < 2.0


def test_audio_leaves_clause_by_clause(api: httpx.Client) -> None:
    """The first clause arrives as an event of its own, before the others are made."""
    body = {"input": "First clause here, " + LONG[:70], "response_format": "pcm", "stream_format": "sse"}
    with api.stream("POST", ROUTE, json=body) as answer:
        events = [json.loads(line.removeprefix("data: ")) for line in answer.iter_lines() if line]
    kinds = [event["type"] for event in events]
    assert kinds[:-1] == ["speech.audio.delta"] * (len(kinds) - 1)
    assert kinds[-1] == "speech.audio.done"
    assert len(kinds) > 2
    assert 0 < len(base64.b64decode(events[0]["audio"])) < 2 * 48_000


def test_a_full_lane_refuses_and_is_free_again_when_its_callers_hang_up(
    api: httpx.Client, figure: Callable[[str], float]
) -> None:
    """Two long texts fill the lane of two; a third caller is told to come back; then both hang up in mid-stream."""
    body = {"input": LONG, "response_format": "pcm"}
    with contextlib.ExitStack() as callers:
        streams = [callers.enter_context(api.stream("POST", ROUTE, json=body)).iter_raw() for _ in range(2)]
        assert all(next(stream) for stream in streams)
        refused = api.post(ROUTE, json=body)
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "1"
    assert refused.json()["error"]["code"] == "lane_full"
    deadline = time.monotonic() + 10
    while figure('relance_worker_lane_jobs{lane="tts"}'):
        assert time.monotonic() < deadline, "the callers' places were not freed"
    assert speak(api, "Free again.")
