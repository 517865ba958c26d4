"""The candidate: speaks its turns at the pace of a microphone, and plays fair by the contract.

- A chunk leaves when its last sample has been spoken, as from a microphone.
- While the examiner interrupts (T1), nothing is sent and the place in the voice waits: no word is lost, and the chunk
  in which the interruption came is spoken again.
- A candidate who waits for answers (T2) sends silence after each turn until the examiner's turn is complete, or until
  nothing has been heard of the examiner for ``answer_patience_s``.
- Whatever happens, ``end`` is sent once.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.client.errors import ExamOver
from server.client.events import (
    CandidateEvent,
    CandidateSilent,
    CandidateSpeaks,
    EndSent,
    ExaminerAudio,
    InterruptionEnd,
    InterruptionStart,
    TurnComplete,
)
from server.client.session import CANDIDATE_RATE_HZ, ExamClient, TimedEvent

Notice = Callable[[TimedEvent], None]
Spoke = Callable[[float, NDArray[np.int16]], None]


@dataclass(frozen=True, slots=True)
class Manner:
    """How the candidate behaves. Lengths of time are seconds; ``speed`` 2 speaks twice as fast as real time."""

    waits_for_answers: bool = False
    push_to_talk: bool = False
    silence_after_s: float = 2.5
    answer_patience_s: float = 30.0
    speed: float = 1.0
    chunk_samples: int = CANDIDATE_RATE_HZ // 10


class Candidate:
    """Plays ``turns``, each int16, mono, 16 kHz, shape [n], to an exam.

    ``notice`` is told what the candidate does; ``spoke`` gets every piece of audio that was sent, with the second on
    the exam's clock at which its first sample was spoken.
    """

    def __init__(
        self,
        client: ExamClient,
        turns: Iterable[NDArray[np.int16]],
        manner: Manner,
        *,
        notice: Notice = lambda timed: None,
        spoke: Spoke = lambda from_s, pcm: None,
    ) -> None:
        self._client = client
        self._turns = turns
        self._manner = manner
        self._notice = notice
        self._spoke = spoke
        self._floor_is_mine = asyncio.Event()
        self._floor_is_mine.set()
        self._leaving = False
        self._answers = 0
        self._heard_at_s = 0.0
        self._spoken_until_s = 0.0

    def hear(self, timed: TimedEvent) -> None:
        """Take in an event of the exam: it decides who may speak."""
        match timed.event:
            case InterruptionStart() if not self._leaving:
                self._floor_is_mine.clear()
            case InterruptionEnd():
                self._floor_is_mine.set()
            case ExaminerAudio():
                self._heard_at_s = timed.at_s
            case TurnComplete():
                self._answers += 1

    def leave(self) -> None:
        """Stop speaking at the next chunk and ask for the end."""
        self._leaving = True
        self._floor_is_mine.set()

    async def play(self) -> None:
        """Speak all turns, then ask for the end. Returns early when the exam is over."""
        try:
            with contextlib.suppress(_Left):
                await self._speak_turns()
            await self._client.end()
            self._tell(EndSent())
        except ExamOver:
            return

    async def _speak_turns(self) -> None:
        self._restart_clock()
        for number, voice in enumerate(self._turns, start=1):
            await self._speak_turn(number, voice)
            if self._manner.waits_for_answers:
                await self._await_answer()
        if not self._manner.waits_for_answers:
            await self._speak(_silence(round(self._manner.silence_after_s * CANDIDATE_RATE_HZ)))

    async def _speak_turn(self, number: int, voice: NDArray[np.int16]) -> None:
        self._tell(CandidateSpeaks(number, voice.size))
        if self._manner.push_to_talk:
            await self._client.send_activity("activityStart")
        await self._speak(voice)
        if self._manner.push_to_talk:
            await self._client.send_activity("activityEnd")
        self._tell(CandidateSilent(number))

    async def _await_answer(self) -> None:
        answers, silent_since_s = self._answers, self._client.elapsed_s()
        while self._answers == answers:
            quiet_s = self._client.elapsed_s() - max(silent_since_s, self._heard_at_s)
            if quiet_s >= self._manner.answer_patience_s:
                return
            await self._speak(_silence(self._manner.chunk_samples))

    async def _speak(self, voice: NDArray[np.int16]) -> None:
        for chunk in _chunks(voice, self._manner.chunk_samples):
            from_s = await self._pronounce(chunk)
            await self._client.send_pcm(chunk)
            self._spoke(from_s, chunk)

    async def _pronounce(self, chunk: NDArray[np.int16]) -> float:
        """Wait until ``chunk`` has been spoken without an interruption; return when it was begun."""
        while True:
            if not self._floor_is_mine.is_set():
                await self._floor_is_mine.wait()
                self._restart_clock()
            if self._leaving:
                raise _Left
            from_s = self._spoken_until_s
            self._spoken_until_s += chunk.size / CANDIDATE_RATE_HZ / self._manner.speed
            await asyncio.sleep(max(0.0, self._spoken_until_s - self._client.elapsed_s()))
            if self._floor_is_mine.is_set():
                return from_s

    def _restart_clock(self) -> None:
        self._spoken_until_s = self._client.elapsed_s()

    def _tell(self, event: CandidateEvent) -> None:
        self._notice(TimedEvent(self._client.elapsed_s(), event))


class _Left(Exception):
    """The candidate was told to leave."""


def _silence(samples: int) -> NDArray[np.int16]:
    return np.zeros(samples, dtype=np.int16)


def _chunks(voice: NDArray[np.int16], size: int) -> Iterator[NDArray[np.int16]]:
    return (voice[start : start + size] for start in range(0, voice.size, size))
