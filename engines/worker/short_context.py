"""Whisper with as much context as the speech needs, which takes the encoder a third of the time.

Whisper pads whatever it hears to 30 s. CTranslate2 encodes any length, and half of that is enough for most segments to
be understood as well; with less the model loops (docs/decisions/0010-shorter-context.md). What comes of the shorter
context is taken where Whisper's own evidence for it is good; else the window is heard again in full, with the whole
ladder of temperatures.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from faster_whisper import WhisperModel
from numpy.typing import NDArray

WHOLE_FRAMES: Final = 3000
"""Frames of 10 ms in Whisper's own context."""

SCRAP_FRAMES: Final = 125
"""Up to here nothing is shortened: of single words in French one in twenty-five was only understood in full."""

_LEAST_CONTEXT: Final = 1500
_BEHIND_FRAMES: Final = 400
"""Silence behind the speech, which tells the model where it ends."""

NO_SPEECH: Final = 0.5
"""Beyond this the shorter context decides nothing: invented text is judged as measured, on the full one."""

Decoded = tuple[Any, float, float, float]
"""What faster-whisper makes of a window: result, mean log-probability, temperature, compression ratio."""


class ShortContextModel(WhisperModel):
    """A ``WhisperModel`` that encodes no more silence than it needs. Not for two threads at once."""

    _window: NDArray[np.float32]
    _context = WHOLE_FRAMES

    def encode(self, features: NDArray[np.float32]) -> Any:
        """Encode one window of features: shape [mels, 3000], zeros behind the audio."""
        self._window = features
        self._context = context(np.flatnonzero(features.any(axis=0)).max(initial=0) + 1)
        return super().encode(features[:, : self._context])

    def generate_with_fallback(self, encoder_output: Any, prompt: list[int], tokenizer: Any, options: Any) -> Any:
        """Decode what :meth:`encode` has just encoded; the whole window where the shorter context leaves a doubt."""
        if self._context < WHOLE_FRAMES:
            once = replace(options, temperatures=options.temperatures[:1])
            decoded = super().generate_with_fallback(encoder_output, prompt, tokenizer, once)
            if is_certain(decoded, options):
                return decoded
            encoder_output = super().encode(self._window)
        return super().generate_with_fallback(encoder_output, prompt, tokenizer, options)


def context(frames: int) -> int:
    """Return how many frames of context so many ``frames`` of audio are encoded in; both at most 3000."""
    if frames <= SCRAP_FRAMES:
        return WHOLE_FRAMES
    return min(max(_LEAST_CONTEXT, frames + frames % 2 + _BEHIND_FRAMES), WHOLE_FRAMES)


def is_certain(decoded: Decoded, options: Any) -> bool:
    """Return whether the text neither repeats itself, nor is improbable, nor cut off, nor may be no speech."""
    result, logprob, _, compression_ratio = decoded
    return bool(
        compression_ratio <= options.compression_ratio_threshold
        and logprob >= options.log_prob_threshold
        and result.no_speech_prob <= NO_SPEECH
        and len(result.sequences_ids[0]) < options.max_new_tokens
    )
