"""An uploaded file as Whisper's and Silero's samples: any format that libsndfile reads, any rate, any channels."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from engines.protocols import STT_RATE_HZ
from engines.worker.problems import Problem, bad_request

_BLOCK_FRAMES = 1 << 18
"""Frames decoded at once: the file is never held at its own rate and channels, only the 16 kHz mono result."""


def decode(file: BinaryIO, max_audio_s: int) -> NDArray[np.float32]:
    """Return ``file`` as mono samples at 16 kHz, shape [n], nominally in [-1, 1].

    Raises :class:`Problem`: 400 when it is not audio or holds NaN, 413 when it decodes to more than ``max_audio_s``.
    """
    try:
        with soundfile.SoundFile(file) as sound:
            samples = _read(sound, max_audio_s)
    except (soundfile.LibsndfileError, soundfile.SoundFileRuntimeError, TypeError, ValueError):
        raise bad_request("'file' is not audio that libsndfile can read.", param="file", code="not_audio") from None
    if not np.isfinite(samples).all():
        raise bad_request("'file' holds samples that are not finite numbers.", param="file", code="not_audio")
    return samples


def _read(sound: soundfile.SoundFile, max_audio_s: int) -> NDArray[np.float32]:
    resampler = soxr.ResampleStream(sound.samplerate, STT_RATE_HZ, 1, dtype="float32")
    parts: list[NDArray[np.float32]] = []
    frames = 0
    for block in sound.blocks(_BLOCK_FRAMES, dtype="float32", always_2d=True):
        frames += len(block)
        if frames > max_audio_s * sound.samplerate:
            raise Problem(413, f"'file' is longer than {max_audio_s} s.", code="audio_too_long", param="file")
        parts.append(resampler.resample_chunk(block.mean(axis=1)))
    parts.append(resampler.resample_chunk(np.zeros(0, np.float32), last=True))
    return np.concatenate(parts)
