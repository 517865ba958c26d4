"""The adapter for speech to text: its request to the field, and what it believes of an answer."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
import soundfile

from engines.errors import EngineFault, EngineRefused
from engines.protocols import Transcript

pytestmark = pytest.mark.anyio

SAMPLES = np.arange(-800, 800, dtype=np.int16)


def verbose(*segments: dict) -> dict:
    return {"task": "transcribe", "text": "".join(each["text"] for each in segments), "segments": list(segments)}


def segment(text: str, avg_logprob: float = -0.2, no_speech_prob: float = 0.01, **more: float) -> dict:
    told = {"text": text, "start": 0, "end": 2, "avg_logprob": avg_logprob, "no_speech_prob": no_speech_prob}
    return told | {"compression_ratio": 1.1} | more


async def test_the_request_to_the_field(lab) -> None:
    """A WAV of these very samples, and exactly these fields; the prompt only if there is one."""
    async with lab.server(lab.answer(verbose(segment(" Bonjour.")))) as server, lab.engine("stt", server.base) as stt:
        await stt.transcribe(SAMPLES, language="fr", prompt="Avant, été.", timeout_s=5)
        await stt.transcribe(SAMPLES, language="en", timeout_s=5)
    first, second = (request.form for request in server.requests)
    samples, rate = soundfile.read(io.BytesIO(first.pop("file")), dtype="int16")
    assert rate == 16_000
    assert samples.tolist() == SAMPLES.tolist()
    assert first == {
        "model": b"some-model",
        "language": b"fr",
        "temperature": b"0",
        "prompt": "Avant, été.".encode(),
        "response_format": b"verbose_json",
    }
    assert "prompt" not in second
    assert second["language"] == b"en"


async def test_text_and_confidence_come_from_the_segments(lab) -> None:
    """Texts are joined, confidence is weighted by length, and audio is as long as its samples."""
    answer = verbose(segment(" Je lis.", -0.1, end=3), segment(" Beaucoup.", -0.5, start=3, end=4))
    async with lab.server(lab.answer(answer)) as server, lab.engine("stt", server.base) as stt:
        heard = await stt.transcribe(SAMPLES, language="fr", timeout_s=5)
    assert (heard.text, heard.audio_ms) == ("Je lis. Beaucoup.", 100)
    assert heard.confidence == pytest.approx(math.exp(-0.2))
    assert heard.elapsed_ms >= 0


async def test_what_was_made_up_is_not_heard(lab) -> None:
    """Credits on weak evidence leave nothing: no text, no confidence."""
    answer = verbose(segment(" Sous-titres réalisés par la communauté d'Amara.org", -0.8, 0.5))
    async with lab.server(lab.answer(answer)) as server, lab.engine("stt", server.base) as stt:
        heard = await stt.transcribe(SAMPLES, language="fr", timeout_s=5)
    assert (heard.text, heard.confidence) == ("", 0.0)


async def test_no_samples_ask_nothing(lab) -> None:
    """An empty segment needs no server."""
    async with lab.engine("stt", f"http://127.0.0.1:{lab.free_port()}/v1") as stt:
        heard = await stt.transcribe(np.zeros(0, np.int16), language="fr", timeout_s=5)
    assert heard == Transcript("", 0.0, 0, 0)
    assert lab.attempts == []


@pytest.mark.parametrize("status", [400, 422])
async def test_a_server_without_verbose_json_is_asked_again_for_json_and_remembered(lab, status) -> None:
    """The second request follows at once; without evidence the confidence is 0.5."""
    answers = lab.answer({"error": {"code": "unsupported_value"}}, status), lab.answer({"text": "Oui."})
    async with lab.server(*answers) as server, lab.engine("stt", server.base) as stt:
        heard = await stt.transcribe(SAMPLES, language="fr", timeout_s=5)
        await stt.transcribe(SAMPLES, language="fr", timeout_s=5)
    assert [each.form["response_format"] for each in server.requests] == [b"verbose_json", b"json", b"json"]
    assert (heard.text, heard.confidence) == ("Oui.", pytest.approx(0.5))


async def test_a_bad_request_for_another_reason_is_not_remembered(lab) -> None:
    """What is refused as json too says nothing about verbose_json."""
    bad, good = lab.answer({"error": {"code": "bad_audio"}}, 400), lab.answer({"text": "Oui."})
    async with lab.server(bad, bad, good) as server, lab.engine("stt", server.base) as stt:
        with pytest.raises(EngineRefused, match="bad_audio"):
            await stt.transcribe(SAMPLES, language="fr", timeout_s=5)
        await stt.transcribe(SAMPLES, language="fr", timeout_s=5)
    assert server.requests[2].form["response_format"] == b"verbose_json"


@pytest.mark.parametrize(
    "body", [b"", b"Bonjour.", b"{}", b'{"text": 3}', b'{"text": "a", "segments": {}}', b'{"text": "\xff"}']
)
async def test_nonsense_is_a_fault(lab, body) -> None:
    """What is no transcription is never taken for silence."""
    async with lab.server(lab.answer(body)) as server, lab.engine("stt", server.base) as stt:
        with pytest.raises(EngineFault):
            await stt.transcribe(SAMPLES, language="fr", timeout_s=5)


async def test_null_evidence_is_no_evidence(lab) -> None:
    """A server may leave figures out, or null them, and have no segments at all for silence."""
    without = segment(" Oui.") | {"avg_logprob": None, "no_speech_prob": None}
    answers = lab.answer(verbose(without)), lab.answer(verbose())
    async with lab.server(*answers) as server, lab.engine("stt", server.base) as stt:
        assert (await stt.transcribe(SAMPLES, language="fr", timeout_s=5)).confidence == pytest.approx(0.5)
        assert (await stt.transcribe(SAMPLES, language="fr", timeout_s=5)).text == ""
