"""The contract's own test: engines that break it, each in one way, are found out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

import numpy as np
import pytest

from engines.contract import SHORT_S, Broken, check_llm, check_stt, check_tts
from engines.errors import EngineTimeout
from engines.proofs import SENTENCE
from engines.protocols import Delta, Transcript, Usage

pytestmark = pytest.mark.anyio

USAGE = Usage(10, 0, 5)
LOUD = np.full(24_000, 1_000, np.int16)


class Stt:
    """Hears every loud second as the sentence."""

    confidence, silence = 0.9, ""

    async def transcribe(self, samples, *, language, prompt="", timeout_s) -> Transcript:
        await asyncio.sleep(0)
        if timeout_s <= SHORT_S:
            self.late()
        text = SENTENCE[language] if samples.any() else self.silence
        return Transcript(text, self.confidence, round(len(samples) / 16), 1)

    def late(self) -> None:
        raise EngineTimeout("stt", "late")


class Llm:
    """Says two words, or fills in the schema."""

    usage: Sequence[Usage] = (USAGE,)
    words: Sequence[str] = ("Bonjour", " vous.")
    filled = '{"level": 3}'

    async def stream(self, messages, *, max_tokens, temperature=0.7, schema=None, timeout_s) -> AsyncGenerator:
        await asyncio.sleep(0)
        if timeout_s <= SHORT_S:
            raise EngineTimeout("llm", "late")
        for word in [self.filled] if schema else self.words:
            yield Delta(word)
        for usage in self.usage:
            yield usage


class Tts:
    """Speaks a second for each line."""

    block = LOUD

    async def speak(self, text, *, timeout_s) -> AsyncGenerator:
        await asyncio.sleep(0)
        if timeout_s <= SHORT_S:
            raise EngineTimeout("tts", "late")
        for _ in self.lines(text):
            yield self.block

    def lines(self, text: str) -> list[str]:
        return text.splitlines()


async def test_engines_that_keep_it_pass() -> None:
    """Nothing is found where nothing is wrong."""
    await check_stt(Stt(), "fr")
    await check_llm(Llm(), "fr")
    await check_tts(Tts(), "fr")


class Inventive(Stt):
    silence = "Merci d'avoir regardé."


class TooSure(Stt):
    confidence = 1.5


class Timeless(Stt):
    def late(self) -> None:
        """Answer all the same."""


class Talkative(Llm):
    usage = (USAGE, USAGE)


class Stammering(Llm):
    words = ("Bonjour", "", " vous.")


class Free(Llm):
    filled = '{"level": "three"}'


class Floating(Tts):
    block = LOUD / 32_768


class OneLine(Tts):
    def lines(self, text: str) -> list[str]:
        return text.splitlines()[:1]


class Slow(Tts):
    block = np.full(24_000 * 11, 1_000, np.int16)


class Uncancellable(Tts):
    async def speak(self, text, *, timeout_s) -> AsyncGenerator:
        try:
            async for block in super().speak(text, timeout_s=timeout_s):
                await asyncio.sleep(0)
                yield block
        except asyncio.CancelledError:
            yield LOUD


@pytest.mark.parametrize(
    ("check", "engine", "told"),
    [
        (check_stt, Inventive(), "expected no text of silence"),
        (check_stt, TooSure(), "expected a confidence from 0 to 1"),
        (check_stt, Timeless(), "expected EngineTimeout when the time is up, got an answer"),
        (check_llm, Talkative(), "expected fragments of text, then a usage"),
        (check_llm, Stammering(), "expected fragments of text, then a usage"),
        (check_llm, Free(), "expected an object that follows the schema"),
        (check_tts, Floating(), "expected blocks of int16"),
        (check_tts, OneLine(), "expected two lines to be spoken"),
        (check_tts, Slow(), "expected a sentence of 0.5 to 10 s"),
        (check_tts, Uncancellable(), "expected cancelling to end the call"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Stt | Llm | Tts) else "",
)
async def test_an_engine_that_breaks_it_is_found_out(check, engine, told) -> None:
    """One fault, and the line that names it."""
    with pytest.raises(Broken, match=told):
        await check(engine, "fr")
