"""Kokoro, clause by clause, every block checked."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from kokoro_onnx import Kokoro
from kokoro_onnx.trim import trim
from numpy.typing import NDArray

from engines.exits import Unusable
from engines.protocols import TTS_RATE_HZ
from engines.worker.clauses import clauses, mark_after
from engines.worker.config import TtsConfig
from engines.worker.onnx import session
from engines.worker.problems import Problem
from engines.worker.rebuilt.kept import fastest
from engines.worker.spoken import speakable, without_flags

MIN_SPEED: Final = 0.5
MAX_SPEED: Final = 2.0
"""Kokoro's own range."""

PEAK_LIMIT: Final = 4.0
"""Right audio stays near 1; the int8 model on a wrong onnxruntime gives NaN and peaks of 1e35."""

SENTENCE_PAUSE_S: Final = 0.25
CLAUSE_PAUSE_S: Final = 0.1
"""kokoro-onnx's own pauses; the silence that the model leaves at both ends of a clause is trimmed."""

TRIM_DB: Final = 60
BREATH_TRIM_DB: Final = 45
"""How far below the loudest sound silence is; less so where no mark stands, for a breath is shorter than a pause."""

_ESPEAK: Final = {"a": "en-us", "b": "en-gb", "e": "es", "f": "fr-fr", "h": "hi", "i": "it", "p": "pt-br"}
"""espeak-ng's language for the first letter of a voice. Kokoro's ja and zh voices need phonemes of another kind."""


_SAMPLES_PER_FRAME: Final = 600
"""What Kokoro makes of one step of its predicted durations: 25 ms."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """Speech of one clause at 24 kHz, shape [n]; ``phonemes`` that the model took, ``frames`` of 25 ms that it made."""

    samples: NDArray[np.float32]
    phonemes: int
    frames: int


class Synthesizer:
    """One loaded Kokoro. Not for two threads at once: the lane sees to that."""

    def __init__(self, config: TtsConfig) -> None:
        """Load model and voices; raises :class:`Unusable`."""
        self.name = config.name
        self.voice = config.voice
        self._kokoro = _load(config)
        self.voices = tuple(voice for voice in self._kokoro.get_voices() if voice[0] in _ESPEAK)
        if config.voice not in self.voices:
            raise Unusable(f"tts: no voice {config.voice!r} in {config.voices_bin}; it has {_some(self.voices)}")

    def speak(self, text: str, voice: str, speed: float) -> Generator[Spoken, None, None]:
        """Yield speech, one clause a step; nothing when ``text`` has nothing to say.

        ``voice`` is one of :attr:`voices`, ``speed`` in [0.5, 2]. Raises :class:`Problem` ``bad_audio``.
        """
        language = _ESPEAK[voice[0]]
        pause = 0.0
        pieces = list(clauses(speakable(text, language), language))
        for number, clause in enumerate(pieces, start=1):
            phonemes = self._phonemes(clause, language)
            if not phonemes:
                continue
            breathes = number < len(pieces) and not mark_after(clause)
            if breathes:
                phonemes += ","  # the voice goes on: it must not fall as at an end
            samples, _ = self._kokoro.create(phonemes, voice, speed, is_phonemes=True, trim=False)
            # Checked before it is trimmed: trimming turns NaN into silence.
            check(samples)
            trimmed, _ = trim(samples, top_db=BREATH_TRIM_DB if breathes else TRIM_DB)
            spoken = np.concatenate((np.zeros(round(pause * TTS_RATE_HZ), np.float32), trimmed))
            yield Spoken(spoken, len(phonemes), len(samples) // _SAMPLES_PER_FRAME)
            pause = _pause_after(clause) / speed

    def _phonemes(self, clause: str, language: str) -> str:
        """The clause in Kokoro's phonemes; empty when only marks are left, which it would make a noise of."""
        phonemes = without_flags(self._kokoro.tokenizer.phonemize(clause, language))
        return phonemes if any(letter.isalpha() for letter in phonemes) else ""


def check(samples: NDArray[np.float32]) -> None:
    """Raise :class:`Problem` ``bad_audio`` (500) unless every sample is finite and within ±4."""
    if not (np.abs(samples) <= PEAK_LIMIT).all():
        raise Problem(500, "The speech model gave samples that are no audio.", code="bad_audio")


def _pause_after(clause: str) -> float:
    mark = mark_after(clause)
    if not mark:
        return 0.0  # what silence the trimming leaves is breath enough
    return CLAUSE_PAUSE_S if mark in ",;:" else SENTENCE_PAUSE_S


def _load(config: TtsConfig) -> Kokoro:
    for path in (config.onnx, config.voices_bin):
        if not Path(path).is_file():
            raise Unusable(f"tts: no file {path}: fetch the profile's models")
    try:
        onnx = fastest(Path(config.onnx), Path(config.rebuilt_dir) if config.rebuilt_dir else None)
        loaded: Kokoro = Kokoro.from_session(session(str(onnx), config.threads), config.voices_bin)
    except Exception as error:  # onnxruntime and numpy have no common base for a broken file
        raise Unusable(f"tts: {config.onnx} cannot be loaded: {error}") from error
    return loaded


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
