"""Silero over a whole file: where speech starts and ends."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engines.exits import Unusable
from engines.protocols import STT_RATE_HZ, VAD_WINDOW_SAMPLES
from engines.worker.onnx import session
from engines.worker.problems import Problem

CONTEXT_SAMPLES: Final = 64
"""Silero's window is preceded by the last 64 samples of the one before it."""

START: Final = 0.5
STOP: Final = 0.35
"""Silero's own thresholds: speech begins at 0.5 and has not ended before it falls below 0.35."""

MIN_SPEECH_MS: Final = 250
MIN_SILENCE_MS: Final = 100
PAD_MS: Final = 30
"""Silero's own defaults for a file: shorter speech is dropped, shorter silence bridged, each end padded."""

WINDOW_MS: Final = 1000 * VAD_WINDOW_SAMPLES // STT_RATE_HZ

_WINDOWS_A_STEP = 1000


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of speech, in milliseconds from the beginning of the file."""

    start: int
    end: int


class Detector:
    """One loaded Silero; each file has a state of its own."""

    def __init__(self, onnx: str) -> None:
        """Load the model; raises :class:`Unusable`."""
        if not Path(onnx).is_file():
            raise Unusable(f"vad: no file {onnx}: fetch the profile's models")
        try:
            self._session = session(onnx, threads=1)
        except Exception as error:  # onnxruntime's errors have no common base
            raise Unusable(f"vad: {onnx} cannot be loaded: {error}") from error

    def detect(self, samples: NDArray[np.float32]) -> Generator[list[Span] | None, None, None]:
        """Yield ``None`` after every stretch of 32 s, the spans at the end; ``samples`` mono at 16 kHz, shape [n]."""
        probabilities: list[float] = []
        for probability in self._probabilities(samples):
            probabilities.append(probability)
            if len(probabilities) % _WINDOWS_A_STEP == 0:
                yield None
        yield spans(probabilities, 1000 * len(samples) // STT_RATE_HZ)

    def _probabilities(self, samples: NDArray[np.float32]) -> Iterator[float]:
        state = np.zeros((2, 1, 128), np.float32)
        padded = np.pad(samples, (CONTEXT_SAMPLES, -len(samples) % VAD_WINDOW_SAMPLES))
        for start in range(0, len(padded) - CONTEXT_SAMPLES, VAD_WINDOW_SAMPLES):
            window = padded[None, start : start + CONTEXT_SAMPLES + VAD_WINDOW_SAMPLES]
            feed = {"input": window, "state": state, "sr": np.array(STT_RATE_HZ, np.int64)}
            output, state = self._session.run(None, feed)
            probability = float(output[0, 0])
            if not 0.0 <= probability <= 1.0:
                raise Problem(500, "The voice activity model gave no probability.", code="bad_probability")
            yield probability


def spans(probabilities: Iterable[float], total_ms: int) -> list[Span]:
    """Return the spans of speech in a row of probabilities, one for each window of 32 ms."""
    loud: list[Span] = []
    start: int | None = None
    for at, probability in enumerate(probabilities):
        if start is None and probability >= START:
            start = at * WINDOW_MS
        elif start is not None and probability < STOP:
            loud.append(Span(start, at * WINDOW_MS))
            start = None
    if start is not None:
        loud.append(Span(start, total_ms))
    return [_padded(span, total_ms) for span in _bridged(loud) if span.end - span.start >= MIN_SPEECH_MS]


def _bridged(loud: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in loud:
        if joined and span.start - joined[-1].end < MIN_SILENCE_MS:
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return joined


def _padded(span: Span, total_ms: int) -> Span:
    return Span(max(0, span.start - PAD_MS), min(total_ms, span.end + PAD_MS))
