"""The official OpenAI client, unmodified, against a real worker: every format, streams, models, errors."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import openai
import pytest
import soundfile
import soxr
from openai.types import Model
from openai.types.audio import (
    Transcription,
    TranscriptionTextDeltaEvent,
    TranscriptionTextDoneEvent,
    TranscriptionVerbose,
)
from pydantic import BaseModel

from engines.supervision import Supervised

pytestmark = pytest.mark.anyio

SENTENCE = "The train leaves at nine in the morning, and the ticket costs forty dollars."
WORDS = ("train", "morning", "ticket")
OPENING = "it was the best of times"


@pytest.fixture(scope="session")
def client(worker: Supervised) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=worker.base_url, api_key="unused", max_retries=0) as client:
        yield client


@pytest.fixture(scope="session")
def opening(two_cities: Path) -> bytes:
    """The first five seconds of Dickens, as WAV."""
    samples, rate_hz = soundfile.read(two_cities, frames=5 * 48_000, dtype="int16")
    return as_file(samples, rate_hz, "WAV")


def as_file(samples: np.ndarray, rate_hz: int, container: str, **how: str) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate_hz, format=container, **how)
    return file.getvalue()


def check_whole(answer: BaseModel) -> None:
    """The client builds its objects without a look: see that every required field is there, of its type."""
    type(answer).model_validate(answer.model_dump(exclude_unset=True))


def plain(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum() or letter == " ").strip()


def test_a_transcription_in_every_format(client: openai.OpenAI, opening: bytes) -> None:
    """Objects of the client's own classes, whole; text and subtitles as the strings that they are."""
    file = ("opening.wav", opening)
    ask = client.audio.transcriptions.create
    as_json = ask(file=file, model="whisper", language="en", prompt="Dickens.", temperature=0)
    assert isinstance(as_json, Transcription)
    check_whole(as_json)
    assert plain(as_json.text).startswith(OPENING)
    verbose = ask(
        file=file, model="whisper", response_format="verbose_json", timestamp_granularities=["segment", "word"]
    )
    assert isinstance(verbose, TranscriptionVerbose)
    check_whole(verbose)
    assert verbose.duration == pytest.approx(5.0, abs=0.01)
    assert [plain(word.word) for word in verbose.words][:4] == ["it", "was", "the", "best"]
    assert verbose.segments[-1].end <= 5.0
    assert plain(ask(file=file, model="whisper", response_format="text")).startswith(OPENING)
    assert ask(file=file, model="whisper", response_format="srt").startswith("1\n00:00:00,000 --> ")
    assert ask(file=file, model="whisper", response_format="vtt").startswith("WEBVTT\n")


def test_a_streamed_transcription(client: openai.OpenAI, two_cities: Path) -> None:
    """Deltas that make up the text of the event that ends them."""
    samples, rate_hz = soundfile.read(two_cities, dtype="int16")
    file = ("two_cities.flac", as_file(samples, rate_hz, "FLAC"))
    events = list(client.audio.transcriptions.create(file=file, model="whisper", stream=True))
    for event in events:
        check_whole(event)
    *deltas, done = events
    assert len(deltas) > 1
    assert all(isinstance(event, TranscriptionTextDeltaEvent) for event in deltas)
    assert isinstance(done, TranscriptionTextDoneEvent)
    assert "".join(event.delta for event in deltas).strip() == done.text.strip()


@pytest.mark.parametrize(
    ("rate_hz", "channels", "container"),
    [(8_000, 1, "WAV"), (44_100, 2, "FLAC"), (24_000, 1, "MP3"), (48_000, 2, "OGG")],
)
def test_files_as_people_have_them(
    client: openai.OpenAI, two_cities: Path, rate_hz: int, channels: int, container: str
) -> None:
    """Any rate, any channels, any format of libsndfile's."""
    samples, rate = soundfile.read(two_cities, frames=5 * 48_000, dtype="float32")
    resampled = soxr.resample(samples, rate, rate_hz)
    file = as_file(np.stack([resampled] * channels, axis=1), rate_hz, container)
    heard = client.audio.transcriptions.create(file=("a", file), model="whisper")
    assert "best of times" in plain(heard.text)


