"""The voice makes the audio of one tagged turn and tells how it goes, in facts under the turn's number."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from engines.errors import EngineUnavailable
from engines.protocols import TTS_RATE_HZ
from server.exam.bank import Need, sentences
from server.exam.brief import Prompt, ReplyBrief
from server.exam.facts import Fact, ReplyFailed, ReplyReady, ReplyVoiced, SentenceVoiced
from server.live.composer import Composer
from server.live.load import Load
from server.live.recogniser import Pace
from server.live.stages import Stages
from server.live.voice import SPOKEN_CHARS_PER_S, Voice
from server.speech.sentences import SentenceSplitter

GONE = EngineUnavailable("tts", "refused")
FALLBACK = sentences("fr", Need.STATEMENT)[0]
PROMPT = Prompt((("user", "Bonjour."),), 40)


class Open:
    def feed(self, sentence: str) -> list[str]:
        return [sentence]

    def finish(self) -> list[str]:
        return []


class Desk:
    """A voice over scripted engines, its facts with their times."""

    def __init__(self, fakes: ModuleType, *answers: Any) -> None:
        self.sounds = fakes.Sounds(TTS_RATE_HZ)
        self.llm, self.tts = fakes.ScriptedModel(deque(answers)), fakes.ScriptedVoice(self.sounds)
        self.bank = fakes.bank(self.sounds)
        self.facts: list[Fact] = []
        self.times: list[float] = []
        self.load = Load(Pace(), most_replies=2)
        self.stages = Stages(self._now, lambda stage, seconds: None)

    @asynccontextmanager
    async def at_work(self) -> Any:
        async with asyncio.TaskGroup() as group:
            composer = Composer(self.llm, SentenceSplitter, 10.0)
            yield Voice(composer, self.tts, self.bank, group, self._post, self.stages, self.load, 10.0)

    async def make(self, *, asked: bool = True) -> list[np.ndarray]:
        """Prepare turn 1 and return all its blocks; the facts are in ``facts``."""
        async with self.at_work() as voice:
            voice.prepare(1, brief(asked=asked))
            reply = voice.commit(1)
        return [block async for block in reply.blocks()]

    def _post(self, fact: Fact) -> None:
        self.facts.append(fact)
        self.times.append(self._now())

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


def brief(*, asked: bool = True) -> ReplyBrief:
    return ReplyBrief((PROMPT,) if asked else (), Open, FALLBACK)


def samples(text: str) -> int:
    return round(len(text) / 15 * TTS_RATE_HZ)


async def fail(desk: Desk) -> None:
    async with desk.at_work() as voice:
        voice.prepare(1, brief())


async def test_a_model_that_fails_is_told(fakes: ModuleType) -> None:
    """No words: the turn fails under the engine's name, and nothing else is told of it."""
    desk = Desk(fakes, EngineUnavailable("llm", "refused"))
    await fail(desk)
    assert desk.facts == [ReplyFailed(1, "llm")]


async def test_a_synthesis_that_fails_before_any_sound_is_told(fakes: ModuleType) -> None:
    """Words without sound are no reply."""
    desk = Desk(fakes, "Bonjour madame. Entrez.")
    desk.tts.always = GONE
    await fail(desk)
    assert desk.facts == [ReplyFailed(1, "tts")]
    assert desk.llm.unfinished == 0


async def test_words_without_any_sound_are_a_failure(fakes: ModuleType) -> None:
    """A reply of which nothing can be heard must not leave the candidate waiting."""
    desk = Desk(fakes, "…")
    await fail(desk)
    assert desk.facts[-1] == ReplyFailed(1, "tts")
    assert ReplyReady(1) not in desk.facts


async def test_a_synthesis_that_breaks_off_keeps_what_was_made(fakes: ModuleType) -> None:
    """What there is is still heard: the broken sentence is told with the samples it has, and the reply is whole."""
    desk = Desk(fakes, "Bonjour madame. Nous avons deux chambres libres ce soir.")
    desk.tts.faults = deque([None, GONE])
    desk.tts.blocks_before_fault = 2
    blocks = [block async for block in await _blocks_of(desk)]
    assert desk.facts == [
        ReplyReady(1),
        SentenceVoiced(1, "Bonjour madame.", samples("Bonjour madame.")),
        SentenceVoiced(1, "Nous avons deux chambres libres ce soir.", 12_000),
        ReplyVoiced(1),
    ]
    assert sum(len(block) for block in blocks) == samples("Bonjour madame.") + 12_000


async def _blocks_of(desk: Desk) -> Any:
    async with desk.at_work() as voice:
        voice.prepare(1, brief())
        reply = voice.commit(1)
    return reply.blocks()


