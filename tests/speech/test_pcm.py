"""Audio from a socket becomes windows of one size, however it was chunked."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.speech.pcm import Reframer, to_float32


def test_a_window_without_samples_is_refused() -> None:
    """A window holds at least one sample; the error tells what was given."""
    with pytest.raises(ValueError, match="at least one sample, got 0"):
        Reframer(0)


def test_nothing_comes_of_nothing() -> None:
    """An empty chunk completes no window, and an empty stream has no rest."""
    reframer = Reframer(512)
    assert reframer.push(b"") == []
    assert reframer.flush() is None


def test_half_a_sample_is_no_rest() -> None:
    """A stream that ends within its first sample has no audio to flush."""
    reframer = Reframer(512)
    assert reframer.push(b"\x01") == []
    assert reframer.flush() is None


@given(samples=st.binary(max_size=300), cuts=st.lists(st.integers(0, 300), max_size=20), window=st.integers(1, 9))
def test_chunking_changes_nothing(samples: bytes, cuts: list[int], window: int) -> None:
    """Whatever the chunks, odd ones too, the windows and the padded rest are the stream's own samples in order."""
    reframer = Reframer(window)
    edges = [0, *sorted(cuts), len(samples)]
    windows = [got for start, end in pairwise(edges) for got in reframer.push(samples[start:end])]
    expected = np.frombuffer(samples[: len(samples) // 2 * 2], dtype="<i2")
    assert all(got.dtype == np.int16 and got.shape == (window,) for got in windows)
    rest = reframer.flush()
    assert (rest is not None) == (len(expected) % window > 0)
    padded = np.concatenate([np.zeros(0, np.int16), *windows, *([] if rest is None else [rest])])
    assert padded[: len(expected)].tolist() == expected.tolist()
    assert not padded[len(expected) :].any()


def test_a_flushed_stream_goes_on_at_a_window_start() -> None:
    """After a flush the next bytes begin a new window: no half sample is left over to shift them."""
    reframer = Reframer(2)
    reframer.push(b"\x01\x00\x02")
    assert reframer.flush().tolist() == [1, 0]
    assert [window.tolist() for window in reframer.push(b"\x03\x00\x04\x00")] == [[3, 4]]


def test_full_scale_stays_in_range() -> None:
    """The lowest sample is -1, the highest just below 1."""
    scaled = to_float32(np.array([-32768, 0, 32767], dtype=np.int16))
    assert scaled.dtype == np.float32
    assert scaled.tolist() == [-1.0, 0.0, pytest.approx(0.99997, abs=1e-5)]
