"""An uploaded file as Whisper's and Silero's samples: any format that libsndfile reads, any rate, any channels.

A header is a claim. What it says is used to refuse a file early; what is read is what is there, a few seconds at a
time, so that a small file costs little memory however many channels or hours it declares.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from engines.protocols import STT_RATE_HZ
from engines.worker.problems import Problem, bad_request

_BLOCK_SAMPLES = 1 << 18
"""Samples decoded at once, over all channels."""

_BLOCK_S = 8
"""Seconds decoded at once: at a low rate, few samples become many at 16 kHz."""

_MIN_RATE_HZ = 1_000
"""Nobody speaks below it, and at 1 Hz three kilobytes are an hour of audio."""

_UNKNOWN_FRAMES: Final = 2**63 - 1
"""libsndfile's length of a FLAC whose header leaves it out, as one that was written to a pipe does."""


class _Forward(soundfile.SoundFile):
    """Read from front to back alone. soundfile seeks after every read, which fails at the end of such a FLAC."""

    def seekable(self) -> bool:
        return False


def decode(file: BinaryIO, max_audio_s: int) -> NDArray[np.float32]:
    """Return ``file`` as mono samples at 16 kHz, shape [n], nominally in [-1, 1]; raises as :func:`blocks` does."""
    joined = bytearray()  # grows in place, where joining a list of arrays takes the memory twice
    for block in blocks(file, max_audio_s):
        joined += block.tobytes()
    return np.frombuffer(joined, np.float32)


def blocks(file: BinaryIO, max_audio_s: int) -> Iterator[NDArray[np.float32]]:
    """Yield ``file`` as mono samples at 16 kHz, shape [n], some seconds at a time.

    Raises :class:`Problem`: 400 when it is not audio, is damaged or holds NaN; 413 when it is longer than
    ``max_audio_s``, before the first block if its header says so.
    """
    try:
        with _Forward(file) as sound:
            yield from _read(sound, max_audio_s)
    except (soundfile.LibsndfileError, soundfile.SoundFileRuntimeError, TypeError, ValueError):
        raise bad_request("'file' is not audio that libsndfile can read.", param="file", code="not_audio") from None


def _read(sound: soundfile.SoundFile, max_audio_s: int) -> Iterator[NDArray[np.float32]]:
    if sound.samplerate < _MIN_RATE_HZ:
        raise ValueError(sound.samplerate)
    limit = max_audio_s * sound.samplerate
    if limit < sound.frames < _UNKNOWN_FRAMES:
        raise _too_long(max_audio_s)
    resampler = soxr.ResampleStream(sound.samplerate, STT_RATE_HZ, 1, dtype="float32")
    at_once = max(1, min(_BLOCK_SAMPLES // sound.channels, _BLOCK_S * sound.samplerate))
    frames = 0
    while len(block := sound.read(at_once, dtype="float32", always_2d=True)):
        frames += len(block)
        if frames > limit:
            raise _too_long(max_audio_s)
        yield _finite(resampler.resample_chunk(block.mean(axis=1)))
    yield _finite(resampler.resample_chunk(np.zeros(0, np.float32), last=True))


def _finite(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    if not np.isfinite(samples).all():
        raise bad_request("'file' holds samples that are not finite numbers.", param="file", code="not_audio")
    return samples


def _too_long(max_audio_s: int) -> Problem:
    return Problem(413, f"'file' is longer than {max_audio_s} s.", code="audio_too_long", param="file")
