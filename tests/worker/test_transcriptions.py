"""POST /v1/audio/transcriptions against the real worker."""

import io
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import numpy as np
import pytest
import soundfile
import soxr

ROUTE = "/audio/transcriptions"


def wav(samples: np.ndarray, rate_hz: int = 16_000, container: str = "WAV") -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate_hz, format=container)
    return file.getvalue()


@pytest.fixture(scope="session")
def opening(two_cities: Path) -> tuple[np.ndarray, int]:
    """The first five seconds: "It was the best of times, it was the worst of times"."""
    samples, rate_hz = soundfile.read(two_cities, dtype="float32")
    return samples[: 5 * rate_hz], rate_hz


@pytest.mark.parametrize(
    ("data", "files", "status", "code", "param"),
    [
        ({}, {}, 400, "invalid_value", "file"),
        ({"model": "whisper"}, {"other": b"x"}, 400, "missing_field", "file"),
        ({"file": "text"}, {"other": b"x"}, 400, "missing_field", "file"),
        ({}, {"file": b""}, 400, "not_audio", "file"),
        ({}, {"file": b"not audio at all"}, 400, "not_audio", "file"),
        ({}, {"file": b"RIFF\xff\xff\xff\xffWAVEfmt "}, 400, "not_audio", "file"),
        ({"model": "whisper-9"}, {"file": b"x"}, 404, "model_not_found", "model"),
        ({"language": "fr"}, {"file": b"x"}, 400, "unsupported_language", "language"),
        ({"temperature": "hot"}, {"file": b"x"}, 400, "invalid_value", "temperature"),
        ({"temperature": "nan"}, {"file": b"x"}, 400, "invalid_value", "temperature"),
        ({"response_format": "xml"}, {"file": b"x"}, 400, "invalid_value", "response_format"),
        ({"stream": "maybe"}, {"file": b"x"}, 400, "invalid_value", "stream"),
        ({"timestamp_granularities[]": "phone"}, {"file": b"x"}, 400, "invalid_value", "timestamp_granularities"),
    ],
)
def test_a_bad_request_is_refused_in_openais_shape(
    api: httpx.Client, data: dict[str, str], files: dict[str, bytes], status: int, code: str, param: str
) -> None:
    """Every refusal names its code and the field at fault."""
    answer = api.post(ROUTE, data=data, files=files)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert (error["code"], error["param"], error["type"]) == (code, param, "invalid_request_error")
    assert error["message"]


def test_samples_that_are_no_numbers_are_refused(api: httpx.Client) -> None:
    """A float WAV with NaN in it is not audio."""
    file = io.BytesIO()
    soundfile.write(file, np.full(1600, np.nan, np.float32), 16_000, format="WAV", subtype="FLOAT")
    answer = api.post(ROUTE, files={"file": file.getvalue()})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "not_audio")


def test_an_upload_over_the_limit_is_refused_by_its_declared_length(api: httpx.Client) -> None:
    """26 MiB is more than the 25 MiB that OpenAI takes: 413."""
    answer = api.post(ROUTE, files={"file": b"\0" * (26 * 1024 * 1024)})
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "file_too_large")


def test_an_upload_over_the_limit_is_refused_without_a_declared_length(api: httpx.Client) -> None:
    """A chunked body is counted as it comes in."""
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    parts = (b"\0" * (1024 * 1024) for _ in range(27))
    answer = api.post(
        ROUTE,
        content=(part for part in (head, *parts)),
        headers={"Content-Type": "multipart/form-data; boundary=b"},
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "file_too_large")


def test_human_speech_is_understood(api: httpx.Client, two_cities: Path) -> None:
    """Forty-four seconds of Dickens, read by a person: the words are there, in order, to the last window."""
    answer = api.post(ROUTE, data={"model": "whisper"}, files={"file": two_cities.read_bytes()})
    text = answer.json()["text"].lower()
    places = [
        text.find(words) for words in ("best of times", "worst of times", "season of light", "superlative degree")
    ]
    assert -1 not in places
    assert places == sorted(places)
    assert answer.json()["usage"] == {"type": "duration", "seconds": 44}


def test_verbose_json_carries_the_evidence_of_every_segment(api: httpx.Client, opening: tuple[np.ndarray, int]) -> None:
    """A client can tell invented text from heard text by it."""
    answer = api.post(ROUTE, data={"response_format": "verbose_json"}, files={"file": wav(*opening)}).json()
    assert answer["duration"] == 5.0
    assert answer["language"] == "en"
    (segment,) = answer["segments"]
    assert segment["text"].strip() == answer["text"]
    assert (segment["start"], segment["end"]) == (0.0, 5.0)
    assert -0.5 < segment["avg_logprob"] < 0
    assert 0 <= segment["no_speech_prob"] < 0.5
    assert 0.5 < segment["compression_ratio"] < 2.4


