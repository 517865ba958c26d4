"""Segments become text in the order in which they were spoken, and each is reported, whatever happens to it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from engines.errors import EngineUnavailable
from engines.protocols import STT_RATE_HZ
from server.exam.facts import Fact, StockTaken, UtteranceHeard
from server.live.recogniser import FIRST_GUESS, PATIENCE_S, Pace, Recogniser, Segment
from server.live.stages import Stages

GONE = EngineUnavailable("stt", "refused")


class Desk:
    """A recogniser at work over a fake that reads words from levels."""

    def __init__(self, fakes: ModuleType, speed: float = 0.1) -> None:
        self.sounds = fakes.Sounds(STT_RATE_HZ)
        self.stt = fakes.ReadingRecogniser(self.sounds, speed=speed)
        self.facts: list[Fact] = []
        self.stages = Stages(lambda: asyncio.get_running_loop().time(), lambda stage, seconds: None)

    @asynccontextmanager
    async def at_work(self) -> Any:
        recogniser = Recogniser(self.stt, "fr", self.facts.append, self.stages, Pace())
        task = asyncio.ensure_future(recogniser.run())
        yield recogniser
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled(), f"the recogniser died: {task.exception()!r}"

    def segment(self, number: int, word: str, seconds: float = 1.0) -> Segment:
        samples = self.sounds.make(word, seconds)
        return Segment(number, 16_000, 16_000 + len(samples), 8_000, (4_800,), samples)


def texts(facts: list[Fact]) -> list[str]:
    return [fact.text if isinstance(fact, UtteranceHeard) else fact.open_text for fact in facts]


async def test_a_segment_whose_recognition_fails_is_reported_as_lost(fakes: ModuleType) -> None:
    """Its utterance comes without text, and says that words may be missing; the next segment is served."""
    desk = Desk(fakes)
    desk.stt.faults.append(GONE)
    async with desk.at_work() as recogniser:
        recogniser.submit(desk.segment(1, "bonjour"))
        recogniser.submit(desk.segment(2, "merci"))
        await recogniser.drained()
    assert [(fact.segment, fact.text, fact.lost) for fact in desk.facts] == [(1, "", True), (2, "merci", False)]


async def test_a_segment_that_has_not_gone_on_has_the_text_of_its_stock(fakes: ModuleType) -> None:
    """It was recognised in the pause; closing it costs nothing. One that went on is recognised as a whole."""
    desk = Desk(fakes)
    async with desk.at_work() as recogniser:
        first, longer = desk.segment(1, "bonjour"), desk.segment(2, "merci", 2.0)
        recogniser.take_stock(1, first.start, first.samples)
        recogniser.submit(first)
        recogniser.take_stock(2, longer.start, longer.samples[:16_000])
        recogniser.submit(longer)
        await recogniser.drained()
    assert texts(desk.facts) == ["bonjour", "bonjour", "merci", "merci"]
    assert desk.stt.heard == ["bonjour", "merci", "merci"]


@pytest.mark.parametrize("begun", [False, True], ids=["waiting", "under way"])
async def test_dropped_stock_is_not_told_and_holds_nobody_up(fakes: ModuleType, begun: bool) -> None:
    """Its request is closed; the segment behind it is recognised."""
    desk = Desk(fakes)
    async with desk.at_work() as recogniser:
        whole = desk.segment(1, "bonjour")
        recogniser.take_stock(1, whole.start, whole.samples)
        if begun:
            await asyncio.sleep(0.05)
        recogniser.drop_stock(1)
        recogniser.submit(whole)
        await recogniser.drained()
    assert [(type(fact).__name__, text) for fact, text in zip(desk.facts, texts(desk.facts), strict=True)] == [
        ("UtteranceHeard", "bonjour")
    ]
    assert desk.stt.heard == ["bonjour"]


async def test_an_empty_segment_asks_no_engine(fakes: ModuleType) -> None:
    """No samples: its utterance is empty, and nothing was transcribed."""
    desk = Desk(fakes)
    empty = Segment(1, 0, 0, 0, (), np.zeros(0, dtype=np.int16))
    async with desk.at_work() as recogniser:
        recogniser.submit(empty)
        recogniser.take_stock(3, 0, empty.samples)
        await recogniser.drained()
    assert texts(desk.facts) == ["", ""]
    assert desk.stt.heard == []


async def test_stock_that_cannot_be_taken_is_answered(fakes: ModuleType) -> None:
    """A relance waits for the answer: it comes, empty."""
    desk = Desk(fakes)
    desk.stt.always = GONE
    async with desk.at_work() as recogniser:
        recogniser.take_stock(3, 0, desk.segment(1, "bonjour").samples)
        await recogniser.drained()
    assert desk.facts == [StockTaken(3, "")]


async def test_a_cough_is_heard_without_text_and_not_lost(fakes: ModuleType) -> None:
    """Nothing said is not the same as words missing."""
    desk = Desk(fakes)
    async with desk.at_work() as recogniser:
        recogniser.submit(desk.segment(1, ""))
        await recogniser.drained()
    assert [(fact.text, fact.lost, fact.confidence) for fact in desk.facts] == [("", False, 0.9)]


async def test_text_comes_in_the_order_of_speech(fakes: ModuleType) -> None:
    """One request at a time: a long segment is not overtaken, stock waits for what was before it."""
    desk = Desk(fakes)
    async with desk.at_work() as recogniser:
        recogniser.submit(desk.segment(1, "un", seconds=20.0))
        recogniser.take_stock(9, 0, desk.segment(0, "deux").samples)
        recogniser.submit(desk.segment(2, "trois", seconds=0.2))
        await recogniser.drained()
    assert texts(desk.facts) == ["un", "deux", "trois"]


async def test_positions_are_told_in_milliseconds(fakes: ModuleType) -> None:
    """Offsets, voice and pauses are samples on the way in and milliseconds on the way out."""
    desk = Desk(fakes)
    async with desk.at_work() as recogniser:
        recogniser.submit(desk.segment(4, "bonjour"))
        await recogniser.drained()
    assert desk.facts == [UtteranceHeard(4, "bonjour", 1_000, 2_000, 500, 0.9, lost=False, pauses_ms=(300,))]


async def test_the_expected_time_follows_the_measured_speed(fakes: ModuleType) -> None:
    """What is pending is taken to need as long as segments have needed lately, on this machine."""
    desk = Desk(fakes, speed=2.0)
    async with desk.at_work() as recogniser:
        recogniser.submit(desk.segment(1, "un", seconds=10.0))
        assert recogniser.expected_s() == pytest.approx(10 * FIRST_GUESS)
        assert recogniser.expected_s(more_samples=STT_RATE_HZ) == pytest.approx(11 * FIRST_GUESS)
        await recogniser.drained()
        assert recogniser.expected_s() == 0.0
        for number in range(2, 20):
            recogniser.submit(desk.segment(number, "un"))
        await recogniser.drained()
        assert recogniser.expected_s(more_samples=10 * STT_RATE_HZ) == pytest.approx(20.0, rel=0.02)


async def test_a_slow_engine_is_given_time_in_proportion(fakes: ModuleType) -> None:
    """The deadline grows with the audio and the measured speed: a slow machine is not a fault, a dead one is."""
    slow, dead = Desk(fakes, speed=2.0), Desk(fakes, speed=1e6)
    async with slow.at_work() as recogniser:
        recogniser.submit(slow.segment(1, "un", seconds=10.0))
        await recogniser.drained()
    begun = asyncio.get_running_loop().time()
    async with dead.at_work() as recogniser:
        recogniser.submit(dead.segment(1, "un", seconds=10.0))
        await recogniser.drained()
    waited = asyncio.get_running_loop().time() - begun
    assert [fact.lost for fact in slow.facts + dead.facts] == [False, True]
    assert waited == pytest.approx(PATIENCE_S + 4 * 10 * FIRST_GUESS, abs=0.01)


async def test_a_failure_says_nothing_about_speed(fakes: ModuleType) -> None:
    """An engine that refuses at once must not make the next deadlines short."""
    desk = Desk(fakes)
    desk.stt.always = GONE
    desk.stt.speed = 0.0
    async with desk.at_work() as recogniser:
        for number in range(10):
            recogniser.submit(desk.segment(number, "un"))
        await recogniser.drained()
        assert recogniser.expected_s(more_samples=STT_RATE_HZ) == pytest.approx(FIRST_GUESS)
    assert desk.stages.latency() == {}


async def test_room_is_waited_for(fakes: ModuleType) -> None:
    """While more audio is pending than the limit, whoever asks waits; with less, nobody does."""
    desk = Desk(fakes, speed=0.5)
    async with desk.at_work() as recogniser:
        await recogniser.wait_for_room(10.0)
        recogniser.submit(desk.segment(1, "un", seconds=8.0))
        recogniser.submit(desk.segment(2, "deux", seconds=8.0))
        await recogniser.wait_for_room(10.0)
        assert asyncio.get_running_loop().time() == pytest.approx(4.0, abs=0.01)
