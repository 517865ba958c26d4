"""Whisper hears short speech in a short context, as well as in the whole one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr
from faster_whisper import WhisperModel
from numpy.typing import NDArray

from engines.models import Lock, Store
from engines.protocols import STT_RATE_HZ
from engines.silero import SileroVoiceActivity
from engines.worker.config import SttConfig
from engines.worker.short_context import WHOLE_FRAMES, context
from engines.worker.transcriber import Request, Transcriber
from server.bench.figures import words_wrong
from server.bench.spoken import rules, spoken_in
from server.speech.pcm import to_float32

READ = """It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of
foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season of light, it was
the season of darkness, it was the spring of hope, it was the winter of despair, we had everything before
us, we had nothing before us, we were all going direct to heaven, we were all going direct the other way. In
short, the period was so far like the present period that some of its noisiest authorities insisted on its
being received, for good or for evil, in the superlative degree of comparison only."""

Samples = NDArray[np.float32]


@pytest.fixture(scope="module")
def model_dir(lock: Lock, models_dir: Path) -> str:
    """Where tiny.en lies."""
    return str(Store(models_dir).path(lock.profile("ci"), "stt"))


@pytest.fixture(scope="module")
def transcriber(model_dir: str) -> Transcriber:
    """The worker's own, in this process."""
    return Transcriber(SttConfig(model_dir, "tiny.en", "en"))


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The frames of each context that is encoded from now on."""
    frames: list[int] = []
    stock = WhisperModel.encode

    def encode(self: WhisperModel, features: Samples) -> object:
        frames.append(features.shape[-1])
        return stock(self, features)

    monkeypatch.setattr(WhisperModel, "encode", encode)
    return frames


@pytest.fixture(scope="module")
def reading(two_cities: Path) -> Samples:
    """A person reads, 44 s."""
    samples, rate_hz = soundfile.read(two_cities, dtype="float32")
    resampled: Samples = soxr.resample(samples, rate_hz, STT_RATE_HZ)
    return resampled


def text_of(transcriber: Transcriber, samples: Samples) -> str:
    return "".join(segment.text for segment in transcriber.transcribe(samples, Request("en"))).strip()


@pytest.mark.parametrize(
    ("frames", "expected"),
    [(1, 3000), (125, 3000), (126, 1500), (1100, 1500), (1201, 1602), (2600, 3000), (3000, 3000)],
)
def test_the_context_holds_the_speech_and_silence_behind_it(frames: int, expected: int) -> None:
    """Single words have all of Whisper's window, whole sentences half of it, longer ones what they need."""
    assert context(frames) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"), [(1.2, [3000]), (1.9, [1500]), (5.0, [1500]), (15.0, [1900]), (28.0, [3000])]
)
def test_speech_is_encoded_once_in_a_context_of_its_length(
    seconds: float, expected: list[int], reading: Samples, transcriber: Transcriber, encoded: list[int]
) -> None:
    """What is understood well is not heard again."""
    assert text_of(transcriber, reading[: round(seconds * STT_RATE_HZ)])
    assert encoded == expected


def test_what_leaves_a_doubt_is_heard_again_in_full(transcriber: Transcriber, encoded: list[int]) -> None:
    """Silence, of which a short context knows nothing, and noise: the whole context decides, as it ever did."""
    noise = np.random.default_rng(1).normal(0, 0.1, 2 * STT_RATE_HZ).astype(np.float32)
    for nothing in (np.zeros(2 * STT_RATE_HZ, np.float32), noise):
        encoded.clear()
        text_of(transcriber, nothing)
        assert encoded == [1500, WHOLE_FRAMES]


def test_a_reading_is_understood_as_well_as_by_the_stock_library(
    model_dir: str, reading: Samples, lock: Lock, models_dir: Path, transcriber: Transcriber
) -> None:
    """Cut at its pauses, as a session cuts it: no more wrong words than faster-whisper on the same pieces."""
    vad = SileroVoiceActivity(Store(models_dir).path(lock.profile("ci"), "vad"))
    pcm = (np.concatenate([reading, np.zeros(STT_RATE_HZ, np.float32)]) * 32_767).astype(np.int16)
    pieces = [to_float32(pcm[start:end]) for start, end in asyncio.run(spoken_in(pcm, vad, rules(None))).segments]
    assert len(pieces) >= 5
    stock = WhisperModel(model_dir, device="cpu", compute_type="int8", cpu_threads=2)
    theirs = " ".join(
        part.text for piece in pieces for part in stock.transcribe(piece, language="en", beam_size=1, best_of=1)[0]
    )
    ours = " ".join(text_of(transcriber, piece) for piece in pieces)
    assert words_wrong(READ, ours)[0] <= words_wrong(READ, theirs)[0]
