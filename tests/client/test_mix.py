from __future__ import annotations

import numpy as np
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from server.client.events import ExaminerAudio, Interrupted
from server.client.mix import Recording
from server.client.session import TimedEvent


def ramp(samples: int, start: int = 1) -> np.ndarray:
    return (np.arange(samples) + start).astype(np.int16)


def examiner_said(recording: Recording, at_s: float, pcm: np.ndarray) -> None:
    recording.note(TimedEvent(at_s, ExaminerAudio(pcm)))


def test_the_examiner_is_heard_when_its_audio_arrives():
    """Audio that finds the queue empty plays at once, to the sample."""
    recording = Recording()
    examiner_said(recording, 0.5, ramp(100))
    mixed = recording.mix(1.0)
    assert mixed.size == 24_000
    assert mixed[12_000:12_100].tolist() == ramp(100).tolist()
    assert not mixed[:12_000].any()
    assert not mixed[12_100:].any()


def test_audio_that_comes_early_waits_for_what_is_queued():
    """Three blocks that arrive at once are heard one after another without a gap."""
    recording = Recording()
    for start in (1, 101, 201):
        examiner_said(recording, 0.25, ramp(100, start))
    assert recording.mix(1.0)[6_000:6_300].tolist() == ramp(300).tolist()


def test_interrupted_empties_the_queue_to_the_sample():
    """What had been heard at the cut stays; the rest of the block and all that was queued go."""
    recording = Recording()
    examiner_said(recording, 0.0, ramp(12_000))
    examiner_said(recording, 0.1, ramp(12_000))
    recording.note(TimedEvent(0.25, Interrupted()))
    examiner_said(recording, 0.5, ramp(10))
    mixed = recording.mix(1.0)
    assert mixed[:6_000].tolist() == ramp(6_000).tolist()
    assert not mixed[6_000:12_000].any()
    assert mixed[12_000:12_010].tolist() == ramp(10).tolist()


def test_an_interruption_of_silence_changes_nothing():
    """When everything was heard, the cut cuts nothing, and does not hold back what comes."""
    recording = Recording()
    examiner_said(recording, 0.0, ramp(240))
    recording.note(TimedEvent(0.5, Interrupted()))
    examiner_said(recording, 0.5, ramp(240))
    mixed = recording.mix(1.0)
    assert mixed[:240].tolist() == ramp(240).tolist()
    assert mixed[12_000:12_240].tolist() == ramp(240).tolist()


def test_the_candidate_is_placed_when_it_spoke():
    """A click of the candidate at half a second is at half a second, though its rate is another."""
    recording = Recording()
    click = np.zeros(1_600, np.int16)
    click[800] = 10_000
    recording.candidate_spoke(0.45, click)
    assert int(np.argmax(np.abs(recording.mix(1.0)))) == 12_000


def test_both_voices_together_are_not_clipped():
    """Where both are loud, all of it becomes quieter, so that the peak is full scale and the shape stays."""
    recording = Recording()
    recording.candidate_spoke(0.0, np.full(16_000, 30_000, np.int16))
    examiner_said(recording, 0.5, np.full(12_000, 30_000, np.int16))
    mixed = recording.mix(1.0).astype(int)
    assert mixed.max() == 32_767
    assert abs(mixed[6_000] / mixed[18_000] - 0.5) < 0.01


@given(st.floats(0, 3), st.floats(0, 3), st.integers(0, 5_000), st.integers(0, 5_000))
def test_the_recording_is_as_long_as_the_session(duration_s, at_s, candidate, examiner):
    """Whatever was said and queued, the length is the session's, to the sample."""
    recording = Recording()
    recording.candidate_spoke(at_s, ramp(candidate))
    examiner_said(recording, at_s, ramp(examiner))
    assert recording.mix(duration_s).size == round(duration_s * 24_000)


def test_the_file_is_mono_24_khz_16_bit(tmp_path):
    """The file holds the mix as it is."""
    recording = Recording()
    examiner_said(recording, 0.0, ramp(1_000))
    path = tmp_path / "both.wav"
    recording.write(path, 0.5)
    with soundfile.SoundFile(path) as file:
        assert (file.samplerate, file.channels, file.subtype, file.format) == (24_000, 1, "PCM_16", "WAV")
        assert np.array_equal(file.read(dtype="int16"), recording.mix(0.5))
