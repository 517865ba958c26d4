"""The contract of text to speech, over every style: the packet to the field, and the audio of each answer."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from engines.errors import EngineFault, EngineRefused, EngineTruncated

pytestmark = pytest.mark.anyio

RAMP = np.arange(-500, 500, dtype=np.int16)


async def speak(tts, text: str = "Bonjour.", timeout_s: float = 30) -> np.ndarray:
    blocks = [block async for block in tts.speak(text, timeout_s=timeout_s)]
    assert all(block.dtype == np.int16 and block.ndim == 1 and len(block) for block in blocks)
    return np.concatenate(blocks) if blocks else np.zeros(0, np.int16)


def tone(rate_hz: int, seconds: float = 0.5) -> np.ndarray:
    """Return 440 Hz at half of full scale."""
    return np.round(16_000 * np.sin(2 * np.pi * 440 * np.arange(int(rate_hz * seconds)) / rate_hz)).astype(np.int16)


@pytest.mark.parametrize("text", ["", "  ", "…", "😀 !", "« »", "\n"])
async def test_a_text_with_nothing_to_say_asks_nothing(lab, style, tts_peer, audio, text) -> None:
    """Marks and emoji give no block, no error and no request."""
    async with tts_peer(style, audio(RAMP)) as (tts, requests):
        assert len(await speak(tts, text)) == 0
        assert requests() == []
    assert lab.attempts == []


async def test_no_audio_for_words_is_a_failure(lab, style, tts_peer, audio) -> None:
    """Words that gave no audio are a truncated answer, tried again; never a mute examiner."""
    async with tts_peer(style, audio(RAMP[:0])) as (tts, _):
        with pytest.raises(EngineTruncated):
            await speak(tts)
    assert lab.outcomes == ["truncated"] * 3


async def test_the_request_to_the_field(style, tts_peer, audio) -> None:
    """The packet of the style and no other field; quotes, emoji and line separators are no danger to it."""
    text = '« Bonjour », dit-il. "C\'est\\ça" 🙂'
    async with tts_peer(style, audio(RAMP)) as (tts, requests):
        await speak(tts, text)
        (request,) = requests()
        style.packet(request, text)


async def test_audio_at_24_khz_is_given_as_it_is(lab, style, tts_peer, audio) -> None:
    """Every sample, unchanged; the attempt is told with its style."""
    async with tts_peer(style, audio(RAMP)) as (tts, _):
        assert (await speak(tts)).tolist() == RAMP.tolist()
    assert [(each.engine, each.style, each.outcome) for each in lab.attempts] == [("tts", style.name, "ok")]


async def test_each_text_has_its_own_audio(style, tts_peer, audio) -> None:
    """Texts one after another, and two at once, are each answered whole."""
    answers = [RAMP[:1], RAMP[:2], RAMP[:3], RAMP[:4]]
    async with tts_peer(style, *map(audio, answers)) as (tts, _):
        assert [len(await speak(tts)) for _ in range(2)] == [1, 2]
        assert sorted(map(len, await asyncio.gather(speak(tts), speak(tts)))) == [3, 4]


async def test_a_reader_that_leaves_between_two_texts_costs_nothing(lab, style, tts_peer, audio) -> None:
    """An answer that is closed after its first block ends there; the next text is spoken."""
    async with tts_peer(style, audio(RAMP), audio(RAMP[:7])) as (tts, _):
        first = tts.speak("Bonjour.", timeout_s=30)
        await anext(first)
        await first.aclose()
        assert len(await speak(tts)) == 7
    assert lab.outcomes == ["cancelled", "ok"]


@pytest.mark.parametrize("rate_hz", [16_000, 22_050, 44_100, 48_000])
async def test_another_rate_is_resampled(style_with_rate, tts_peer, audio, rate_hz) -> None:
    """The length in seconds and the pitch stay, at whatever rate the voice speaks."""
    style = style_with_rate
    async with tts_peer(style, audio(tone(rate_hz), rate_hz)) as (tts, _):
        heard = await speak(tts)
    assert abs(len(heard) - 12_000) <= 24
    spectrum = np.abs(np.fft.rfft(heard[2_000:10_000].astype(float)))
    assert np.argmax(spectrum) * 24_000 / 8_000 == pytest.approx(440, abs=3)
    assert np.abs(heard[2_000:10_000]).max() == pytest.approx(16_000, rel=0.02)


@pytest.fixture
def gemini(lab):
    """Give the engine that is answered by ``parts``."""
    (kind,) = (kind for kind in lab.KINDS if (kind.name, kind.style) == ("tts", "gemini"))

    async def ask(answer: dict) -> list[int]:
        async with lab.server(lab.answer(answer)) as server, lab.engine(kind, server.base) as tts:
            return (await speak(tts)).tolist()

    return ask


@pytest.mark.parametrize(
    "mime_type", ["", "audio/L16", "audio/wav", "audio/L16;rate=24", "text/plain;rate=24000", "audio/L16;rate=abc"]
)
async def test_gemini_must_tell_a_rate(lab, gemini, mime_type) -> None:
    """Audio whose rate is not told, or that is no PCM, is never guessed at."""
    with pytest.raises(EngineFault):
        await gemini(lab.generated(lab.pcm_part(b"\1\0", mime_type)))


@pytest.mark.parametrize(
    "mime_type", ["audio/L16;rate=24000", "audio/pcm; rate=24000", "audio/l16; codec=pcm; rate=24000"]
)
async def test_gemini_tells_a_rate_in_many_ways(lab, gemini, mime_type) -> None:
    """Spaces, case and other parameters do not matter."""
    assert await gemini(lab.generated(lab.pcm_part(b"\1\0\2\0", mime_type))) == [1, 2]


async def test_gemini_may_answer_in_parts(lab, gemini) -> None:
    """Parts are joined, a sample split between two of them is whole; text beside them is not audio."""
    parts = lab.pcm_part(b"\1\0\2"), {"text": "Voilà"}, lab.pcm_part(b"\0\3\0")
    assert await gemini(lab.generated(*parts)) == [1, 2, 3]
    with pytest.raises(EngineFault, match="one rate"):
        await gemini(lab.generated(lab.pcm_part(b"\1\0"), lab.pcm_part(b"\1\0", "audio/L16;rate=16000")))


async def test_gemini_may_use_either_alphabet_of_base64(gemini) -> None:
    """Protobuf's JSON has both, with padding or without; what is neither is a fault."""
    part = {"inlineData": {"mimeType": "audio/L16;rate=24000", "data": "-_8"}}
    assert await gemini({"candidates": [{"content": {"parts": [part]}}]}) == [-5]
    part["inlineData"]["data"] = "####"
    with pytest.raises(EngineFault, match="base64"):
        await gemini({"candidates": [{"content": {"parts": [part]}}]})


@pytest.mark.parametrize(
    ("answer", "raised"),
    [
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, EngineRefused),
        ({"candidates": [{"finishReason": "SAFETY"}]}, EngineRefused),
        ({"candidates": [{"finishReason": "OTHER"}]}, EngineTruncated),
        ({"candidates": [{"content": {"parts": [{"text": "Bonjour."}]}, "finishReason": "STOP"}]}, EngineTruncated),
        ({}, EngineTruncated),
    ],
)
async def test_gemini_without_audio_has_failed(gemini, answer, raised) -> None:
    """What was withheld is refused for good; text instead of audio, or nothing, may come better the next time."""
    with pytest.raises(raised):
        await gemini(answer)
