"""The examiner's voice: makes the audio of one tagged turn, unheard until the coordinator says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing

import numpy as np
from numpy.typing import NDArray

from engines.errors import EngineError
from engines.protocols import TTS_RATE_HZ, TextToSpeech
from server.exam.brief import Prompt, ReplyBrief
from server.exam.facts import Fact, ReplyFailed, ReplyReady, ReplyVoiced, SentenceVoiced
from server.live.composer import Composer
from server.live.load import Load
from server.live.stages import Draft, Stages

Audio = NDArray[np.int16]

READY_BLOCKS = 256
"""Blocks of audio that lie ready at most; when that many do, synthesis waits until one is played."""

SPOKEN_CHARS_PER_S = 15.0
"""Pace of the Kokoro voices at speed 1, for the length of a sentence that was cut short while it was being made."""


class Reply:
    """One turn's audio in the making; ``stages`` are counted once it is said."""

    def __init__(self, turn: int, stages: Draft) -> None:
        self.turn = turn
        self.stages = stages
        self.samples = 0
        self._blocks: asyncio.Queue[Audio | None] = asyncio.Queue(READY_BLOCKS)
        self._sentence: str | None = None
        self._sentence_start = 0

    def begin(self, sentence: str) -> None:
        """The blocks from now on are of ``sentence``."""
        self._sentence, self._sentence_start = sentence, self.samples

    def complete(self) -> SentenceVoiced | None:
        """The sentence's blocks are all there: return its length, once."""
        return self._close(at_least=0)

    def abandon(self) -> SentenceVoiced | None:
        """The sentence will not be finished: return the length that it would have had."""
        return self._close(at_least=round(len(self._sentence or "") / SPOKEN_CHARS_PER_S * TTS_RATE_HZ))

    def _close(self, at_least: int) -> SentenceVoiced | None:
        if (sentence := self._sentence) is None:
            return None
        self._sentence = None
        return SentenceVoiced(self.turn, sentence, max(self.samples - self._sentence_start, at_least))

    async def add(self, block: Audio) -> None:
        """Append a block; waits while too many lie ready."""
        await self._blocks.put(block)
        self.samples += len(block)

    async def end(self) -> None:
        """No more blocks will come."""
        await self._blocks.put(None)

    async def blocks(self) -> AsyncGenerator[Audio]:
        """Yield the blocks in order, waiting for those that are still being made."""
        while (block := await self._blocks.get()) is not None:
            yield block


class Voice:
    """Makes replies, one task each, and tells how each one goes as facts under its turn's number."""

    def __init__(
        self,
        composer: Composer,
        tts: TextToSpeech,
        bank: Mapping[str, Audio],
        group: asyncio.TaskGroup,
        post: Callable[[Fact], None],
        stages: Stages,
        load: Load,
        timeout_s: float,
    ) -> None:
        self._composer = composer
        self._tts = tts
        self._bank = bank
        self._group = group
        self._post = post
        self._stages = stages
        self._load = load
        self._timeout_s = timeout_s
        self._warming: asyncio.Task[None] | None = None
        self._replies: dict[int, tuple[Reply, asyncio.Task[None]]] = {}

    def prepare(self, turn: int, brief: ReplyBrief) -> None:
        """Begin to make the audio of ``turn``."""
        self._stop_warming()
        reply = Reply(turn, self._stages.draft())
        self._replies[turn] = reply, self._group.create_task(self._make(reply, brief), name=f"voice-{turn}")

    def commit(self, turn: int) -> Reply:
        """Return the reply of ``turn``, which must have been prepared and not dropped: it is said from now on."""
        reply, _ = self._replies[turn]
        reply.stages.commit()
        return reply

    def warm_up(self, prompt: Prompt) -> None:
        """Have the LLM read ``prompt``, so that what comes after it finds its server's cache warm."""
        self._stop_warming()
        self._warming = self._group.create_task(self._composer.warm_up(prompt, self._stages), name="warm-up")

    def drop(self, turn: int) -> None:
        """Cancel the turn's requests and forget it; a turn that is not known is no fault."""
        if made := self._replies.pop(turn, None):
            reply, task = made
            task.cancel()
            self._tell(reply.abandon())

    def _stop_warming(self) -> None:
        if self._warming:
            self._warming.cancel()

    async def _make(self, reply: Reply, brief: ReplyBrief) -> None:
        with self._load.making():
            await self._compose(reply, brief)

    async def _compose(self, reply: Reply, brief: ReplyBrief) -> None:
        begun = reply.stages.now()
        try:
            async with aclosing(self._composer.sentences(brief, reply.stages)) as sentences:
                async for sentence in sentences:
                    await self._voice(reply, sentence, begun)
        except EngineError as error:
            if not reply.samples:
                self._post(ReplyFailed(reply.turn, error.engine))
                return
            self._tell(reply.complete())
        if not reply.samples:
            self._post(ReplyFailed(reply.turn, "tts"))
            return
        await reply.end()
        self._post(ReplyVoiced(reply.turn))

    async def _voice(self, reply: Reply, sentence: str, begun: float) -> None:
        reply.begin(sentence)
        async with aclosing(self._speak(sentence, reply.stages)) as blocks:
            async for block in blocks:
                if not reply.samples:
                    reply.stages.since("reply", begun)
                    self._post(ReplyReady(reply.turn))
                await reply.add(block)
        self._tell(reply.complete())

    def _tell(self, voiced: SentenceVoiced | None) -> None:
        if voiced:
            self._post(voiced)

    async def _speak(self, sentence: str, stages: Draft) -> AsyncGenerator[Audio]:
        if (ready := self._bank.get(sentence)) is not None:
            yield ready
            return
        begun, first = stages.now(), True
        async with aclosing(self._tts.speak(sentence, timeout_s=self._timeout_s)) as blocks:
            async for block in blocks:
                if first:
                    stages.since("tts_first_audio", begun)
                    first = False
                yield block
