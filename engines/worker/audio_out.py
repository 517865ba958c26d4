"""Speech as bytes, in the formats of ``response_format``, written while it is made."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO, Final, Protocol, cast

import numpy as np
import soundfile
from numpy.typing import NDArray

from engines.protocols import TTS_RATE_HZ

MEDIA_TYPES: Final = {
    "pcm": "audio/pcm",
    "wav": "audio/wav",
    "flac": "audio/flac",
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
}
"""What ``response_format`` may be, and the Content-Type of each. ``pcm`` is 24 kHz, 16 bit, mono, little-endian."""

_STREAMS: Final[Mapping[str, Mapping[str, Any]]] = {
    # A constant bit rate, because the length of a stream that varies can only be told by a header at its end.
    "mp3": {"format": "MP3", "subtype": "MPEG_LAYER_III", "bitrate_mode": "CONSTANT", "compression_level": 0.5},
    "opus": {"format": "OGG", "subtype": "OPUS"},
}
_UNKNOWN_LENGTH = 0xFFFFFFFF


class Encoder(Protocol):
    """Turns blocks of samples into bytes, as far as the format allows at once."""

    def encode(self, samples: NDArray[np.float32]) -> bytes:
        """Return the bytes that are ready after ``samples``, shape [n], in [-1, 1]."""
        ...

    def finish(self) -> bytes:
        """Return the last bytes; the encoder cannot be used afterwards."""
        ...


def encoder(response_format: str) -> Encoder:
    """Return a new encoder for one of :data:`MEDIA_TYPES`."""
    if response_format in _STREAMS:
        return _Stream(_STREAMS[response_format])
    if response_format == "flac":
        return _Flac()
    return _Pcm(_wav_header() if response_format == "wav" else b"")


def to_pcm(samples: NDArray[np.float32]) -> bytes:
    """Return float samples as 16-bit little-endian PCM; what is beyond [-1, 1] is clipped."""
    return (np.clip(samples, -1.0, 1.0) * 32767.0).round().astype("<i2").tobytes()


def _wav_header() -> bytes:
    """A WAV header for a stream whose length is not known yet: both sizes are 0xFFFFFFFF, as OpenAI's own are."""
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, TTS_RATE_HZ, 2 * TTS_RATE_HZ, 2, 16)
    return (
        struct.pack("<4sI4s", b"RIFF", _UNKNOWN_LENGTH, b"WAVE") + fmt + struct.pack("<4sI", b"data", _UNKNOWN_LENGTH)
    )


class _Pcm:
    def __init__(self, head: bytes) -> None:
        self._head = head

    def encode(self, samples: NDArray[np.float32]) -> bytes:
        head, self._head = self._head, b""
        return head + to_pcm(samples)

    def finish(self) -> bytes:
        return self._head


class _Flac:
    """Sent whole at the end: its header tells the length, and libsndfile reads no FLAC that leaves it out."""

    def __init__(self) -> None:
        self._file = io.BytesIO()
        self._sound = soundfile.SoundFile(self._file, "w", TTS_RATE_HZ, 1, format="FLAC", subtype="PCM_16")

    def encode(self, samples: NDArray[np.float32]) -> bytes:
        self._sound.write(np.clip(samples, -1.0, 1.0))
        return b""

    def finish(self) -> bytes:
        self._sound.close()
        return self._file.getvalue()


class _Stream:
    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._sink = _Outlet()
        self._sound = soundfile.SoundFile(cast(BinaryIO, self._sink), "w", TTS_RATE_HZ, 1, **settings)

    def encode(self, samples: NDArray[np.float32]) -> bytes:
        self._sound.write(np.clip(samples, -1.0, 1.0))
        return self._sink.take()

    def finish(self) -> bytes:
        self._sound.close()
        return self._sink.take()


class _Outlet(io.RawIOBase):
    """A file that is only appended to: what was taken is gone, and a header rewritten at the end is let go.

    MP3 notes the total length there; players manage without it, as they must with any live stream.
    """

    def __init__(self) -> None:
        super().__init__()
        self._pending = bytearray()
        self._end = 0
        self._position = 0

    def write(self, data: object) -> int:
        block = bytes(data)  # type: ignore[call-overload]  # soundfile passes a cffi buffer
        if self._position == self._end:
            self._pending += block
            self._end += len(block)
        self._position += len(block)
        return len(block)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._end}[whence]
        self._position = origin + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def take(self) -> bytes:
        ready = bytes(self._pending)
        self._pending.clear()
        return ready
