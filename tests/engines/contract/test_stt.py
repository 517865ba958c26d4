"""The contract of speech to text, over every style: the packet to the field, and what is heard of each answer."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import soundfile

from engines.errors import EngineFault, EngineRefused
from engines.protocols import Transcript

pytestmark = pytest.mark.anyio

SAMPLES = np.arange(-800, 800, dtype=np.int16)
"""100 ms at 16 kHz."""


def openai_packet(request, language: str) -> bytes:
    form = request.form
    wav = form.pop("file")
    told = {"model": b"some-model", "language": language.encode(), "temperature": b"0"}
    assert form == told | {"response_format": b"verbose_json"}
    return wav


def whispercpp_packet(request, language: str) -> bytes:
    form = request.form
    wav = form.pop("file")
    assert form == {"response_format": b"json", "temperature": b"0.0"}
    return wav


def gemini_packet(request, language: str) -> bytes:
    body = request.json
    parts = body["contents"][0].pop("parts")
    config = {"temperature": 0.0, "maxOutputTokens": 64 + 2, "thinkingConfig": {"thinkingBudget": 0}}
    assert body == {"contents": [{"role": "user"}], "generationConfig": config}
    asked, audio = parts
    assert asked.keys() == {"text"}
    assert {"fr": "in French", "en": "in English"}[language] in asked["text"]
    assert "nothing else" in asked["text"]
    assert audio.keys() == {"inlineData"}
    assert audio["inlineData"]["mimeType"] == "audio/wav"
    return base64.b64decode(audio["inlineData"]["data"], validate=True)


@dataclass(frozen=True)
class Style:
    """How one style is asked and answers."""

    name: str
    packet: Callable[[object, str], bytes]
    """Checks all of a request but its audio, and returns that."""
    says: Callable[[str], dict]
    nonsense: tuple[bytes, ...]


STYLES = [
    Style("openai", openai_packet, lambda text: {"text": text}, (b'{"text": 3}', b'{"segments": []}')),
    Style("whispercpp", whispercpp_packet, lambda text: {"text": text}, (b'{"text": 3}', b'{"error": "no audio"}')),
    Style(
        "gemini",
        gemini_packet,
        lambda text: {"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]},
        (b'{"candidates": 3}', b'{"candidates": [{"content": {"parts": [{"text": 3}]}}]}'),
    ),
]


@pytest.fixture(params=STYLES, ids=lambda style: style.name)
def style(request: pytest.FixtureRequest) -> Style:
    return request.param


@pytest.fixture
def engine_of(lab):
    """Give an engine of a style by its name."""
    kinds = {kind.style: kind for kind in lab.KINDS if kind.name == "stt"}
    return lambda style, base, **options: lab.engine(kinds[style.name], base, **options)


async def hear(lab, engine_of, style, *texts: str) -> list[Transcript]:
    answers = [lab.answer(style.says(text)) for text in texts]
    async with lab.server(*answers) as server, engine_of(style, server.base) as stt:
        return [await stt.transcribe(SAMPLES, language="fr", timeout_s=5) for _ in texts]


@pytest.mark.parametrize("body", [b"", b"Bonjour.", b"{}", b"[]", b'{"text": "\xff"}'])
async def test_nonsense_is_a_fault(lab, engine_of, style, body) -> None:
    """What is no transcription is never taken for silence."""
    async with lab.server(lab.answer(body)) as server, engine_of(style, server.base) as stt:
        with pytest.raises(EngineFault):
            await stt.transcribe(SAMPLES, language="fr", timeout_s=5)


async def test_an_answer_of_a_wrong_shape_is_a_fault(lab, engine_of, style) -> None:
    """JSON that is something else is told from an empty transcript, in each style's own words."""
    for body in style.nonsense:
        async with lab.server(lab.answer(body)) as server, engine_of(style, server.base) as stt:
            with pytest.raises(EngineFault):
                await stt.transcribe(SAMPLES, language="fr", timeout_s=5)


@pytest.mark.parametrize("language", ["fr", "en"])
async def test_the_request_to_the_field(lab, engine_of, style, language) -> None:
    """The packet of the style and no other field; its audio is a WAV file of these very samples."""
    async with lab.server(lab.answer(style.says("Oui."))) as server, engine_of(style, server.base) as stt:
        await stt.transcribe(SAMPLES, language=language, timeout_s=5)
    samples, rate_hz = soundfile.read(io.BytesIO(style.packet(server.requests[0], language)), dtype="int16")
    assert (rate_hz, samples.tolist()) == (16_000, SAMPLES.tolist())


