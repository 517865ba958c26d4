"""The candidate's voice, from files: any format and rate that libsndfile reads becomes int16, mono, 16 kHz.

A file may hold several turns: :func:`split_at_pauses` finds them by level. A frame of 20 ms is silent when it lies
35 dB below the file's loud frames (the 95th percentile, so that a click does not count), or below -60 dB of full
scale, which is a microphone's hiss. This only splits what the candidate plays; the server hears for itself.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from server.client.errors import UnusableAudio
from server.client.session import CANDIDATE_RATE_HZ

_FRAME_SAMPLES = CANDIDATE_RATE_HZ // 50
_BELOW_SPEECH = 10 ** (-35 / 20)
_HISS = 32_768 * 10 ** (-60 / 20)
_MARGIN_FRAMES = 15
"""What is kept of a pause on either side of it (300 ms), for soft beginnings and ends."""


def load_voice(path: Path) -> NDArray[np.int16]:
    """Return the voice in ``path`` as int16, mono, 16 kHz, shape [n], n > 0. Raises :class:`UnusableAudio`."""
    if path.is_dir():
        raise UnusableAudio(f"{path} is a directory, expected an audio file")
    samples, rate_hz = _read(path)
    if not samples.size:
        raise UnusableAudio(f"{path} holds no audio: 0 samples")
    mono = np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0).mean(axis=1)
    voice = soxr.resample(mono, rate_hz, CANDIDATE_RATE_HZ)
    if not voice.size:
        raise UnusableAudio(f"{path} holds too little audio: {samples.shape[0]} samples at {rate_hz} Hz")
    loudest = np.iinfo(np.int16).max
    return np.asarray(np.clip(np.rint(voice * loudest), -loudest, loudest), dtype=np.int16)


def _read(path: Path) -> tuple[NDArray[np.float32], int]:
    try:
        with path.open("rb") as file:
            samples, rate_hz = soundfile.read(file, dtype="float32", always_2d=True)
    except OSError as fault:
        raise UnusableAudio(f"cannot read {path}: {fault.strerror}") from fault
    except (soundfile.SoundFileError, TypeError) as fault:  # a name in .raw makes soundfile ask for a rate
        raise UnusableAudio(f"{path} is not audio that libsndfile reads (WAV, FLAC, OGG, MP3, AIFF …)") from fault
    return np.asarray(samples, dtype=np.float32), int(rate_hz)


def split_at_pauses(voice: NDArray[np.int16], *, pause_s: float = 1.0) -> list[NDArray[np.int16]]:
    """Return the stretches of ``voice`` between inner pauses of at least ``pause_s`` seconds, in order.

    Of such a pause 300 ms stay with the stretch before it and 300 ms with the one after; silence at the very
    beginning and end stays where it is. A voice without such a pause, or without any sound, is one stretch.
    """
    sounding = np.flatnonzero(_levels(voice) > _silence_below(voice))
    gaps = np.flatnonzero(np.diff(sounding) - 1 >= pause_s * CANDIDATE_RATE_HZ / _FRAME_SAMPLES)
    starts = [0, *((sounding[gap + 1] - _MARGIN_FRAMES) * _FRAME_SAMPLES for gap in gaps)]
    ends = [*((sounding[gap] + 1 + _MARGIN_FRAMES) * _FRAME_SAMPLES for gap in gaps), voice.size]
    return [voice[start:end] for start, end in zip(starts, ends, strict=True)]


def _levels(voice: NDArray[np.int16]) -> NDArray[np.float32]:
    frames = np.pad(voice, (0, -voice.size % _FRAME_SAMPLES)).reshape(-1, _FRAME_SAMPLES)
    return np.asarray(np.sqrt(np.mean(frames.astype(np.float32) ** 2, axis=1)), dtype=np.float32)


def _silence_below(voice: NDArray[np.int16]) -> float:
    return max(float(np.percentile(_levels(voice), 95)) * _BELOW_SPEECH, _HISS)
