"""The tape keeps the candidate's audio, addressed by sample offset, for as long as a segment may be cut out of it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from server.live.tape import Tape


def record(lengths: list[int]) -> tuple[Tape, np.ndarray]:
    audio = np.arange(sum(lengths), dtype=np.int16)
    tape, at = Tape(), 0
    for length in lengths:
        tape.record(audio[at : at + length])
        at += length
    return tape, audio


def test_an_empty_tape_gives_nothing() -> None:
    """Cutting what was never recorded gives no samples, and is no fault."""
    assert Tape().cut(0, 100).shape == (0,)
    assert Tape().end == 0


def test_a_cut_the_wrong_way_round_is_empty() -> None:
    """An end at or before the start gives no samples."""
    tape, _ = record([512])
    assert len(tape.cut(300, 300)) == 0
    assert len(tape.cut(300, 200)) == 0


def test_a_cut_is_a_copy() -> None:
    """What is done to a cut does nothing to the tape."""
    tape, audio = record([512])
    tape.cut(0, 512)[:] = -1
    np.testing.assert_array_equal(tape.cut(0, 512), audio)


def test_forgetting_keeps_the_window_that_the_offset_lies_in() -> None:
    """Only windows that end at or before the offset go: a segment that starts at the offset can still be cut."""
    tape, audio = record([512, 512, 512])
    tape.forget(600)
    np.testing.assert_array_equal(tape.cut(600, 1536), audio[600:])
    assert len(tape.cut(0, 512)) == 0


@given(
    st.lists(st.integers(1, 64), max_size=12),
    st.integers(0, 900),
    st.tuples(st.integers(-5, 900), st.integers(-5, 900)),
)
def test_a_cut_is_what_was_recorded_there(lengths: list[int], forgotten: int, span: tuple[int, int]) -> None:
    """Whatever the windows, and whatever was forgotten before it, a cut is the recording between its offsets."""
    tape, audio = record(lengths)
    tape.forget(forgotten)
    start, end = max(span[0], forgotten), max(span[1], 0)
    np.testing.assert_array_equal(tape.cut(start, end), audio[start:end])
    assert tape.end == len(audio)
