"""The four kinds of engine, as the exam sees them.

An engine is stateless between calls but for what it says itself (:class:`VoiceActivityStream`). Cancelling the task
that awaits an engine cancels the request: the connection is closed, nothing is returned, nothing is retried.
Every ``timeout_s`` is what is left of the turn's deadline, in seconds, retries included.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Language = Literal["fr", "en"]

STT_RATE_HZ = 16_000
"""Rate of the audio that voice activity detection and speech to text take: Silero's and Whisper's own."""

TTS_RATE_HZ = 24_000
"""Rate of the audio that text to speech gives: Kokoro's own, and the rate of the wire contract."""

VAD_WINDOW_SAMPLES = 512
"""Samples in one window of Silero at 16 kHz (32 ms)."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was understood of one segment of speech. ``text`` is empty when nothing was said.

    ``confidence`` is the mean probability of the decoded tokens, 0 to 1 (the exponential of Whisper's
    mean log-probability, weighted by segment length); ``audio_ms`` the length of what was transcribed;
    ``elapsed_ms`` the wall-clock time that it took.
    """

    text: str
    confidence: float
    audio_ms: int
    elapsed_ms: int


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Delta:
    """A fragment of an answer, speakable as it stands: reasoning has been taken out."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request. ``cached_tokens`` are those of the prompt that the server did not read anew."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int


class SpeechToText(Protocol):
    """Turns a segment of speech into text."""

    async def transcribe(
        self, samples: NDArray[np.int16], *, language: Language, prompt: str = "", timeout_s: float
    ) -> Transcript:
        """Transcribe ``samples``, mono at 16 kHz, shape [n].

        ``prompt`` is the text that came before. Text that Whisper invents on noise has been taken out.
        Raises :class:`engines.errors.EngineError`.
        """
        ...


class LanguageModel(Protocol):
    """Answers a chat prompt as a stream."""

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.7,
        schema: Mapping[str, Any] | None = None,
        timeout_s: float,
    ) -> AsyncGenerator[Delta | Usage]:
        """Yield the answer's fragments as they come, then at most one :class:`Usage`.

        ``schema`` is a JSON Schema that the answer must follow. A failure before the first fragment may have been
        retried inside; after it, it is raised and final. Raises :class:`engines.errors.EngineError`;
        an answer without any text is :class:`engines.errors.EngineTruncated`.
        """
        ...


class TextToSpeech(Protocol):
    """Turns text into speech."""

    def speak(self, text: str, *, timeout_s: float) -> AsyncGenerator[NDArray[np.int16]]:
        """Yield mono audio at 24 kHz, blocks of shape [n] of any length, as they are made.

        Text with nothing to say (only marks or emoji) gives no block and no error. Closing the iterator stops the
        synthesis at its next clause. Raises :class:`engines.errors.EngineError`.
        """
        ...


class VoiceActivityStream(Protocol):
    """Voice activity in one stream of audio; holds that stream's own state."""

    async def probability(self, window: NDArray[np.float32]) -> float:
        """Return the probability, 0 to 1, that ``window`` holds speech.

        ``window`` is the next 512 samples of the stream at 16 kHz, shape [512], in [-1, 1]. Windows must be given in
        order, one at a time. Raises :class:`engines.errors.EngineFault` on a probability outside [0, 1].
        """
        ...

    def close(self) -> None:
        """Free the stream's place. Closing twice does nothing."""
        ...


class VoiceActivity(Protocol):
    """Detects speech; one engine serves many streams in one run."""

    def open(self) -> VoiceActivityStream:
        """Begin a new stream with a fresh state."""
        ...


@runtime_checkable
class Closable(Protocol):
    """An engine that holds connections or threads."""

    async def aclose(self) -> None:
        """Free them. The engine cannot be used afterwards."""
        ...
