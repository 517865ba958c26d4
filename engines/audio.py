"""Samples as the engines' wires carry them: WAV files out, raw PCM in, and the one rate of the voice."""

from __future__ import annotations

import io
import wave

import numpy as np
import soxr
from numpy.typing import NDArray

from engines.protocols import STT_RATE_HZ, TTS_RATE_HZ


def wav_of(samples: NDArray[np.int16]) -> bytes:
    """Return a WAV file, s16le, of ``samples``, mono at 16 kHz, shape [n]."""
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(STT_RATE_HZ)
        wav.writeframes(samples.astype("<i2").tobytes())
    return file.getvalue()


def samples_of(pcm: bytes) -> NDArray[np.int16]:
    """Return the samples, shape [n], of raw s16le mono; half a sample at the end is dropped."""
    return np.frombuffer(pcm[: len(pcm) // 2 * 2], dtype="<i2").astype(np.int16)


def at_voice_rate(samples: NDArray[np.int16], rate_hz: int) -> NDArray[np.int16]:
    """Return ``samples``, mono at ``rate_hz``, shape [n], at 24 kHz: as they are, or resampled."""
    if rate_hz == TTS_RATE_HZ or not len(samples):
        return samples
    resampled: NDArray[np.int16] = soxr.resample(samples, rate_hz, TTS_RATE_HZ)
    return resampled
