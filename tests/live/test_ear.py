"""The ear turns audio into facts: by samples, whatever the chunks, and with the last word kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.errors import EngineFault
from engines.protocols import STT_RATE_HZ
from server.exam.facts import (
    Fact,
    ListeningStopped,
    PendingHeard,
    SegmentClosed,
    SpeechPaused,
    SpeechStarted,
    SpeechSustained,
    StockTaken,
    TurnEnded,
    UtteranceHeard,
)
from server.live.ear import BYTES_PER_S, STREAM_S, BacklogExceeded, Ear
from server.live.recogniser import Pace, Recogniser
from server.live.stages import Stages
from server.speech.endpoint import EndpointRules

RULES = EndpointRules()
chunk_sizes = st.lists(st.integers(0, 9_001), max_size=40)


class Desk:
    """An ear at work over a fake detector and a fake recogniser; its facts in order."""

    def __init__(self, fakes: ModuleType, rules: EndpointRules = RULES) -> None:
        self.sounds = fakes.Sounds(STT_RATE_HZ)
        self.vad, self.stt = fakes.LevelDetector(), fakes.ReadingRecogniser(self.sounds)
        self.facts: list[Fact] = []
        self._rules = rules

    @asynccontextmanager
    async def at_work(self, max_backlog_s: float = 30.0) -> Any:
        stages = Stages(lambda: asyncio.get_running_loop().time(), lambda stage, seconds: None)
        recogniser = Recogniser(self.stt, "fr", self.facts.append, stages, Pace())
        self.ear = Ear(self.vad, recogniser, self._rules, self.facts.append, max_backlog_s)
        self.tasks = [asyncio.ensure_future(part.run()) for part in (recogniser, self.ear)]
        try:
            yield self.ear
        finally:
            for task in self.tasks:
                task.cancel()
            await asyncio.gather(*self.tasks, return_exceptions=True)

    async def finish(self) -> list[Fact]:
        """Stop the ear and return its facts once everything was heard."""
        self.ear.stop()
        await self.tasks[1]
        return self.facts

    def word(self, word: str, seconds: float = 0.5) -> bytes:
        return pcm(self.sounds.make(word, seconds))

    @property
    def texts(self) -> list[str]:
        return [fact.text for fact in self.facts if isinstance(fact, UtteranceHeard)]


def pcm(samples: np.ndarray) -> bytes:
    return samples.astype("<i2").tobytes()


def silence(seconds: float) -> bytes:
    return bytes(2 * round(seconds * STT_RATE_HZ))


def chunked(audio: bytes, sizes: list[int]) -> list[bytes]:
    """Cut ``audio`` by ``sizes``, as far as they go; the rest is one chunk."""
    ends = [*np.minimum(np.cumsum([0, *sizes]), len(audio)).tolist(), len(audio)]
    return [audio[start:end] for start, end in pairwise(ends)]


def kinds(facts: list[Fact]) -> list[type[Fact]]:
    return [type(fact) for fact in facts]


async def settle() -> None:
    await asyncio.sleep(10)


async def test_chunks_that_hold_nothing_are_no_fault(fakes: ModuleType) -> None:
    """Empty chunks and a lone byte bring no fact and end nothing."""
    desk = Desk(fakes)
    async with desk.at_work() as ear:
        for chunk in (b"", b"\1", b"", b"\1"):
            await ear.hear(chunk)
        assert kinds(await desk.finish()) == [ListeningStopped, PendingHeard]


async def test_a_detector_that_answers_nonsense_is_told_and_loses_no_words(fakes: ModuleType) -> None:
    """The fault is raised; the segment that was open is closed first, so that its text still comes."""
    desk = Desk(fakes)
    desk.vad.fault_after = 40
    async with desk.at_work() as ear:
        await ear.hear(desk.word("bonjour", 1.0) + desk.word("madame", 1.0))
        await settle()
        with pytest.raises(EngineFault):
            desk.tasks[1].result()
        assert desk.texts == ["bonjour madame"]
        assert desk.vad.closed == 1


async def test_a_detector_that_fails_once_is_asked_once_more(fakes: ModuleType) -> None:
    """One fault costs nothing: the window is given again, and no word is lost."""
    desk = Desk(fakes)
    desk.vad.fault_at = 20
    async with desk.at_work() as ear:
        await ear.hear(desk.word("bonjour", 1.0) + desk.word("madame", 1.0))
        await desk.finish()
        assert desk.texts == ["bonjour madame"]


async def test_audio_that_is_not_taken_exceeds_the_backlog(fakes: ModuleType) -> None:
    """When the stream stays full for the limit, the next chunk is refused: nothing is dropped in silence."""
    desk = Desk(fakes)
    desk.vad.window_s = 1_000.0
    async with desk.at_work(max_backlog_s=30.0) as ear:
        await ear.hear(silence(STREAM_S + 0.1))
        with pytest.raises(BacklogExceeded):
            await ear.hear(silence(0.1))
        assert asyncio.get_running_loop().time() == pytest.approx(30.0, abs=0.01)


async def test_a_full_stream_makes_the_reader_wait(fakes: ModuleType) -> None:
    """A client faster than detection is held at the socket until there is room, and loses nothing."""
    desk = Desk(fakes)
    async with desk.at_work() as ear:
        taken = 0
        for _ in range(100):
            await ear.hear(silence(1.0))
            taken += BYTES_PER_S
            assert taken / 1024 - desk.vad.windows <= (STREAM_S + 1) * BYTES_PER_S / 1024 + 1
        await desk.finish()
        assert desk.vad.windows == 100 * STT_RATE_HZ // 512


async def test_a_turn_is_told_step_by_step(fakes: ModuleType) -> None:
    """A turn's facts in order, with the segment's number and positions on the audio clock."""
    desk = Desk(fakes)
    async with desk.at_work() as ear:
        await ear.hear(silence(1.0) + desk.word("bonjour") + silence(2.5))
        await settle()
    assert kinds(desk.facts) == [
        SpeechStarted,
        SpeechSustained,
        SpeechPaused,
        SegmentClosed,
        TurnEnded,
        UtteranceHeard,
    ]
    started, closed, ended, heard = desk.facts[0], desk.facts[3], desk.facts[4], desk.facts[5]
    assert started.at_ms == pytest.approx(1_000, abs=32)
    assert (closed.segment, ended.last_segment, heard.segment) == (1, 1, 1)
    assert (heard.start_ms, heard.end_ms) == (closed.start_ms, closed.end_ms)
    assert closed.start_ms == pytest.approx(700, abs=64)
    assert closed.end_ms == pytest.approx(1_700, abs=64)
    assert ended.at_ms == pytest.approx(3_500, abs=64)
    assert desk.texts == ["bonjour"]


async def test_the_beginning_of_the_first_word_is_recognised(fakes: ModuleType) -> None:
    """Detection is late by nature; the pre-roll gives recognition what came before it."""
    desk = Desk(fakes)
    async with desk.at_work() as ear:
        await ear.hear(silence(1.0) + desk.word("je", 0.1) + desk.word("voudrais") + silence(1.0))
        await settle()
    assert desk.texts == ["je voudrais"]


async def test_a_stop_in_mid_word_keeps_the_word(fakes: ModuleType) -> None:
    """What was spoken up to the stop is recognised, and the end is told after its text."""
    desk = Desk(fakes)
    async with desk.at_work() as ear:
        await ear.hear(desk.word("bonjour") + desk.word("madame", 0.13))
        facts = await desk.finish()
    assert desk.texts == ["bonjour madame"]
    assert isinstance(facts[-1], PendingHeard)
    assert kinds(facts).count(PendingHeard) == kinds(facts).count(ListeningStopped) == 1


async def test_the_last_samples_are_recognised(fakes: ModuleType) -> None:
    """The stream need not end with a whole window: the rest of it is heard too."""
    desk = Desk(fakes)
    async with desk.at_work() as ear:
        await ear.hear(desk.word("bonjour", 0.512) + desk.word("madame", 0.03))
        await desk.finish()
        assert desk.vad.windows == 17


async def test_stopping_tells_how_long_the_last_words_will_take(fakes: ModuleType) -> None:
    """The flush is told the time of everything that is on its way: queued, open, and not detected yet."""
    desk = Desk(fakes)
    async with desk.at_work() as ear:
        await ear.hear(desk.word("bonjour", 3.0))
        ear.stop()
        (told,) = desk.facts
        assert isinstance(told, ListeningStopped)
        assert told.expected_s == pytest.approx(1.5, abs=0.1)


async def test_stopping_twice_is_told_once(fakes: ModuleType) -> None:
    """A second stop does nothing, and nothing is heard after the first."""
    desk = Desk(fakes)
    async with desk.at_work() as ear:
        ear.stop()
        ear.stop()
        ear.resume()
        ear.activity_start()
        for _ in range(3):
            await ear.hear(desk.word("bonjour", STREAM_S))
        assert kinds(await desk.finish()) == [ListeningStopped, PendingHeard]
        assert asyncio.get_running_loop().time() < 0.01


async def test_audio_during_a_pause_is_dropped(fakes: ModuleType) -> None:
    """An interruption closes the open segment where it is; what comes in it is not heard, what comes after is."""
    desk = Desk(fakes)
    async with desk.at_work() as ear:
        await ear.hear(desk.word("avant"))
        ear.pause()
        await ear.hear(desk.word("pendant"))
        await settle()
        ear.resume()
        await ear.hear(desk.word("après"))
        await desk.finish()
    assert desk.texts == ["avant", "après"]


async def test_audio_that_waited_into_a_pause_is_dropped(fakes: ModuleType) -> None:
    """A chunk that waits for room when the interruption begins belongs to it, and opens no segment in it."""
    desk = Desk(fakes)
    desk.vad.window_s = 0.01
    async with desk.at_work() as ear:
        await ear.hear(silence(STREAM_S + 1))
        waiting = asyncio.ensure_future(ear.hear(desk.word("pendant")))
        await asyncio.sleep(0)
        ear.pause()
        await waiting
        await settle()
        assert kinds(desk.facts) == []


async def test_an_odd_number_of_dropped_bytes_shifts_no_sample(fakes: ModuleType) -> None:
    """Chunks need not end at a sample; whatever was dropped, what follows is read at the right byte."""
    desk = Desk(fakes)
    dropped, after = desk.word("pendant"), desk.word("après")
    async with desk.at_work() as ear:
        ear.pause()
        await ear.hear(dropped[:-1])
        ear.resume()
        await ear.hear(dropped[-1:] + after)
        await desk.finish()
    assert desk.texts == ["après"]


async def test_stock_is_the_open_segment_as_far_as_it_goes(fakes: ModuleType) -> None:
    """Taking stock closes nothing: the same words come again with the whole segment."""
    desk = Desk(fakes)
    async with desk.at_work() as ear:
        await ear.hear(desk.word("bonjour") + desk.word("madame"))
        await asyncio.sleep(0.001)
        ear.take_stock(3)
        await settle()
        assert desk.facts[-1] == StockTaken(3, "bonjour madame")
        await ear.hear(desk.word("merci"))
        await desk.finish()
    assert desk.texts == ["bonjour madame merci"]


async def test_stock_of_silence_is_empty(fakes: ModuleType) -> None:
    """With no segment open there is nothing to recognise, and the answer comes all the same."""
    desk = Desk(fakes)
    async with desk.at_work() as ear:
        ear.take_stock(1)
        await ear.hear(desk.word("bonjour") + silence(1.0))
        await settle()
        ear.take_stock(2)
        await settle()
    assert [fact for fact in desk.facts if isinstance(fact, StockTaken)] == [StockTaken(1, ""), StockTaken(2, "")]


async def test_push_to_talk_decides_alone(fakes: ModuleType) -> None:
    """With manual rules, silence ends and speech begins nothing: the two marks do, in their place in the stream."""
    desk = Desk(fakes, replace(RULES, manual=True))
    async with desk.at_work() as ear:
        await ear.hear(desk.word("avant") + silence(1.0))
        ear.activity_start()
        await ear.hear(desk.word("bonjour") + silence(5.0) + desk.word("madame"))
        ear.activity_end()
        await ear.hear(desk.word("après") + silence(1.0))
        await desk.finish()
    assert desk.texts == ["bonjour madame"]
    assert kinds(desk.facts).count(TurnEnded) == 1


async def test_ten_minutes_keep_no_audio_that_nobody_needs(fakes: ModuleType) -> None:
    """Silence is forgotten as it passes: what is kept is bounded by the pre-roll, not by the session."""
    desk = Desk(fakes)
    async with desk.at_work() as ear:
        for _ in range(600):
            await ear.hear(silence(1.0))
        await asyncio.sleep(0.1)
        assert len(ear._tape.cut(0, ear._tape.end)) < STT_RATE_HZ


@settings(max_examples=40, deadline=None)
@given(
    sizes=chunk_sizes, paused=chunk_sizes, resumed=chunk_sizes, at=st.integers(0, 40_000), end=st.integers(0, 40_000)
)
def test_chunks_make_no_difference(
    run: Callable[..., Any],
    fakes: ModuleType,
    sizes: list[int],
    paused: list[int],
    resumed: list[int],
    at: int,
    end: int,
) -> None:
    """However audio is chunked, before, in and after an interruption, the facts are the same to the sample."""

    async def listen(before: list[int], during: list[int], after: list[int]) -> list[Fact]:
        desk = Desk(fakes)
        talk = [desk.word(word, 0.4) + silence(0.7) for word in ("un", "deux", "trois")]
        first, second = talk[0] + talk[1][:at], talk[1][at:] + talk[2][:end]
        async with desk.at_work() as ear:
            for chunk in chunked(first, before):
                await ear.hear(chunk)
            ear.pause()
            for chunk in chunked(second, during):
                await ear.hear(chunk)
            ear.resume()
            for chunk in chunked(talk[2][end:], after):
                await ear.hear(chunk)
            return await desk.finish()

    expected = run(listen([], [], []))
    assert _audible(run(listen(sizes, paused, resumed))) == _audible(expected)


def _audible(facts: list[Fact]) -> list[Fact]:
    """Return what does not depend on when the ear was asked: all but the estimate at the stop."""
    return sorted((fact for fact in facts if not isinstance(fact, ListeningStopped)), key=repr)
