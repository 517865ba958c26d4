"""Files that are damaged, or whose headers promise what is not there: what is read is what is there."""

import io
import struct
import tracemalloc

import numpy as np
import pytest
import soundfile

from engines.worker.audio_in import decode
from engines.worker.problems import Problem

RATE_HZ = 24_000
TONE = (0.3 * np.sin(np.arange(10 * RATE_HZ) * 0.05)).astype(np.float32)


def written(samples: np.ndarray, container: str, rate_hz: int = RATE_HZ) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate_hz, format=container)
    return file.getvalue()


def flac_that_says(frames: int) -> bytes:
    """Ten seconds of FLAC with another number in the 36 bits of its header that tell its length."""
    file = bytearray(written(TONE, "FLAC"))
    told = int.from_bytes(file[18:26], "big") >> 36 << 36 | frames
    file[18:26] = told.to_bytes(8, "big")
    return bytes(file)


def wav_that_says(rate_hz: int, channels: int, body: bytes) -> bytes:
    """Sixteen bits, four gigabytes long by its header."""
    width = 2 * channels
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, channels, rate_hz, rate_hz * width % 2**32, width % 2**16, 16)
    return b"RIFF\xff\xff\xff\xffWAVE" + fmt + b"data\xff\xff\xff\xff" + body


def seconds(file: bytes, max_audio_s: int = 3_600) -> float:
    return len(decode(io.BytesIO(file), max_audio_s)) / 16_000


@pytest.mark.parametrize("container", ["MP3", "OGG"])
def test_a_file_that_was_cut_short_holds_what_is_left_of_it(container: str) -> None:
    """Half the bytes are about half the seconds: nothing is heard twice to fill the length that the header tells."""
    file = written(TONE, container)
    assert 3.0 < seconds(file[: len(file) // 2]) < 5.5


def test_a_flac_that_was_cut_short_is_refused() -> None:
    """libsndfile says that a frame is broken, and that is told."""
    file = written(TONE, "FLAC")
    with pytest.raises(Problem) as refused:
        seconds(file[: len(file) // 2])
    assert (refused.value.status, refused.value.code) == (400, "not_audio")


@pytest.mark.parametrize("frames", [0, 20 * RATE_HZ], ids=["no length", "twice its length"])
def test_a_flac_is_read_to_its_end_whatever_length_it_tells(frames: int) -> None:
    """A FLAC that was written to a pipe, as ffmpeg does, tells none."""
    assert seconds(flac_that_says(frames)) == pytest.approx(10.0)


def test_a_length_beyond_the_limit_is_refused_unread() -> None:
    """A declared month costs nothing."""
    tracemalloc.start()
    try:
        with pytest.raises(Problem) as refused:
            seconds(flac_that_says(2**36 - 1))
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (refused.value.status, refused.value.code) == (413, "audio_too_long")
    assert peak_bytes < 2e6


def test_a_limit_holds_where_no_length_is_told() -> None:
    """It counts what comes out."""
    with pytest.raises(Problem) as refused:
        seconds(flac_that_says(0), max_audio_s=9)
    assert refused.value.code == "audio_too_long"


@pytest.mark.parametrize(
    ("rate_hz", "channels", "found"), [(16_000, 1, 0.1), (16_000, 200, 0.0005), (2**31 - 1, 1, 0.0)]
)
def test_a_wav_header_that_lies_is_no_longer_than_its_data(rate_hz: int, channels: int, found: float) -> None:
    """Four gigabytes are told, 3 200 bytes are there: a WAV from a stream says the same, and is right."""
    assert seconds(wav_that_says(rate_hz, channels, bytes(3_200))) == pytest.approx(found, abs=1e-4)


def test_a_rate_at_which_nobody_speaks_is_refused() -> None:
    """At 1 Hz three kilobytes would be half an hour."""
    with pytest.raises(Problem) as refused:
        seconds(wav_that_says(1, 1, bytes(3_200)))
    assert refused.value.code == "not_audio"


def test_many_channels_take_no_more_memory_than_one() -> None:
    """Six seconds of a hundred silent channels are some kilobytes of Vorbis, 115 MB if they were decoded at once."""
    file = io.BytesIO()
    with soundfile.SoundFile(file, "w", 48_000, 100, format="OGG") as sound:
        for _ in range(60):
            sound.write(np.zeros((4_800, 100), np.float32))
    tracemalloc.start()
    try:
        assert seconds(file.getvalue()) == pytest.approx(6.0)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < 20e6
