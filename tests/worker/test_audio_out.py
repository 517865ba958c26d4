"""Speech as bytes."""

import io

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from engines.worker.audio_out import MEDIA_TYPES, encoder, to_pcm

TONE = (0.3 * np.sin(np.arange(61_280) * 0.05)).astype(np.float32)


def encoded(response_format: str, samples: np.ndarray) -> bytes:
    codec = encoder(response_format)
    blocks = [codec.encode(block) for block in np.array_split(samples, 5)]
    return b"".join((*blocks, codec.finish()))


@pytest.mark.parametrize("response_format", sorted(set(MEDIA_TYPES) - {"pcm"}))
def test_every_format_holds_the_whole_of_the_audio(response_format: str) -> None:
    """Decoded again, it is as long as it was, but for an MP3's frame of padding at either end, and as loud."""
    samples, rate_hz = soundfile.read(io.BytesIO(encoded(response_format, TONE)), dtype="float32")
    assert rate_hz == 24_000
    assert len(samples) / rate_hz == pytest.approx(len(TONE) / 24_000, abs=0.1)
    assert np.abs(samples[5_000:50_000]).max() == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize("response_format", ["pcm", "wav", "opus", "mp3"])
def test_audio_leaves_as_it_is_made(response_format: str) -> None:
    """A second of audio gives bytes before the next is there. FLAC alone is sent at its end: it tells its length."""
    codec = encoder(response_format)
    assert len(codec.encode(TONE[:24_000])) > 500
    codec.finish()


@pytest.mark.parametrize(("response_format", "size"), [("pcm", 0), ("wav", 44)])
def test_no_audio_is_an_empty_file_of_its_format(response_format: str, size: int) -> None:
    """Nothing to say is no error."""
    assert len(encoder(response_format).finish()) == size


@given(st.lists(st.floats(-4, 4, width=32), max_size=50))
def test_pcm_is_clipped_and_never_wraps(values: list[float]) -> None:
    """A sample beyond ±1 becomes the loudest there is, of the same sign."""
    samples = np.array(values, np.float32)
    back = np.frombuffer(to_pcm(samples), "<i2") / 32_767
    assert np.abs(back - np.clip(samples, -1, 1)).max(initial=0) < 1e-4
