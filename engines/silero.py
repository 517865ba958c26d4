"""Silero voice activity detection: one model in this process for every stream, batched.

The model takes windows of 512 samples at 16 kHz, each after the 64 samples before it, and a recurrent state that must
come back in. Windows that are awaited in the same pass of the event loop go through it in one run, on the loop itself:
a run is shorter than the hop to a thread and back under load (0.1 ms for one window, about 2 ms for 32).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from onnxruntime import InferenceSession, SessionOptions  # type: ignore[attr-defined]  # it exports without saying so

from engines.errors import EngineFault, EngineMisconfigured
from engines.protocols import STT_RATE_HZ, VAD_WINDOW_SAMPLES

CONTEXT_SAMPLES = 64
"""Samples before a window that the model wants in front of it, at 16 kHz (the model's own wrapper)."""

STATE_SIZE = 128
"""Width of the model's recurrent state, of shape [2, batch, 128]."""

Audio = NDArray[np.float32]

Model = Callable[[Audio, Audio], tuple[Audio, Audio]]
"""One run: windows with context [n, 576] and states [2, n, 128] in; probabilities [n, 1] and new states out."""


def load_model(path: Path) -> Model:
    """Return the model at ``path``, on one thread.

    Raises :class:`engines.errors.EngineMisconfigured` when it is missing or is no such model.
    """
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has no public base of its errors
        raise EngineMisconfigured("vad", f"expected a Silero model at {path}, could not load it") from error
    inputs = sorted(node.name for node in session.get_inputs())
    if inputs != ["input", "sr", "state"]:
        raise EngineMisconfigured("vad", f"expected a Silero model at {path}, found one with inputs {inputs}")
    rate = np.array(STT_RATE_HZ, dtype=np.int64)

    def run(windows: Audio, states: Audio) -> tuple[Audio, Audio]:
        outputs = session.run(["output", "stateN"], {"input": windows, "state": states, "sr": rate})
        return cast(tuple[Audio, Audio], tuple(outputs))

    return run


@dataclass(frozen=True, slots=True)
class _Waiting:
    stream: SileroStream
    window: Audio
    answer: asyncio.Future[float]


class SileroVoiceActivity:
    """The shared model at the path ``model``. All its streams belong to one event loop. Raises as ``load`` does."""

    def __init__(self, model: Path, load: Callable[[Path], Model] = load_model) -> None:
        self._model = load(model)
        self._waiting: list[_Waiting] = []

    def open(self) -> SileroStream:
        """Begin a new stream with a fresh state."""
        return SileroStream(self)

    def submit(self, stream: SileroStream, window: Audio) -> asyncio.Future[float]:
        """Queue ``stream``'s next window for the run after this pass of the loop; the future is its probability."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._run)
        waiting = _Waiting(stream, window, loop.create_future())
        self._waiting.append(waiting)
        return waiting.answer

    def _run(self) -> None:
        waiting, self._waiting = self._waiting, []
        batch = [each for each in waiting if not each.answer.done()]  # a cancelled one leaves its stream as it was
        if not batch:
            return
        windows = np.stack([np.concatenate((each.stream.context, each.window)) for each in batch])
        states = np.stack([each.stream.state for each in batch], axis=1)
        try:
            probabilities, states = self._model(windows, states)
        except Exception:  # as above; whatever it is, nobody may be left waiting
            for each in batch:
                each.answer.set_exception(EngineFault("vad", f"the model failed on {len(batch)} windows"))
            return
        for each, probability, state in zip(batch, probabilities[:, 0], np.moveaxis(states, 1, 0), strict=True):
            _answer(each, float(probability), state)


class SileroStream:
    """One stream's context and state; see :class:`engines.protocols.VoiceActivityStream`."""

    def __init__(self, engine: SileroVoiceActivity) -> None:
        self._engine = engine
        self._answer: asyncio.Future[float] | None = None
        self._closed = False
        self.context: Audio = np.zeros(CONTEXT_SAMPLES, dtype=np.float32)
        self.state: Audio = np.zeros((2, STATE_SIZE), dtype=np.float32)

    async def probability(self, window: Audio) -> float:
        """Return the probability, 0 to 1, that ``window`` holds speech: the stream's next 512 samples, float32.

        Raises :class:`ValueError` for another shape, :class:`RuntimeError` while another window is awaited or after
        :meth:`close`, :class:`engines.errors.EngineFault` when the model answers anything but a probability. After a
        fault, or when cancelled, the stream is as it was before the window.
        """
        if window.shape != (VAD_WINDOW_SAMPLES,):
            raise ValueError(f"expected a window of shape ({VAD_WINDOW_SAMPLES},), got {window.shape}")
        if self._closed or (self._answer and not self._answer.done()):
            state = "closed" if self._closed else "still waiting for the window before"
            raise RuntimeError(f"expected an open stream that awaits nothing, it is {state}")
        self._answer = self._engine.submit(self, window)
        return await self._answer

    def close(self) -> None:
        """End the stream. Closing twice does nothing."""
        self._closed = True


def _answer(waiting: _Waiting, probability: float, state: Audio) -> None:
    if not 0 <= probability <= 1:  # holds for NaN too
        fault = EngineFault("vad", f"expected a probability in [0, 1], got {probability}")
        waiting.answer.set_exception(fault)
        return
    waiting.stream.state = state
    waiting.stream.context = waiting.window[-CONTEXT_SAMPLES:].copy()
    waiting.answer.set_result(probability)
