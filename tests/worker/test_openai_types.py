"""What the official client's typed classes require is really sent: bodies are validated, strictly, as they came."""

import io
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest
import soundfile
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


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", params=["with /v1", "without"])
def base_url(worker: Supervised, request: pytest.FixtureRequest) -> str:
    return worker.base_url if request.param == "with /v1" else worker.base_url.removesuffix("/v1")


@pytest.fixture(scope="module")
def client(base_url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=base_url, api_key="unused", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def opening(two_cities: Path) -> tuple[str, bytes]:
    """The first five seconds of Dickens."""
    samples, rate_hz = soundfile.read(two_cities, frames=5 * 48_000, dtype="int16")
    file = io.BytesIO()
    soundfile.write(file, samples, rate_hz, format="FLAC")
    return "opening.flac", file.getvalue()


def strict(kind: type[BaseModel], body: bytes) -> BaseModel:
    """The body as ``kind``: each required field there and of its type, and no field that the class does not know."""
    found = kind.model_validate_json(body, strict=True)
    assert found.model_extra is not None
    assert set(found.model_extra) <= {"task"}, found.model_extra
    return found


def test_transcriptions_are_of_their_classes(client: openai.OpenAI, opening: tuple[str, bytes]) -> None:
    """``task`` alone is more than the class knows; OpenAI's own answers hold it too."""
    ask = client.audio.transcriptions.with_raw_response.create
    plain = strict(Transcription, ask(file=opening, model="whisper").content)
    assert plain.usage.model_dump() == {"type": "duration", "seconds": 5}
    verbose = ask(
        file=opening, model="whisper", response_format="verbose_json", timestamp_granularities=["word", "segment"]
    )
    told = strict(TranscriptionVerbose, verbose.content)
    assert told.language == "en"
    assert all(not segment.model_extra for segment in told.segments)
    assert [word.start for word in told.words] == sorted(word.start for word in told.words)


def test_models_are_of_their_class(client: openai.OpenAI) -> None:
    """One by one, and in the list; a name with a slash is a name like another."""
    for model in client.models.list():
        body = client.models.with_raw_response.retrieve(model.id).content
        assert strict(Model, body) == model
    with pytest.raises(openai.NotFoundError) as raised:
        client.models.retrieve("openai/whisper-1")
    error = raised.value
    assert (error.code, error.param, error.type) == ("model_not_found", "model", "invalid_request_error")
    assert set(error.body) == {"message", "type", "param", "code"}


async def test_the_asynchronous_client_hears_the_same(base_url: str, opening: tuple[str, bytes]) -> None:
    """Whole and streamed; the events are of their classes."""
    async with openai.AsyncOpenAI(base_url=base_url, api_key="unused", max_retries=0) as client:
        ask = client.audio.transcriptions.create
        whole = await ask(file=opening, model="whisper", language="en", prompt="Dickens.", temperature=0.0)
        assert "worst of times" in whole.text
        as_text = await ask(file=opening, model="whisper", language="en", prompt="Dickens.", response_format="text")
        assert as_text.strip() == whole.text
        events = [event async for event in await ask(file=opening, model="whisper", stream=True)]
    kinds = [type(strict(type(event), event.model_dump_json(exclude_unset=True).encode())) for event in events]
    assert kinds == [TranscriptionTextDeltaEvent, TranscriptionTextDoneEvent]
    assert events[0].delta == events[1].text


async def test_the_asynchronous_client_is_spoken_to(base_url: str) -> None:
    """A voice may be an object, as the client's type allows; what it does not know is a ``BadRequestError``."""
    asked = {"model": "kokoro", "input": "Good morning.", "response_format": "wav"}
    async with openai.AsyncOpenAI(base_url=base_url, api_key="unused", max_retries=0) as client:
        spoken = await client.audio.speech.create(**asked, voice={"id": "af_heart"})
        with pytest.raises(openai.BadRequestError, match="one of pcm, wav, flac, mp3, opus, got 'aac'"):
            await client.audio.speech.create(**{**asked, "voice": "af_heart", "response_format": "aac"})
    samples, rate_hz = soundfile.read(io.BytesIO(spoken.content))
    assert rate_hz == 24_000
    assert 0.5 < len(samples) / rate_hz < 2.0
