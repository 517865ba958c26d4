"""Long audio in stretches."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.worker.stretches import QUIET_SAMPLES, SEARCH_SAMPLES, STRETCH_SAMPLES, stretches


def noise(samples: int) -> np.ndarray:
    return np.random.default_rng(7).uniform(-0.5, 0.5, samples).astype(np.float32)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, STRETCH_SAMPLES), max_size=4))
def test_nothing_is_dropped_and_no_stretch_is_too_long(lengths: list[int]) -> None:
    """Whatever the blocks: the stretches make up the audio, there is one at least, and only the last may be short."""
    audio = np.arange(sum(lengths), dtype=np.float32)
    found = list(stretches(np.split(audio, np.cumsum(lengths)[:-1] if lengths else [])))
    assert np.array_equal(np.concatenate(found), audio)
    assert all(STRETCH_SAMPLES - SEARCH_SAMPLES < len(stretch) <= STRETCH_SAMPLES for stretch in found[:-1])
    assert len(found[-1]) <= STRETCH_SAMPLES


def test_a_cut_is_in_a_pause() -> None:
    """Where a pause lies in the last half-minute before the bound, no word is cut."""
    audio = noise(STRETCH_SAMPLES + 1)
    pause = slice(STRETCH_SAMPLES - 2 * SEARCH_SAMPLES // 3, STRETCH_SAMPLES - 2 * SEARCH_SAMPLES // 3 + QUIET_SAMPLES)
    audio[pause] = 0
    first, rest = stretches([audio])
    assert pause.start <= len(first) <= pause.stop
    assert len(rest) == len(audio) - len(first)


def test_audio_within_the_bound_is_one_stretch() -> None:
    """It is not cut, however quiet it is somewhere; no audio at all is one empty stretch."""
    assert [len(stretch) for stretch in stretches([np.zeros(STRETCH_SAMPLES, np.float32)])] == [STRETCH_SAMPLES]
    assert [len(stretch) for stretch in stretches([])] == [0]
