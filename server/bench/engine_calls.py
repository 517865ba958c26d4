"""Each engine as the server calls it, timed: the adapters, over the processes that the server would run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from engines.protocols import (
    STT_RATE_HZ,
    TTS_RATE_HZ,
    VAD_WINDOW_SAMPLES,
    Delta,
    Language,
    LanguageModel,
    Message,
    SpeechToText,
    TextToSpeech,
    Usage,
    VoiceActivity,
)
from server.bench.stock_job import Heard, Spoken
from server.bench.voices import Voice
from server.exam.brief import Role
from server.exam.guard import PassiveScreen, RelanceScreen
from server.exam.prompts_t2 import Subject, roleplay_prompts
from server.speech.pcm import to_float32

TIMEOUT_S = 180.0
MAX_TOKENS = 64
"""Of one answer: long enough for its pace to show."""

_SUBJECT = {
    "en": Subject("an adviser in a travel agency", "A client asks about a week in the sun in February."),
    "fr": Subject("un conseiller dans une agence de voyages", "Un client demande une semaine au soleil en février."),
}


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer of a language model: until its first text, and tokens a second from then on (``None``: too few)."""

    first_s: float
    tokens_per_s: float | None


async def vad_us(vad: VoiceActivity, voice: Voice, streams: int, rounds: int) -> list[float]:
    """Return, for each round of one window for each of ``streams`` streams, microseconds a stream and window."""
    opened = [vad.open() for _ in range(streams)]
    samples = to_float32(voice)
    took = []
    try:
        for at in range(rounds + 1):  # the first, which is not counted, makes room in memory
            start = at * VAD_WINDOW_SAMPLES % (samples.size - VAD_WINDOW_SAMPLES)
            window = samples[start : start + VAD_WINDOW_SAMPLES]
            begun = time.perf_counter()
            await asyncio.gather(*(stream.probability(window) for stream in opened))
            took.append((time.perf_counter() - begun) * 1e6 / streams)
    finally:
        for stream in opened:
            stream.close()
    return took[1:]


async def heard_by(stt: SpeechToText, voices: Sequence[Voice], language: Language) -> list[Heard]:
    """Return what each voice is transcribed to, and what it took. Raises :class:`engines.errors.EngineError`."""
    found = []
    for voice in voices:
        begun = time.perf_counter()
        heard = await stt.transcribe(voice, language=language, timeout_s=TIMEOUT_S)
        found.append(Heard(time.perf_counter() - begun, voice.size / STT_RATE_HZ, heard.text))
    return found


async def spoken_by(tts: TextToSpeech, texts: Sequence[str]) -> list[Spoken]:
    """Return what each text's speech took. Raises :class:`engines.errors.EngineError`."""
    return [await _spoken(tts, text) for text in texts]


async def _spoken(tts: TextToSpeech, text: str) -> Spoken:
    begun = time.perf_counter()
    first_s, samples = 0.0, 0
    async with aclosing(tts.speak(text, timeout_s=TIMEOUT_S)) as blocks:
        async for block in blocks:
            first_s = first_s or time.perf_counter() - begun
            samples += block.size
    return Spoken(first_s, time.perf_counter() - begun, samples / TTS_RATE_HZ)


async def answers(
    llm: LanguageModel, language: Language, questions: Sequence[str], rounds: int
) -> AsyncIterator[tuple[Answered, Answered]]:
    """Yield for each round an answer whose prompt is new, and the next one of the same dialogue.

    The prompts are those of task 2; each round's begins with a number of its own, so that no cache knows it.
    """
    for at in range(rounds):
        number = time.time_ns()
        history: list[tuple[Role, str]] = [("user", questions[at % len(questions)])]
        cold, text = await _answer(llm, _messages(language, history, number))
        history += [("assistant", text), ("user", questions[(at + 1) % len(questions)])]
        warm, _ = await _answer(llm, _messages(language, history, number))
        yield cold, warm


def _messages(language: Language, history: Sequence[tuple[Role, str]], number: int) -> list[Message]:
    system, *others = roleplay_prompts(language, _SUBJECT[language], history)[0].messages
    messages = [Message(role, content) for role, content in others]
    return [Message("system", f"{number}\n{system[1]}"), *messages]


async def _answer(llm: LanguageModel, messages: Sequence[Message]) -> tuple[Answered, str]:
    begun = time.perf_counter()
    first_s, text, tokens = 0.0, "", 0
    async with aclosing(llm.stream(messages, max_tokens=MAX_TOKENS, temperature=0, timeout_s=TIMEOUT_S)) as parts:
        async for part in parts:
            if isinstance(part, Delta):
                first_s = first_s or time.perf_counter() - begun
                text += part.text
            elif isinstance(part, Usage):
                tokens = part.completion_tokens
    writing_s = time.perf_counter() - begun - first_s
    return Answered(first_s, (tokens - 1) / writing_s if tokens > 1 else None), text


def guard_us(language: Language, sentences: Sequence[str], rounds: int) -> dict[str, list[float]]:
    """Return microseconds a sentence of each task's screen, by the screen's name."""
    took: dict[str, list[float]] = {"guard of t2": [], "guard of t1": []}
    for sentence in [*sentences] * rounds:
        took["guard of t2"].append(_screened_us(PassiveScreen(language), sentence))
        took["guard of t1"].append(_screened_us(RelanceScreen(language), sentence))
    return took


def _screened_us(screen: PassiveScreen | RelanceScreen, sentence: str) -> float:
    begun = time.perf_counter()
    screen.feed(sentence)
    screen.finish()
    return (time.perf_counter() - begun) * 1e6
