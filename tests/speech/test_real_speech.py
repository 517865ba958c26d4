"""Human speech through Silero and the endpoint: segments that recognition can be given, with no word cut."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr

from engines.models import Lock, Store
from engines.silero import SileroVoiceActivity
from server.speech.endpoint import Endpoint, EndpointRules, Event, SegmentEnded, TurnEnded
from server.speech.pcm import Reframer, to_float32

RATE_HZ = 16_000


@pytest.fixture(scope="module")
def speech(two_cities: Path) -> np.ndarray:
    """The reading at 16 kHz, int16, shape [n], with three seconds of silence after it."""
    samples, rate_hz = soundfile.read(two_cities, dtype="int16")
    return np.concatenate([soxr.resample(samples, rate_hz, RATE_HZ), np.zeros(3 * RATE_HZ, np.int16)])


@pytest.fixture(scope="module")
def events(speech: np.ndarray, lock: Lock, models_dir: Path) -> list[Event]:
    async def listen() -> list[Event]:
        stream = SileroVoiceActivity(Store(models_dir).path(lock.profile("ci"), "vad")).open()
        endpoint = Endpoint(EndpointRules())
        windows = Reframer(512).push(speech.astype("<i2").tobytes())
        return [each for window in windows for each in endpoint.push(await stream.probability(to_float32(window)))]

    return asyncio.run(listen())


def test_a_reading_gives_sensible_segments(events: list[Event]) -> None:
    """A calm reading of 44 s is cut in its pauses into a few segments that recognition can take, and is one turn."""
    segments = [event for event in events if isinstance(event, SegmentEnded)]
    assert 4 <= len(segments) <= 10
    assert all(0.5 < (segment.end - segment.start) / RATE_HZ <= 16 for segment in segments)
    assert 28 < sum(segment.speech_samples for segment in segments) / RATE_HZ < 40
    assert [type(event) for event in events].count(TurnEnded) == 1


def test_no_word_is_cut(speech: np.ndarray, events: list[Event]) -> None:
    """What is loud for as long as a word lies in a segment, and each segment begins and ends in silence."""
    segments = [event for event in events if isinstance(event, SegmentEnded)]
    heard = np.zeros(len(speech), bool)
    for segment in segments:
        heard[segment.start : segment.end] = True
    level = np.abs(speech.astype(float))
    word = RATE_HZ // 5
    assert np.convolve(np.where(heard, 0, level), np.ones(word) / word).max() < level[heard].mean()
    for segment in segments:
        edges = level[segment.start : segment.start + 320], level[segment.end - 320 : segment.end]
        assert max(edge.mean() for edge in edges) < level[heard].mean() / 4
