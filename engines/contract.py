"""What every engine must do, whoever wrote it: checks to run over an adapter and what is really behind it.

For the tests of packages that bring a style, and of this project over its own::

    async def test_the_contract():
        async with speech_to_text(setup) as engine:
            await check_stt(engine, "fr")

Each raises :class:`Broken` that says what was expected and what came. The engine must be at its real model, or at a
double that understands and speaks: what is checked is behaviour, not the packet.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engines.errors import EngineError, EngineTimeout
from engines.proofs import SENTENCE, TIMEOUT_S, prove_llm, prove_stt, prove_tts, recording
from engines.protocols import (
    STT_RATE_HZ,
    TTS_RATE_HZ,
    Delta,
    Language,
    LanguageModel,
    Message,
    SpeechToText,
    TextToSpeech,
    Transcript,
    Usage,
)

PROMPT_S: Final = 5.0
"""How soon an engine must notice that the time is up, or that it was cancelled, on a busy machine."""

SHORT_S: Final = 0.001
"""A time in which no engine can answer."""

SCHEMA: Final = {
    "type": "object",
    "properties": {"level": {"type": "integer"}},
    "required": ["level"],
    "additionalProperties": False,
}


class Broken(AssertionError):
    """An engine does not keep the contract."""


async def check_stt(stt: SpeechToText, language: Language) -> None:
    """Check speech to text: a sentence is understood, also twice at once; silence is no text; time and cancelling."""
    await prove_stt(stt, language)
    samples = recording(language)

    def hear(samples: NDArray[np.int16], timeout_s: float = TIMEOUT_S) -> Coroutine[Any, Any, Transcript]:
        return stt.transcribe(samples, language=language, timeout_s=timeout_s)

    for heard in await asyncio.gather(hear(samples), hear(samples)):
        _expect(isinstance(heard, Transcript), "a Transcript", heard)
        _expect(0 <= heard.confidence <= 1, "a confidence from 0 to 1", heard.confidence)
        _expect(heard.audio_ms == round(len(samples) / STT_RATE_HZ * 1000), "the audio's length", heard.audio_ms)
    silence = await hear(np.zeros(STT_RATE_HZ, np.int16))
    _expect(not silence.text, "no text of silence", silence.text)
    await _check_time(lambda: hear(samples, SHORT_S), lambda: hear(samples))
    await prove_stt(stt, language)


async def check_llm(llm: LanguageModel, language: Language) -> None:
    """Check a language model: fragments, then one usage; a schema is followed; time, cancelling, leaving early."""
    await prove_llm(llm, language)
    asked = [Message("system", "Answer in one short sentence."), Message("user", SENTENCE[language])]

    def answer(timeout_s: float = TIMEOUT_S, **options: Any) -> AsyncGenerator[Delta | Usage]:
        return llm.stream(asked, max_tokens=options.pop("max_tokens", 24), timeout_s=timeout_s, **options)

    *parts, last = await _all(answer())
    parts += [last] if isinstance(last, Delta) else []
    _expect(all(isinstance(part, Delta) and part.text for part in parts), "fragments of text, then a usage", parts)
    if isinstance(last, Usage):
        _expect(last.prompt_tokens >= last.cached_tokens >= 0, "cached tokens among the prompt's", last)
    filled = "".join(part.text for part in await _all(answer(schema=SCHEMA, max_tokens=64)) if isinstance(part, Delta))
    _expect(isinstance(json.loads(filled).get("level"), int), "an object that follows the schema", filled)
    await asyncio.gather(_all(answer()), _all(answer()))
    await _check_leaving(answer())
    await _check_time(lambda: _all(answer(SHORT_S)), lambda: _all(answer()))
    await prove_llm(llm, language)


async def check_tts(tts: TextToSpeech, language: Language) -> None:
    """Check text to speech: audio of its type and a likely length; two lines; time, cancelling, leaving early."""
    await prove_tts(tts, language)
    sentence = SENTENCE[language]
    once = await _all(tts.speak(sentence, timeout_s=TIMEOUT_S))
    for block in once:
        _expect(block.dtype == np.int16 and block.ndim == 1, "blocks of int16, shape [n]", (block.dtype, block.shape))
    seconds = sum(map(len, once)) / TTS_RATE_HZ
    _expect(0.5 < seconds < 10, "a sentence of 0.5 to 10 s at 24 kHz", f"{seconds:.1f} s")
    twice = await _all(tts.speak(f"{sentence}\n« {sentence} »", timeout_s=TIMEOUT_S))
    _expect(sum(map(len, twice)) > 1.4 * sum(map(len, once)), "two lines to be spoken, not one", len(twice))
    await asyncio.gather(*(_all(tts.speak(sentence, timeout_s=TIMEOUT_S)) for _ in range(2)))
    await _check_leaving(tts.speak(sentence, timeout_s=TIMEOUT_S))
    await _check_time(
        lambda: _all(tts.speak(sentence, timeout_s=SHORT_S)), lambda: _all(tts.speak(sentence, timeout_s=TIMEOUT_S))
    )
    await prove_tts(tts, language)


async def _check_time(late: Callable[[], Awaitable[Any]], endless: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    """Check that ``late`` raises a timeout soon, and that ``endless`` can be cancelled soon."""
    try:
        async with asyncio.timeout(PROMPT_S):
            await late()
    except EngineTimeout:
        pass
    except (EngineError, TimeoutError) as error:
        raise Broken(f"expected EngineTimeout when the time is up, got {type(error).__name__}") from error
    else:
        raise Broken("expected EngineTimeout when the time is up, got an answer")
    task = asyncio.create_task(endless())
    await asyncio.sleep(0)
    task.cancel()
    done, _ = await asyncio.wait((task,), timeout=PROMPT_S)
    _expect(bool(done) and task.cancelled(), "cancelling to end the call", task)


async def _check_leaving(parts: AsyncGenerator[Any]) -> None:
    """Check that a reader may leave after the first part."""
    async with asyncio.timeout(TIMEOUT_S), aclosing(parts):
        await anext(parts)


async def _all(parts: AsyncGenerator[Any]) -> list[Any]:
    async with aclosing(parts):
        return [part async for part in parts]


def _expect(holds: bool, expected: str, got: object) -> None:
    if not holds:
        raise Broken(f"expected {expected}, got {got!r}")
