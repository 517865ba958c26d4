from __future__ import annotations

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from server.client.audio import load_voice, split_at_pauses
from server.client.errors import UnusableAudio

RATE_HZ = 16_000


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("noise.bin", b"\x93\x11" * 400, "is not audio"),
        ("notes.wav", b"these are words", "is not audio"),
        ("empty.wav", b"", "is not audio"),
        ("bare.raw", b"\0\0" * 100, "is not audio"),
        ("cut.flac", b"fLaC\x00\x00\x00\x22", "is not audio"),
    ],
)
def test_what_is_not_audio_is_refused_by_name(tmp_path, name, content, why):
    """A file that libsndfile does not read is named in one line that says so."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UnusableAudio, match=why) as refusal:
        load_voice(path)
    assert str(path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_missing_file_is_refused(tmp_path):
    """A missing file is named, with the system's own word for it."""
    with pytest.raises(UnusableAudio, match=r"cannot read .*none\.wav: No such file"):
        load_voice(tmp_path / "none.wav")


def test_a_file_that_cannot_be_opened_is_refused(tmp_path):
    """Whatever the system has against opening it is told: here, a link that leads to itself."""
    path = tmp_path / "loop.wav"
    path.symlink_to(path)
    with pytest.raises(UnusableAudio, match=r"cannot read .*loop\.wav: Too many levels of symbolic links"):
        load_voice(path)


def test_a_directory_is_refused(tmp_path):
    """A directory is called one."""
    with pytest.raises(UnusableAudio, match="is a directory, expected an audio file"):
        load_voice(tmp_path)


@pytest.mark.parametrize(
    ("samples", "why"), [(0, "holds no audio: 0 samples"), (1, "holds too little audio: 1 samples")]
)
def test_a_file_without_enough_audio_is_refused(tmp_path, samples, why):
    """A header alone is no voice; nor is a single sample at 48 kHz, of which nothing is left at 16 kHz."""
    path = tmp_path / "header.wav"
    soundfile.write(path, np.zeros(samples, np.int16), 48_000)
    with pytest.raises(UnusableAudio, match=why):
        load_voice(path)


@pytest.mark.parametrize("suffix", ["wav", "flac", "ogg", "mp3", "aiff"])
@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 44_100, 48_000])
def test_every_format_and_rate_becomes_the_contracts(tmp_path, tone, suffix, rate_hz):
    """Length and pitch stay, whatever the container, the codec and the rate."""
    path = tmp_path / f"voice.{suffix}"
    soundfile.write(path, tone(1.0, rate_hz), rate_hz)
    voice = load_voice(path)
    assert voice.dtype == np.int16
    assert abs(voice.size - RATE_HZ) <= 0.15 * RATE_HZ  # MP3 pads to whole frames
    middle = voice[4_000:12_000].astype(float)
    pitch_hz = np.argmax(np.abs(np.fft.rfft(middle * np.hanning(middle.size)))) * RATE_HZ / middle.size
    assert abs(pitch_hz - 440) <= 2
    assert 0.4 < np.abs(middle).max() / 32_767 < 0.6


def test_channels_are_averaged(tmp_path, tone):
    """Stereo becomes the mean of both channels: what is opposite in them goes, what is alike stays."""
    left = tone(0.5, RATE_HZ)
    soundfile.write(tmp_path / "opposite.wav", np.stack([left, -left], axis=1), RATE_HZ)
    soundfile.write(tmp_path / "alike.wav", np.stack([left, left], axis=1), RATE_HZ)
    assert np.abs(load_voice(tmp_path / "opposite.wav")).max() <= 1
    assert np.abs(load_voice(tmp_path / "alike.wav")).max() == pytest.approx(16_384, abs=4)


def test_broken_float_samples_do_not_spoil_the_voice(tmp_path):
    """NaN is silence, and what passes full scale stays at it."""
    samples = np.array([np.nan, np.inf, -np.inf, 3.0, -3.0, 0.5], dtype=np.float32)
    soundfile.write(tmp_path / "broken.wav", samples, RATE_HZ, subtype="FLOAT")
    full = 32_767
    assert load_voice(tmp_path / "broken.wav").tolist() == [0, full, -full, full, -full, 16_384]


def speech(seconds: float) -> np.ndarray:
    moments = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return np.rint(12_000 * np.sin(2 * np.pi * 300 * moments)).astype(np.int16)


def pause(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * RATE_HZ), np.int16)


def test_a_long_pause_parts_two_turns_and_leaves_300_ms_on_either_side():
    """The stretch before the pause and the one after it keep 300 ms of it each."""
    first, second = split_at_pauses(np.concatenate([speech(1.0), pause(2.0), speech(0.5)]))
    assert first.size == round(1.3 * RATE_HZ)
    assert second.size == round(0.8 * RATE_HZ)


def test_a_pause_for_breath_parts_nothing():
    """Under a second, a pause belongs to the turn."""
    voice = np.concatenate([speech(0.5), pause(0.9), speech(0.5)])
    assert [stretch.size for stretch in split_at_pauses(voice)] == [voice.size]


def test_hiss_is_a_pause():
    """A pause is found under the noise of a room, 40 dB below the voice."""
    hiss = np.random.default_rng(1).normal(0, 60, round(1.5 * RATE_HZ)).astype(np.int16)
    assert len(split_at_pauses(np.concatenate([speech(1.0), hiss, speech(1.0)]))) == 2


@pytest.mark.parametrize("voice", [pause(3.0), np.ones(1, np.int16), speech(0.01)])
def test_a_voice_without_a_pause_inside_is_one_turn(voice):
    """Silence alone, a single sample, a click: one stretch, whole."""
    assert [stretch.tolist() for stretch in split_at_pauses(voice)] == [voice.tolist()]


@given(
    st.lists(st.tuples(st.sampled_from([0.1, 0.5, 1.2]), st.sampled_from([0.2, 0.7, 1.2, 3.0])), min_size=1, max_size=6)
)
def test_no_sound_is_lost_by_splitting(parts):
    """Whatever the pauses, all that sounds is in some stretch, in order, and nothing twice."""
    voice = np.concatenate([piece for loud, quiet in parts for piece in (speech(loud), pause(quiet))])
    stretches = split_at_pauses(voice)
    assert len(stretches) == 1 + sum(quiet >= 1 for _, quiet in parts[:-1])
    joined = np.concatenate(stretches)
    assert joined[joined != 0].tolist() == voice[voice != 0].tolist()