async def test_a_reply_is_ready_at_its_first_block(fakes: ModuleType) -> None:
    """Ready comes once, before the sentence's length is known; each sentence's samples are its blocks'."""
    desk = Desk(fakes, "Bonjour madame. Entrez donc.")
    blocks = await desk.make()
    assert desk.facts == [
        ReplyReady(1),
        SentenceVoiced(1, "Bonjour madame.", samples("Bonjour madame.")),
        SentenceVoiced(1, "Entrez donc.", samples("Entrez donc.")),
        ReplyVoiced(1),
    ]
    assert [word for word, _ in desk.sounds.read(np.concatenate(blocks))] == ["Bonjour madame.", "Entrez donc."]
    assert desk.stages.latency()["reply"]["max"] == pytest.approx(desk.times[0] * 1000, abs=1)


async def test_a_sentence_of_the_bank_needs_no_synthesis(fakes: ModuleType) -> None:
    """The bank's sentences were spoken ahead of time: they are ready at once, even with every engine gone."""
    desk = Desk(fakes)
    desk.tts.always = GONE
    (block,) = await desk.make(asked=False)
    np.testing.assert_array_equal(block, desk.bank[FALLBACK])
    assert desk.facts == [ReplyReady(1), SentenceVoiced(1, FALLBACK, samples(FALLBACK)), ReplyVoiced(1)]
    assert desk.times[0] < 0.01


async def test_a_dropped_turn_ends_its_requests_at_once(fakes: ModuleType) -> None:
    """Dropping cancels LLM and TTS; the sentence in the making is told with the length that it would have had."""
    sentence = "Nous avons beaucoup de chambres avec vue sur la mer et le port."
    desk = Desk(fakes, f"{sentence} " * 3)
    async with desk.at_work() as voice:
        voice.prepare(1, brief())
        await anext(voice.commit(1).blocks())
        voice.drop(1)
        dropped_at = desk._now()
    assert desk._now() == pytest.approx(dropped_at, abs=0.001)
    assert (desk.llm.unfinished, desk.tts.unfinished) == (0, 0)
    length = round(len(sentence) / SPOKEN_CHARS_PER_S * TTS_RATE_HZ)
    assert desk.facts == [ReplyReady(1), SentenceVoiced(1, sentence, length)]


async def test_a_turn_dropped_before_its_first_word_tells_nothing(fakes: ModuleType) -> None:
    """No sentence was begun, so there is none to tell of."""
    desk = Desk(fakes, "Bonjour madame.")
    async with desk.at_work() as voice:
        voice.prepare(1, brief())
        await asyncio.sleep(0.1)
        voice.drop(1)
    assert desk.facts == []
    assert desk.llm.unfinished == 0


async def test_dropping_what_is_not_there_is_no_fault(fakes: ModuleType) -> None:
    """A turn that was never prepared, or was dropped before, or is finished, can be dropped."""
    desk = Desk(fakes, "Bonjour.")
    async with desk.at_work() as voice:
        voice.drop(7)
        voice.prepare(1, brief())
        await asyncio.sleep(5)
        facts = list(desk.facts)
        voice.drop(1)
        voice.drop(1)
    assert desk.facts == facts
    assert facts[-1] == ReplyVoiced(1)


async def test_turns_are_made_side_by_side(fakes: ModuleType) -> None:
    """Every fact carries its own turn's number, and each turn has its own audio."""
    desk = Desk(fakes, "Un.", "Deux.")
    async with desk.at_work() as voice:
        voice.prepare(1, brief())
        voice.prepare(2, brief())
        replies = [voice.commit(1), voice.commit(2)]
    heard = [desk.sounds.read(np.concatenate([block async for block in reply.blocks()]))[0][0] for reply in replies]
    assert heard == ["Un.", "Deux."]
    assert {fact.turn for fact in desk.facts if isinstance(fact, ReplyVoiced)} == {1, 2}


async def test_synthesis_waits_when_enough_lies_ready(fakes: ModuleType) -> None:
    """Memory is bounded: a reply that nobody plays stops being made, and goes on when it is played."""
    desk = Desk(fakes, " ".join(["Voici encore une phrase de plus."] * 400))
    desk.llm.gap_s = 0.0
    async with desk.at_work() as voice:
        voice.prepare(1, brief())
        reply = voice.commit(1)
        await asyncio.sleep(500)
        asked = len(desk.tts.asked)
        await asyncio.sleep(500)
        assert len(desk.tts.asked) == asked < 400
        blocks = [len(block) async for block in reply.blocks()]
    assert sum(blocks) == 400 * samples("Voici encore une phrase de plus.")