@pytest.mark.parametrize("response_format", ["pcm", "wav", "flac", "mp3", "opus"])
def test_speech_in_every_format(client: openai.OpenAI, response_format: str) -> None:
    """Whole, and streamed: the same speech, of which Whisper hears the words."""
    asked = {"model": "kokoro", "voice": "af_heart", "input": SENTENCE, "response_format": response_format}
    whole = client.audio.speech.create(**asked).content
    with client.audio.speech.with_streaming_response.create(**asked) as response:
        parts = list(response.iter_bytes())
    for data in (whole, b"".join(parts)):
        if response_format == "pcm":
            samples, rate_hz = np.frombuffer(data, "<i2"), 24_000
        else:
            samples, rate_hz = soundfile.read(io.BytesIO(data), dtype="int16")
        assert 3.0 < len(samples) / rate_hz < 7.0
        heard = client.audio.transcriptions.create(file=("a.wav", as_file(samples, rate_hz, "WAV")), model="whisper")
        assert all(word in plain(heard.text) for word in WORDS), heard.text


def test_speech_as_events(client: openai.OpenAI) -> None:
    """``stream_format="sse"``: the client hands the events on as they are."""
    asked = {"model": "kokoro", "voice": "af_heart", "input": SENTENCE, "response_format": "pcm"}
    with client.audio.speech.with_streaming_response.create(**asked, stream_format="sse") as response:
        lines = [line for line in response.iter_lines() if line]
    assert all(line.startswith('data: {"type":"speech.audio.delta","audio":"') for line in lines[:-1])
    assert len(lines) > 2, "expected more than one clause"
    assert lines[-1].startswith('data: {"type":"speech.audio.done"')


def test_models(client: openai.OpenAI) -> None:
    """Listed, and told one by one."""
    models = client.models.list().data
    for model in models:
        check_whole(model)
        assert client.models.retrieve(model.id) == model
    assert all(isinstance(model, Model) for model in models)
    assert {model.id for model in models} == {"whisper", "kokoro"}
    with pytest.raises(openai.NotFoundError) as raised:
        client.models.retrieve("gpt-4")
    assert raised.value.code == "model_not_found"


@pytest.mark.parametrize(
    ("request_of", "kind", "code", "param"),
    [
        ("speech with an unknown voice", openai.BadRequestError, "voice_not_found", "voice"),
        ("speech as aac", openai.BadRequestError, "invalid_value", "response_format"),
        ("speech at ten times the speed", openai.BadRequestError, "invalid_value", "speed"),
        ("speech by another model", openai.NotFoundError, "model_not_found", "model"),
        ("no audio", openai.BadRequestError, "not_audio", "file"),
        ("another language", openai.BadRequestError, "unsupported_language", "language"),
        ("too much", openai.APIStatusError, "file_too_large", "file"),
    ],
)
def test_errors_are_the_clients_own(
    client: openai.OpenAI, opening: bytes, request_of: str, kind: type[openai.APIStatusError], code: str, param: str
) -> None:
    """Its class, with the code and the field at fault."""

    def speak(**changed: object) -> object:
        return client.audio.speech.create(**{"model": "kokoro", "voice": "af_heart", "input": "Hello.", **changed})

    def hear(file: bytes, **changed: str) -> object:
        return client.audio.transcriptions.create(file=("a.wav", file), model="whisper", **changed)

    requests = {
        "speech with an unknown voice": lambda: speak(voice="nobody"),
        "speech as aac": lambda: speak(response_format="aac"),
        "speech at ten times the speed": lambda: speak(speed=10),
        "speech by another model": lambda: speak(model="tts-1"),
        "no audio": lambda: hear(b"This is no audio."),
        "another language": lambda: hear(opening, language="fr"),
        "too much": lambda: hear(bytes(26 * 1024 * 1024)),
    }
    with pytest.raises(kind) as raised:
        requests[request_of]()
    assert (raised.value.code, raised.value.param) == (code, param)
    assert raised.value.type == "invalid_request_error"


async def test_a_full_lane_is_a_rate_limit_that_the_client_obeys(worker: Supervised) -> None:
    """The lane holds two: a third caller gets ``RateLimitError``, and with retries waits as told and is served."""
    long = {"model": "kokoro", "voice": "af_heart", "input": SENTENCE * 6, "response_format": "pcm"}
    short = {**long, "input": "Hello."}
    async with openai.AsyncOpenAI(base_url=worker.base_url, api_key="unused", max_retries=0) as client:
        speech = client.audio.speech.with_streaming_response
        async with speech.create(**long) as first, speech.create(**long) as second:
            assert first.status_code == second.status_code == 200
            with pytest.raises(openai.RateLimitError) as raised:
                await client.audio.speech.create(**short)
            assert raised.value.response.headers["retry-after"] == "1"
            patient = client.with_options(max_retries=20).audio.speech.create(**short)
            await first.close()
            assert len((await patient).content) > 10_000
