"""The limits of a connection, each with its close code: the size of a frame, the client's silence, the backlog."""

from __future__ import annotations

import asyncio
import base64

import pytest


async def test_a_frame_of_a_mebibyte_is_taken_and_a_larger_one_closes_with_1009(sit, speech_server):
    """The limit is the frame's own: one byte more ends the session."""
    filler = '{"type":"filler","data":"%s"}'
    largest = filler % ("A" * (1024 * 1024 - len(filler) + 2))
    assert len(largest) == 1024 * 1024
    async with sit(speech_server, "t2") as candidate:
        await candidate.send(largest)
        await candidate.catch_up()
        assert not candidate.closed
        await candidate.send(largest + " ")
        account = await candidate.over()
    assert account.close[0] == 1009
    assert account.heard == ()


@pytest.mark.parametrize("task", ["t1", "t2"])
async def test_a_client_without_a_frame_closes_with_1001(sit, strict_server, task):
    """A second without one, by these settings."""
    async with sit(strict_server, task) as candidate:
        account = await candidate.over()
    assert account.close == (1001, "IDLE_TIMEOUT")
    assert account.heard == ()


async def test_frames_to_ignore_keep_a_client_from_being_idle(sit, strict_server):
    """Any frame will do: the limit is for those who are gone."""
    async with sit(strict_server, "t2") as candidate:
        for _ in range(5):
            await candidate.send("hello")
            assert await candidate.hears_nothing(0.4)
        await candidate.say("end")
        assert (await candidate.over()).close == (1000, "")


async def test_a_client_that_waits_for_its_report_is_not_idle(sit, strict_server, human, llm):
    """After ``end`` there is nothing to send, however long the evaluation takes."""
    async with sit(strict_server, "t2") as candidate:
        await candidate.speak(human(0.7, 2.9))
        with llm.holding_evaluations():
            await candidate.say("end")
            assert await candidate.hears_nothing(2.5)
        account = await candidate.over()
    assert account.kinds == ["report"]
    assert account.close == (1000, "")


async def test_audio_that_backs_up_closes_with_1008(sit, strict_server, human, client, stored):
    """Nothing is dropped in silence: the session ends by its limit, and what was heard until then is stored."""
    async with sit(strict_server, "t2", sub="hasty") as candidate:
        await candidate.speak(human(0.7, 2.9))
        twenty_seconds = base64.b64encode(client.silence(20).tobytes()).decode("ascii")
        await candidate.send(*[client.audio(twenty_seconds)] * 3)
        account = await candidate.over()
    assert account.close == (1008, "AUDIO_BACKLOG")
    assert account.heard == ()
    production = await asyncio.to_thread(stored, strict_server, "hasty", "evaluated")
    assert "best of times" in production["transcript"]
