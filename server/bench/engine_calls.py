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
from server.bench.texts import Phrases
from server.bench.voices import Voice
from server.exam.brief import Role
from server.exam.guard import PassiveScreen, RelanceScreen
from server.exam.prompts_t2 import Subject, roleplay_prompts
from server.speech.pcm import to_float32

TIMEOUT_S = 180.0
MAX_TOKENS = 64
"""Of one answer: long enough for its pace to show."""

FEW_TOKENS = 4
"""Where only the first one counts."""

_SUBJECT = {
    "en": Subject("an adviser in a travel agency", "A client asks about a week in the sun in February."),
    "fr": Subject("un conseiller dans une agence de voyages", "Un client demande une semaine au soleil en février."),
}


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer of a language model.

    ``first_s`` is the time until its first text, ``tokens_per_s`` the pace from then on (``None``: too few),
    ``new_tokens`` those of the prompt that the server had to read (``None``: it does not tell).
    """

    first_s: float
    tokens_per_s: float | None
    new_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """One dialogue's answers.

    ``new`` is the first, whose prompt no cache knows; then it ``goes_on`` with a question; then comes a long turn,
    ``unwarmed``; at last another long turn, of which all but the last words were read before (``warmed``).
    """

    new: Answered
    goes_on: Answered
    unwarmed: Answered
    warmed: Answered


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
    llm: LanguageModel, language: Language, questions: Sequence[Phrases], rounds: int
) -> AsyncIterator[Round]:
    """Yield what each round's answers took; a question is phrases.

    The prompts are those of task 2; each round's begins with a number of its own, so that no cache knows it.
    """
    for at in range(rounds):
        number = time.time_ns()
        turns = [questions[(at + shift) % len(questions)] for shift in range(len(questions))]
        history: list[tuple[Role, str]] = [("user", " ".join(turns[0]))]
        new, text = await _answer(llm, _messages(language, history, number))
        history += [("assistant", text), ("user", " ".join(turns[1]))]
        goes_on, text = await _answer(llm, _messages(language, history, number))
        history.append(("assistant", text))
        unwarmed, _ = await _answer(
            llm, _messages(language, [*history, ("user", _long(turns[2:6]))], number), FEW_TOKENS
        )
        long = _long(turns[3:7])
        known = long[: -len(turns[6][-1])].rstrip()
        await _answer(llm, _messages(language, [*history, ("user", known)], number), 1)
        warmed, _ = await _answer(llm, _messages(language, [*history, ("user", long)], number), FEW_TOKENS)
        yield Round(new, goes_on, unwarmed, warmed)


def _long(questions: Sequence[Phrases]) -> str:
    return " ".join(phrase for phrases in questions for phrase in phrases)


def _messages(language: Language, history: Sequence[tuple[Role, str]], number: int) -> list[Message]:
    system, *others = roleplay_prompts(language, _SUBJECT[language], history)[0].messages
    messages = [Message(role, content) for role, content in others]
    return [Message("system", f"{number}\n{system[1]}"), *messages]


async def _answer(
    llm: LanguageModel, messages: Sequence[Message], max_tokens: int = MAX_TOKENS
) -> tuple[Answered, str]:
    begun = time.perf_counter()
    first_s, text, tokens, new_tokens = 0.0, "", 0, None
    async with aclosing(llm.stream(messages, max_tokens=max_tokens, temperature=0, timeout_s=TIMEOUT_S)) as parts:
        async for part in parts:
            if isinstance(part, Delta):
                first_s = first_s or time.perf_counter() - begun
                text += part.text
            elif isinstance(part, Usage):
                tokens, new_tokens = part.completion_tokens, part.prompt_tokens - part.cached_tokens
    writing_s = time.perf_counter() - begun - first_s
    return Answered(first_s, (tokens - 1) / writing_s if tokens > 1 else None, new_tokens), text


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