async def test_what_was_said_is_heard(lab, engine_of, style) -> None:
    """The text without white space around it, the length of the audio, a confidence neither sure nor doubtful."""
    (heard,) = await hear(lab, engine_of, style, "  D’accord, j’arrive à 8 h.\n")
    assert (heard.text, heard.audio_ms) == ("D’accord, j’arrive à 8 h.", 100)
    assert heard.confidence == pytest.approx(0.5)
    assert heard.elapsed_ms >= 0


@pytest.mark.parametrize("text", ["Oui.", "Non.", "D'accord.", "Merci."])
async def test_a_short_answer_is_kept(lab, engine_of, style, text) -> None:
    """A word is an answer."""
    (heard,) = await hear(lab, engine_of, style, text)
    assert heard.text == text


@pytest.mark.parametrize(
    "text", ["", " \n", "[BLANK_AUDIO]", "(silence)", "…", "Sous-titres réalisés par la communauté d'Amara.org"]
)
async def test_nothing_said_is_an_empty_text(lab, engine_of, style, text) -> None:
    """Silence, names of sounds and known inventions are no text, no confidence and no error."""
    (heard,) = await hear(lab, engine_of, style, text)
    assert (heard.text, heard.confidence) == ("", 0.0)


async def test_a_loop_is_cut_to_its_first_time(lab, engine_of, style) -> None:
    """A phrase that goes round and round was said once."""
    (heard,) = await hear(lab, engine_of, style, "je ne sais pas " * 20)
    assert heard.text == "je ne sais pas"


async def test_no_samples_ask_nothing(lab, engine_of, style) -> None:
    """An empty segment needs no server."""
    async with engine_of(style, f"http://127.0.0.1:{lab.free_port()}/v1") as stt:
        heard = await stt.transcribe(np.zeros(0, np.int16), language="fr", timeout_s=5)
    assert (heard, lab.attempts) == (Transcript("", 0.0, 0, 0), [])


async def test_one_engine_serves_many_at_once(lab, engine_of, style) -> None:
    """Two transcriptions of one engine have each their own answer."""
    first, second = await hear(lab, engine_of, style, "Un.", "Deux.")
    assert (first.text, second.text) == ("Un.", "Deux.")


WHISPERCPP = STYLES[1]
GEMINI = STYLES[2]


async def test_whispercpp_has_a_segment_a_line(lab, engine_of) -> None:
    """Lines are joined by spaces; an invention in one of them leaves the others."""
    (heard,) = await hear(lab, engine_of, WHISPERCPP, " Je lis\n beaucoup.\n Merci d'avoir regardé cette vidéo !\n")
    assert heard.text == "Je lis beaucoup."


@pytest.mark.parametrize(
    "answer",
    [
        {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}},
        {"candidates": [{"finishReason": "SAFETY"}]},
        {"candidates": [{"content": {"role": "model"}, "finishReason": "RECITATION"}]},
    ],
)
async def test_gemini_that_withholds_a_transcript_has_refused(lab, engine_of, answer) -> None:
    """A blocked segment is no silence: it is said, by Gemini's own word, and not asked again."""
    async with lab.server(lab.answer(answer)) as server, engine_of(GEMINI, server.base) as stt:
        with pytest.raises(EngineRefused, match=r"withheld \([A-Z_]+\)"):
            await stt.transcribe(SAMPLES, language="fr", timeout_s=5)
    assert lab.outcomes == ["refused"]


async def test_gemini_that_hears_nothing_has_no_part(lab, engine_of) -> None:
    """An answer without parts is the empty text that was asked for; thoughts are not heard."""
    silent = {"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]}
    thought = {"candidates": [{"content": {"parts": [{"text": "No speech.", "thought": True}]}}]}
    async with lab.server(lab.answer(silent), lab.answer(thought)) as server, engine_of(GEMINI, server.base) as stt:
        assert (await stt.transcribe(SAMPLES, language="fr", timeout_s=5)).text == ""
        assert (await stt.transcribe(SAMPLES, language="fr", timeout_s=5)).text == ""


async def test_gemini_is_not_told_what_came_before(lab, engine_of) -> None:
    """The words that ask are the same for every segment: what came before might be said again."""
    async with lab.server(lab.answer(GEMINI.says("Oui."))) as server, engine_of(GEMINI, server.base) as stt:
        await stt.transcribe(SAMPLES, language="fr", prompt="Avant, été.", timeout_s=5)
        await stt.transcribe(SAMPLES, language="fr", timeout_s=5)
    first, second = (json.dumps(request.json) for request in server.requests)
    assert first == second
