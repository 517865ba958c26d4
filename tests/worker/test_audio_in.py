"""Uploads as samples."""

import io

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from engines.worker.audio_in import decode
from engines.worker.problems import Problem


def test_a_small_file_that_decodes_to_hours_is_refused() -> None:
    """A FLAC of silence packs an hour into some kilobytes: its decoded length counts."""
    file = io.BytesIO()
    soundfile.write(file, np.zeros(8_000 * 120, np.int16), 8_000, format="FLAC")
    file.seek(0)
    with pytest.raises(Problem) as refused:
        decode(file, max_audio_s=60)
    assert (refused.value.status, refused.value.code) == (413, "audio_too_long")


@given(st.binary(max_size=400))
def test_bytes_that_are_not_audio_are_refused_or_read_never_worse(data: bytes) -> None:
    """No bytes make anything but samples or a 400."""
    try:
        outcome = f"{decode(io.BytesIO(data), max_audio_s=60).ndim} dimension"
    except Problem as refused:
        outcome = f"refused with {refused.status}"
    assert outcome in ("1 dimension", "refused with 400")


def test_channels_are_averaged() -> None:
    """What is on one channel of two is half as loud, not lost."""
    file = io.BytesIO()
    soundfile.write(file, np.tile([0.5, 0.0], (1_600, 1)), 16_000, format="WAV", subtype="FLOAT")
    file.seek(0)
    assert decode(file, max_audio_s=60) == pytest.approx(np.full(1_600, 0.25), abs=1e-6)
