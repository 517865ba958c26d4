"""The speaker plays one turn at a time, tells how it goes, and stops it so that nothing of it is sent any more."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from engines.protocols import TTS_RATE_HZ
from server.exam.facts import AudioPlayed, AudioSent, Fact
from server.live.contracts import ROLEPLAY
from server.live.outbox import Outbox
from server.live.speaker import Speaker
from server.live.stages import Stages
from server.live.voice import Reply


def now() -> float:
    return asyncio.get_running_loop().time()


class Desk:
    """A speaker at work on a client in memory."""

    def __init__(self, fakes: ModuleType, client: ModuleType) -> None:
        self.voices = fakes.Sounds(TTS_RATE_HZ)
        self.client = client.Candidate(None, self.voices)
        self.facts: list[Fact] = []
        self.first: list[float] = []

    @asynccontextmanager
    async def at_work(self) -> Any:
        self.outbox = Outbox(await self.client.connect())
        writing = asyncio.ensure_future(self.outbox.run())
        async with asyncio.TaskGroup() as group:
            yield Speaker(
                self.outbox, ROLEPLAY.encode_audio, group, self.facts.append, now, lambda _: self.first.append(now())
            )
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)

    async def reply(self, turn: int, seconds: float, *, whole: bool = True) -> Reply:
        reply = Reply(turn, Stages(lambda: 0.0, lambda stage, seconds: None).draft())
        await reply.add(self.voices.make(f"tour {turn}", seconds))
        if whole:
            await reply.end()
        return reply


async def test_stopping_what_is_not_playing_tells_that_nothing_was_heard(fakes: ModuleType, client: ModuleType) -> None:
    """A turn that was prepared and never said has no sample heard; its number does not stop another turn."""
    desk = Desk(fakes, client)
    async with desk.at_work() as speaker:
        assert speaker.stop(1) == 0
        speaker.say(await desk.reply(2, 2.0))
        await asyncio.sleep(0.5)
        assert speaker.stop(1) == 0
    assert desk.client.sentences == [("tour 2", pytest.approx(2.0))]


async def test_a_turn_is_sent_and_heard(fakes: ModuleType, client: ModuleType) -> None:
    """Its facts carry its number; the last is its whole length, when that has been heard."""
    desk = Desk(fakes, client)
    async with desk.at_work() as speaker:
        speaker.say(await desk.reply(3, 2.0))
    assert desk.facts.count(AudioSent(3)) == 1
    assert desk.facts[-1] == AudioPlayed(3, 2 * TTS_RATE_HZ, complete=True)
    assert now() == pytest.approx(2.0, abs=0.01)
    assert len(desk.first) == 1


async def test_a_stopped_turn_tells_what_was_heard(fakes: ModuleType, client: ModuleType) -> None:
    """What was sent and not played yet does not count; nothing follows, though more audio is still being made."""
    desk = Desk(fakes, client)
    async with desk.at_work() as speaker:
        speaker.say(await desk.reply(1, 5.0, whole=False))
        await asyncio.sleep(1.5)
        assert speaker.stop(1) == pytest.approx(1.5 * TTS_RATE_HZ, abs=10)
        sent = len(desk.client.frames)
    assert now() == pytest.approx(1.5, abs=0.01)
    await asyncio.sleep(5)
    assert len(desk.client.frames) == sent
    assert AudioSent(1) not in desk.facts


async def test_a_turn_that_waits_for_its_audio_can_be_stopped(fakes: ModuleType, client: ModuleType) -> None:
    """Synthesis may never come back with the rest: stopping leaves nobody waiting for it."""
    desk = Desk(fakes, client)
    async with desk.at_work() as speaker:
        speaker.say(await desk.reply(1, 0.5, whole=False))
        await asyncio.sleep(2.0)
        assert speaker.stop(1) == 12_000
    assert now() == pytest.approx(2.0, abs=0.01)


async def test_a_frame_that_waits_is_dropped_with_its_turn(fakes: ModuleType, client: ModuleType) -> None:
    """Behind a slow client a frame may be queued when its turn is stopped: it must not come after that."""
    desk = Desk(fakes, client)
    async with desk.at_work() as speaker:
        desk.client.reads = False
        desk.outbox.send('{"type":"warning"}')
        speaker.say(await desk.reply(1, 5.0))
        await asyncio.sleep(0.5)
        assert speaker.stop(1) == 0
        desk.outbox.send('{"type":"interrupted"}')
        desk.client.read_again()
        await asyncio.sleep(0.5)
    assert desk.client.kinds == ["warning", "interrupted"]
    np.testing.assert_equal(desk.first, [])
