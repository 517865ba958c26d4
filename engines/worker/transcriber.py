"""faster-whisper, set for speech that has already been cut into segments.

Greedy (``beam_size`` 1), no conditioning on earlier text (it makes loops), no VAD of its own, one fallback
temperature and a bound on new tokens, so that noise costs two short decodes and no more. Windows whose no-speech
probability is high *and* whose mean log-probability is low give no text: OpenAI's own rule, and faster-whisper's.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engines.exits import Unusable
from engines.protocols import STT_RATE_HZ
from engines.worker.config import SttConfig
from engines.worker.short_context import ShortContextModel

WINDOW_S: Final = 30
"""Length of Whisper's window; longer audio takes several."""

FALLBACK_TEMPERATURE: Final = 0.4
"""Tried once when the greedy text repeats itself or is improbable; faster-whisper's own ladder has six rungs."""

MAX_NEW_TOKENS: Final = 220
"""Whisper's context of 448 tokens less a prompt of at most 223 and five control tokens."""

_TOKENS_PER_S = 12
_TOKENS_SPARE = 16
_FILES = ("model.bin", "config.json", "tokenizer.json")


@dataclass(frozen=True, slots=True)
class Request:
    """What one transcription asks for. ``temperature`` 0 is greedy with one fallback."""

    language: str
    prompt: str = ""
    temperature: float = 0.0
    timestamps: bool = False
    words: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """One word and its place in the audio, in seconds."""

    word: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment as Whisper gives it; times in seconds, ``no_speech_prob`` in [0, 1], ``words`` if asked for."""

    id: int
    seek: int
    start: float
    end: float
    text: str
    tokens: list[int]
    temperature: float
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float
    words: list[Word] | None


class Transcriber:
    """One loaded Whisper model. Not for two threads at once: the lane sees to that."""

    def __init__(self, config: SttConfig) -> None:
        """Load the model from its directory; raises :class:`Unusable`."""
        self.name = config.name
        self.language = config.language
        self._model = _load(config)
        self.languages = frozenset(self._model.supported_languages)
        if config.language not in self.languages:
            raise Unusable(
                f"stt: the model {config.name!r} knows only {', '.join(sorted(self.languages))}, "
                f"but the language is {config.language!r}: take a multilingual model"
            )

    def transcribe(self, samples: NDArray[np.float32], request: Request) -> Generator[Segment, None, None]:
        """Yield the segments of ``samples`` (mono, 16 kHz, shape [n]), one window decoded a step.

        Without ``request.timestamps`` a window is one segment: more accurate, and its log-probability is that of the
        words alone. Audio longer than a window always takes timestamps, or words on the seams would be cut.
        """
        seconds = len(samples) / STT_RATE_HZ
        timestamps = request.timestamps or request.words or seconds > WINDOW_S
        found, _ = self._model.transcribe(
            samples,
            language=request.language,
            initial_prompt=request.prompt or None,
            beam_size=1,
            best_of=1,
            temperature=[request.temperature] if request.temperature else [0.0, FALLBACK_TEMPERATURE],
            condition_on_previous_text=False,
            without_timestamps=not timestamps,
            word_timestamps=request.words,
            max_new_tokens=token_limit(seconds),
            vad_filter=False,
        )
        for segment in found:
            yield _segment(segment, seconds)


def token_limit(seconds: float) -> int:
    """Return how many tokens one decode of a window may give, for audio of ``seconds``: more than speech needs.

    A loop is cut off there, after at most two decodes. The token that ends a text may come on top.
    """
    return min(MAX_NEW_TOKENS, _TOKENS_SPARE + round(_TOKENS_PER_S * seconds))


def _segment(found: Any, seconds: float) -> Segment:
    """faster-whisper's segment as ours; its last timestamp may lie beyond the audio, which it padded to a window."""
    words = None if found.words is None else [Word(w.word.strip(), float(w.start), float(w.end)) for w in found.words]
    return Segment(
        id=found.id - 1,
        seek=found.seek,
        start=round(min(float(found.start), seconds), 3),
        end=round(min(float(found.end), seconds), 3),
        text=found.text,
        tokens=found.tokens,
        temperature=found.temperature,
        avg_logprob=found.avg_logprob,
        compression_ratio=found.compression_ratio,
        no_speech_prob=found.no_speech_prob,
        words=words,
    )


def _load(config: SttConfig) -> ShortContextModel:
    """Load from the directory alone: faster-whisper fetches what is missing, so nothing may be missing."""
    missing = [name for name in _FILES if not (Path(config.model_dir) / name).is_file()]
    if missing:
        raise Unusable(f"stt: {config.model_dir} has no {', '.join(missing)}: fetch the profile's models")
    try:
        return ShortContextModel(config.model_dir, device="cpu", compute_type="int8", cpu_threads=config.threads)
    except (RuntimeError, ValueError) as error:
        raise Unusable(f"stt: {config.model_dir} cannot be loaded: {error}") from error