def test_words_are_timed_when_asked_for(api: httpx.Client, opening: tuple[np.ndarray, int]) -> None:
    """``timestamp_granularities[]=word`` adds the words with their times, in order, inside the audio."""
    data = {"response_format": "verbose_json", "timestamp_granularities[]": "word"}
    words = api.post(ROUTE, data=data, files={"file": wav(*opening)}).json()["words"]
    assert [word["word"].strip(".,").lower() for word in words[:6]] == ["it", "was", "the", "best", "of", "times"]
    starts = [word["start"] for word in words]
    assert starts == sorted(starts)
    assert words[-1]["end"] <= 5.0


@pytest.mark.parametrize(
    ("rate_hz", "channels", "container"), [(8_000, 1, "WAV"), (44_100, 2, "FLAC"), (48_000, 2, "OGG")]
)
def test_any_rate_and_any_channels_will_do(
    api: httpx.Client, opening: tuple[np.ndarray, int], rate_hz: int, channels: int, container: str
) -> None:
    """What libsndfile reads is made 16 kHz mono, and keeps its length."""
    samples, original_hz = opening
    resampled = soxr.resample(samples, original_hz, rate_hz)
    file = wav(np.stack([resampled] * channels, axis=1), rate_hz, container)
    answer = api.post(ROUTE, data={"response_format": "verbose_json"}, files={"file": file}).json()
    assert "best of times" in answer["text"]
    assert answer["duration"] == pytest.approx(5.0, abs=0.01)


@pytest.mark.parametrize("samples", [np.zeros(0), np.zeros(160), np.zeros(48_000)], ids=["none", "10 ms", "3 s"])
def test_silence_gives_no_text_and_no_error(api: httpx.Client, samples: np.ndarray) -> None:
    """Whisper invents words on silence; both its evidences are weak then, and the text is dropped."""
    answer = api.post(ROUTE, data={"response_format": "text"}, files={"file": wav(samples)})
    assert answer.status_code == 200
    assert not any(letter.isalnum() for letter in answer.text)


def test_a_transcript_streams_as_events(api: httpx.Client, opening: tuple[np.ndarray, int]) -> None:
    """``stream=true``: deltas, then the whole text, and the deltas make up the whole."""
    answer = api.post(ROUTE, data={"stream": "true"}, files={"file": wav(*opening)})
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [httpx.Response(200, content=line[6:]).json() for line in answer.text.splitlines() if line]
    assert [event["type"] for event in events] == ["transcript.text.delta", "transcript.text.done"]
    assert events[0]["delta"] == events[1]["text"]


def test_subtitles_come_as_files(api: httpx.Client, opening: tuple[np.ndarray, int]) -> None:
    """``srt`` and ``vtt`` hold the text with its times."""
    srt = api.post(ROUTE, data={"response_format": "srt"}, files={"file": wav(*opening)}).text
    vtt = api.post(ROUTE, data={"response_format": "vtt"}, files={"file": wav(*opening)}).text
    assert srt.startswith("1\n00:00:00,000 --> 00:00:05,000\nIt was the best of times")
    assert vtt.startswith("WEBVTT\n\n00:00:00.000 --> 00:00:05.000\nIt was the best of times")


def test_a_caller_who_hangs_up_frees_the_lane(
    api: httpx.Client, two_cities: Path, figure: Callable[[str], float]
) -> None:
    """Ten minutes of audio, given up after half a second: the job ends unfinished, and the lane is free."""
    samples, rate_hz = soundfile.read(two_cities, dtype="int16")
    long = wav(np.tile(samples[::3], 14), rate_hz // 3)
    given_up = 'relance_worker_requests_total{route="/audio/transcriptions",status="499"}'
    before = figure(given_up)
    with pytest.raises(httpx.ReadTimeout):
        api.post(ROUTE, files={"file": long[: 24 * 1024 * 1024]}, timeout=httpx.Timeout(30, read=0.5))
    deadline = time.monotonic() + 10
    while figure(given_up) == before:
        assert time.monotonic() < deadline, "the worker did not notice"
    assert figure('relance_worker_lane_jobs{lane="stt"}') == 0
