"""Fakes at the boundary: engines that follow a script, a store in memory, an evaluation that is a timer.

Sound carries its own meaning here. Every word has a level of its own, a constant that no other word has, so recognition
reads from the samples which words it was given, and a client which sentences it was sent: nothing can be mixed up,
dropped or heard twice without being seen.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from numpy.typing import NDArray

from engines.errors import EngineError, EngineFault, EngineTimeout
from engines.protocols import STT_RATE_HZ, TTS_RATE_HZ, Delta, Transcript, Usage
from server.exam.bank import every_sentence
from server.store.errors import StoreError

CHARS_PER_S = 15
SHORTEST_WORD_S = 0.05
LOUD = 0.03
NEVER = object()
"""An LLM's answer that does not come."""


class Sounds:
    """Words as levels of sound, one for each time that a word is said."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._words: dict[int, str] = {}

    def make(self, word: str, seconds: float) -> NDArray[np.int16]:
        """Return the sound of ``word``; an empty word is a noise without meaning."""
        level = 2_000 + 10 * len(self._words)
        self._words[level] = word
        return np.full(round(seconds * self._rate_hz), level, dtype=np.int16)

    def read(self, samples: NDArray[np.int16]) -> list[tuple[str, float]]:
        """Return the words in ``samples`` in order, with their lengths in seconds; a lone sample is no word."""
        if not len(samples):
            return []
        edges = np.flatnonzero(np.diff(samples)) + 1
        runs = [run for run in np.split(samples, edges) if run[0] and len(run) > 1]
        strange = [int(run[0]) for run in runs if int(run[0]) not in self._words]
        assert not strange, f"samples that nobody made: {strange[:5]}"
        return [(self._words[int(run[0])], len(run) / self._rate_hz) for run in runs]


@dataclass
class LevelDetector:
    """Voice activity by level. ``fault_after`` windows it answers nonsense; ``window_s`` is its time for one."""

    fault_after: int | None = None
    fault_at: int | None = None
    window_s: float = 0.0
    windows: int = 0
    closed: int = 0

    def open(self) -> LevelDetector:
        return self

    async def probability(self, window: NDArray[np.float32]) -> float:
        assert window.shape == (512,)
        if self.window_s:
            await asyncio.sleep(self.window_s)
        self.windows += 1
        if self.windows == self.fault_at or (self.fault_after is not None and self.windows > self.fault_after):
            raise EngineFault("vad", "expected a probability in [0, 1], got 7.0")
        return 0.95 if float(np.mean(np.abs(window))) > LOUD else 0.02

    def close(self) -> None:
        self.closed += 1


@dataclass
class ReadingRecogniser:
    """Recognises words by their levels, ``speed`` times slower than speech; ``faults`` are raised one after another."""

    sounds: Sounds
    speed: float = 0.1
    faults: deque[EngineError] = field(default_factory=deque)
    always: EngineError | None = None
    heard: list[str] = field(default_factory=list)
    busy: int = 0

    async def transcribe(
        self, samples: NDArray[np.int16], *, language: str, prompt: str = "", timeout_s: float
    ) -> Transcript:
        assert self.busy == 0, "one request at a time"
        seconds = len(samples) / STT_RATE_HZ
        self.busy += 1
        try:
            await asyncio.sleep(min(seconds * self.speed, timeout_s))
        finally:
            self.busy -= 1
        if seconds * self.speed > timeout_s:
            raise EngineTimeout("stt", f"no answer within {timeout_s} s")
        if self.always or self.faults:
            raise self.always or self.faults.popleft()
        words = [word for word, length in self.sounds.read(samples) if word and length >= SHORTEST_WORD_S]
        self.heard.append(" ".join(words))
        return Transcript(" ".join(words), 0.9, round(seconds * 1000), round(seconds * self.speed * 1000))


@dataclass
class ScriptedModel:
    """An LLM that gives ``answers`` in order, a word each ``gap_s``: text, an error, both, or ``NEVER``.

    Requests for one token are of no account: they are kept in ``warm_ups``.
    """

    answers: deque[Any] = field(default_factory=deque)
    first_s: float = 0.3
    gap_s: float = 0.02
    requests: list[list[tuple[str, str]]] = field(default_factory=list)
    warm_ups: list[list[tuple[str, str]]] = field(default_factory=list)
    unfinished: int = 0

    async def stream(
        self,
        messages: Iterable[Any],
        *,
        max_tokens: int,
        temperature: float = 0.7,
        schema: Mapping[str, Any] | None = None,
        timeout_s: float,
    ) -> AsyncIterator[Delta | Usage]:
        asked = [(message.role, message.content) for message in messages]
        if max_tokens == 1:
            self.warm_ups.append(asked)
            return
        self.requests.append(asked)
        answer = self.answers.popleft()
        text, fault = answer if isinstance(answer, tuple) else (answer, None)
        self.unfinished += 1
        try:
            await asyncio.sleep(timeout_s if text is NEVER else self.first_s)
            if text is NEVER:
                raise EngineTimeout("llm", f"no first word within {timeout_s} s")
            if isinstance(text, EngineError):
                raise text
            for word in text.split(" "):
                yield Delta(word + " ")
                await asyncio.sleep(self.gap_s)
            if fault is not None:
                raise fault
            yield Usage(prompt_tokens=100, cached_tokens=80, completion_tokens=len(text.split()))
        finally:
            self.unfinished -= 1

    @property
    def last_user(self) -> str:
        """The newest message of the newest request."""
        return self.requests[-1][-1][1]


@dataclass
class ScriptedVoice:
    """Speaks each sentence as one level of sound, ``slowness`` times as long as it lasts; marks alone have no sound."""

    sounds: Sounds
    faults: deque[EngineError | None] = field(default_factory=deque)
    always: EngineError | None = None
    blocks_before_fault: int = 0
    slowness: float = 0.25
    asked: list[str] = field(default_factory=list)
    unfinished: int = 0

    async def speak(self, text: str, *, timeout_s: float) -> AsyncIterator[NDArray[np.int16]]:
        self.asked.append(text)
        fault = self.always or (self.faults.popleft() if self.faults else None)
        has_words = any(letter.isalnum() for letter in text)
        sound = self.sounds.make(text, len(text) / CHARS_PER_S if has_words else 0.0)
        self.unfinished += 1
        try:
            for index, start in enumerate(range(0, len(sound), 6_000)):
                await asyncio.sleep(6_000 / TTS_RATE_HZ * self.slowness)
                if fault is not None and index >= self.blocks_before_fault:
                    raise fault
                yield sound[start : start + 6_000]
        finally:
            self.unfinished -= 1


def bank(sounds: Sounds) -> dict[str, NDArray[np.int16]]:
    """Return every sentence of the French bank, spoken ahead."""
    return {text: sounds.make(text, len(text) / CHARS_PER_S) for text in every_sentence("fr")}


@dataclass
class Row:
    """One production in memory."""

    tache: str
    statut: str = "open"
    transcript: str = ""
    utterances: list[dict[str, Any]] = field(default_factory=list)
    duration_ms: int = 0
    latency: Any = None


@dataclass
class MemoryProductions:
    """The store's productions. ``fails`` is asked before each write whether that one fails."""

    fails: Callable[[str, int], bool] = lambda verb, count: False
    write_s: float = 0.01
    rows: dict[UUID, Row] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)

    async def open(self, *, tache: str, **_: Any) -> UUID:
        await self._write("open")
        key = uuid4()
        self.rows[key] = Row(tache)
        return key

    async def grow(self, key: UUID, *, transcript: str, utterances: list[dict[str, Any]], duration_ms: int) -> None:
        await self._write("grow")
        row = self.rows[key]
        assert row.statut == "open", f"expected an open production, it is {row.statut}"
        row.transcript, row.utterances, row.duration_ms = transcript, list(utterances), duration_ms

    async def close(self, key: UUID, *, latency: Any = None) -> None:
        await self._write("close")
        row = self.rows[key]
        assert row.statut == "open", f"expected an open production, it is {row.statut}"
        row.statut, row.latency = "recorded", latency

    @property
    def only(self) -> Row:
        """The one production that there is."""
        (row,) = self.rows.values()
        return row

    async def _write(self, verb: str) -> None:
        self.writes.append(verb)
        await asyncio.sleep(self.write_s)
        if self.fails(verb, len(self.writes)):
            raise StoreError(f"{verb} a production: the disk is full")


@dataclass
class TimedEvaluator:
    """Gives ``report`` (``None``: no report could be had) ``seconds`` after it was asked."""

    report: dict[str, object] | None = field(default_factory=lambda: {"score": 12})
    seconds: float = 5.0
    submitted: list[UUID] = field(default_factory=list)
    cancelled: int = 0

    def submit(self, user_id: str, production_id: UUID) -> asyncio.Future[dict[str, object] | None]:
        self.submitted.append(production_id)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[dict[str, object] | None] = loop.create_future()
        loop.call_later(self.seconds, self._settle, future)
        return future

    def _settle(self, future: asyncio.Future[dict[str, object] | None]) -> None:
        if future.cancelled():
            self.cancelled += 1
        else:
            future.set_result(self.report)
