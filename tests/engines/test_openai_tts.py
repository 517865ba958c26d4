"""The adapter for text to speech: its request to the field, and audio in any chunking."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from engines.errors import EngineTimeout, EngineTruncated, EngineUnavailable
from engines.http import Target, open_client
from engines.openai.tts import OpenAITextToSpeech

pytestmark = pytest.mark.anyio


async def speak(tts, text: str = "Bonjour.", timeout_s: float = 5) -> list[np.ndarray]:
    return [block async for block in tts.speak(text, timeout_s=timeout_s)]


def audio(lab, *parts: bytes) -> list:
    return [lab.head(kind="audio/pcm"), *lab.chunked(*parts), lab.END]


async def test_the_request_to_the_field(lab) -> None:
    """Exactly these fields: raw PCM is asked for."""
    async with lab.server(audio(lab, b"\0\0")) as server, lab.engine("tts", server.base, speed=0.9) as tts:
        await speak(tts, "« Bonjour », dit-il.")
    assert server.requests[0].json == {
        "model": "some-model",
        "input": "« Bonjour », dit-il.",
        "voice": "ff_siwis",
        "speed": 0.9,
        "response_format": "pcm",
    }


@pytest.mark.parametrize("text", ["", "  ", "…", "😀 !", "« »", "\n"])
async def test_a_text_with_nothing_to_say_asks_nothing(lab, text) -> None:
    """Marks and emoji give no block and no error, even with no server there."""
    async with lab.engine("tts", f"http://127.0.0.1:{lab.free_port()}/v1") as tts:
        assert await speak(tts, text) == []
    assert lab.attempts == []


async def test_samples_split_over_packets_are_whole(lab) -> None:
    """An odd byte waits for its other half: the samples are those that were sent, whatever the packets."""
    sent = np.arange(-500, 500, dtype="<i2")
    pcm = sent.tobytes()
    for size in (1, 3, 7, 999, 2000):
        parts = [pcm[at : at + size] for at in range(0, len(pcm), size)]
        async with lab.server(audio(lab, *parts)) as server, lab.engine("tts", server.base) as tts:
            blocks = await speak(tts)
        assert all(block.dtype == np.int16 and len(block) for block in blocks)
        assert np.concatenate(blocks).tolist() == sent.tolist()


async def test_half_a_sample_at_the_end_is_dropped(lab) -> None:
    """A body of an odd length ends the answer, not the session."""
    async with lab.server(audio(lab, b"\x01\x00\x02")) as server, lab.engine("tts", server.base) as tts:
        assert np.concatenate(await speak(tts)).tolist() == [1]


@pytest.mark.parametrize("parts", [[], [b"\x01"]], ids=["empty", "half a sample"])
async def test_no_audio_for_words_is_a_failure(lab, parts) -> None:
    """Words that gave no audio are a truncated answer, tried again; never a mute examiner."""
    async with lab.server(audio(lab, *parts)) as server, lab.engine("tts", server.base) as tts:
        with pytest.raises(EngineTruncated):
            await speak(tts)
    assert lab.outcomes == ["truncated"] * 3


async def test_audio_is_handed_on_as_it_comes(lab) -> None:
    """The first block does not wait for the last."""
    begun = [lab.head(kind="audio/pcm"), *lab.chunked(b"\x01\x00"), lab.HANG]
    async with lab.server(begun) as server, lab.engine("tts", server.base) as tts:
        blocks = tts.speak("Bonjour.", timeout_s=60)
        assert (await anext(blocks)).tolist() == [1]
        await blocks.aclose()
        await server.left.wait()
    assert lab.outcomes == ["cancelled"]


async def test_each_block_has_a_deadline(lab) -> None:
    """A worker that stops in the middle does not leave its reader waiting for ever."""
    stalled = [lab.head(kind="audio/pcm"), *lab.chunked(b"\x01\x00"), lab.HANG]
    async with lab.server(stalled) as server, lab.engine("tts", server.base, block_s=0.1) as tts:
        blocks = tts.speak("Bonjour.", timeout_s=60)
        await anext(blocks)
        with pytest.raises(EngineTimeout):
            await anext(blocks)
        await server.left.wait()
    assert lab.outcomes == ["timeout"]


async def test_audio_that_breaks_off_is_final(lab) -> None:
    """What was handed on has been heard: the sentence is not begun again."""
    cut = [lab.head(kind="audio/pcm"), *lab.chunked(b"\x01\x00"), lab.CUT]
    async with lab.server(cut) as server, lab.engine("tts", server.base) as tts:
        blocks = tts.speak("Bonjour.", timeout_s=5)
        await anext(blocks)
        with pytest.raises((EngineTruncated, EngineUnavailable)):
            await anext(blocks)
    assert len(server.requests) == 1


async def test_a_worker_behind_a_unix_socket(lab, tmp_path) -> None:
    """The address names the paths, the socket is a file."""
    path = str(tmp_path / "worker.sock")
    served = lab.new_server(audio(lab, b"\x05\x00"))
    async with await asyncio.start_unix_server(served.serve, path), open_client("http://worker/v1", uds=path) as client:
        tts = OpenAITextToSpeech(Target(client, "http://worker/v1", "m"), "ff_siwis")
        assert np.concatenate(await speak(tts)).tolist() == [5]
