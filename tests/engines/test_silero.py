"""The real Silero model: batched, and every stream for itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from engines.errors import EngineFault, EngineMisconfigured
from engines.models import Lock, Store
from engines.silero import SileroVoiceActivity

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="session")
def model(lock: Lock, models_dir: Path) -> Path:
    return Store(models_dir).path(lock.profile("ci"), "vad")


@pytest.fixture
def vad(model: Path) -> SileroVoiceActivity:
    return SileroVoiceActivity(model)


@pytest.fixture(scope="session")
def windows(speech_16k: np.ndarray) -> np.ndarray:
    """Human speech, shape [n, 512]."""
    samples = speech_16k[: len(speech_16k) // 512 * 512]
    return samples.reshape(-1, 512).astype(np.float32) / 32768


async def listen(stream, windows: np.ndarray) -> list[float]:
    return [await stream.probability(window) for window in windows]


@pytest.mark.parametrize("content", [None, b"", b"not a model"], ids=["missing", "empty", "nonsense"])
async def test_a_file_that_is_no_model_is_a_wrong_setting(tmp_path, content) -> None:
    """The error names the path."""
    path = tmp_path / "silero_vad.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(EngineMisconfigured, match=r"silero_vad\.onnx"):
        SileroVoiceActivity(path)


@pytest.mark.parametrize("shape", [(511,), (0,), (1, 512)])
async def test_a_window_of_another_shape_is_refused(vad, shape) -> None:
    """The error tells what was given, and the stream is as it was."""
    with pytest.raises(ValueError, match="expected a window of shape"):
        await vad.open().probability(np.zeros(shape, np.float32))


async def test_windows_of_a_stream_come_one_at_a_time(vad) -> None:
    """A second window while the first is awaited would have no state to start from."""
    stream, window = vad.open(), np.zeros(512, np.float32)
    first = asyncio.create_task(stream.probability(window))
    second = asyncio.create_task(stream.probability(window))
    assert 0 <= await first <= 1
    with pytest.raises(RuntimeError, match="still waiting"):
        await second


async def test_a_closed_stream_takes_no_window(vad) -> None:
    """Closing twice does nothing; a window after it is a mistake."""
    stream = vad.open()
    stream.close()
    stream.close()
    with pytest.raises(RuntimeError, match="closed"):
        await stream.probability(np.zeros(512, np.float32))


@pytest.mark.parametrize("answer", [float("nan"), -0.1, 1.5, float("inf")])
async def test_what_is_no_probability_is_a_fault_of_that_stream_alone(answer) -> None:
    """A stream whose answer is out of range is told, and goes on from where it was; others in the run hear nothing."""
    answers = [np.array([[answer], [0.7]], np.float32), np.array([[0.2]], np.float32)]
    states = []

    def model(windows: np.ndarray, given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        states.append(given)
        return answers.pop(0), given + 1

    vad, window = SileroVoiceActivity(Path("any"), load=lambda path: model), np.zeros(512, np.float32)
    broken, sound = vad.open(), vad.open()
    results = await asyncio.gather(broken.probability(window), sound.probability(window), return_exceptions=True)
    assert isinstance(results[0], EngineFault)
    assert results[1] == pytest.approx(0.7)
    assert await broken.probability(window) == pytest.approx(0.2)
    assert not states[1].any()


async def test_a_model_that_fails_leaves_nobody_waiting() -> None:
    """Every window of a failed run is answered with a fault."""

    def model(windows: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise RuntimeError("native fault")

    vad, window = SileroVoiceActivity(Path("any"), load=lambda path: model), np.zeros(512, np.float32)
    results = await asyncio.gather(*(vad.open().probability(window) for _ in range(3)), return_exceptions=True)
    assert [type(result) for result in results] == [EngineFault] * 3


async def test_windows_of_one_pass_go_through_one_run() -> None:
    """However many streams await a window at once, the model runs once."""
    sizes = []

    def model(windows: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sizes.append((windows.shape, states.shape))
        return np.full((len(windows), 1), 0.5, np.float32), states

    vad, window = SileroVoiceActivity(Path("any"), load=lambda path: model), np.zeros(512, np.float32)
    await asyncio.gather(*(vad.open().probability(window) for _ in range(32)))
    assert sizes == [((32, 576), (2, 32, 128))]


async def test_a_cancelled_window_leaves_its_stream_as_it_was(vad, windows) -> None:
    """The caller that goes away before the run takes no one with it."""
    stream, alone = vad.open(), vad.open()
    expected = await listen(alone, windows[40:50])
    await listen(stream, windows[40:49])
    task = asyncio.create_task(stream.probability(windows[100]))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await stream.probability(windows[49]) == pytest.approx(expected[-1], abs=1e-4)


async def test_probabilities_are_those_of_the_models_own_wrapper(vad, model, windows) -> None:
    """State and context carried from window to window, as the plain model needs them, for ten seconds of speech."""
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    state, context, expected = np.zeros((2, 1, 128), np.float32), np.zeros((1, 64), np.float32), []
    for window in windows[:300, None]:
        given = {"input": np.concatenate([context, window], axis=1), "state": state, "sr": np.array(16_000)}
        probability, state = session.run(None, given)
        context = window[:, -64:]
        expected.append(probability.item())
    assert await listen(vad.open(), windows[:300]) == pytest.approx(expected, abs=1e-4)
    assert max(expected) > 0.95
    assert min(expected) < 0.05


async def test_streams_in_one_run_do_not_mix(vad, windows) -> None:
    """Twelve streams at different places of the speech hear in one run what each would hear alone."""
    starts = range(0, 1_200, 100)
    alone = [await listen(vad.open(), windows[start : start + 60]) for start in starts]
    together = await asyncio.gather(*(listen(vad.open(), windows[start : start + 60]) for start in starts))
    assert np.array(together) == pytest.approx(np.array(alone), abs=1e-4)


async def test_ten_minutes_of_silence_and_speech_stay_stable(vad, windows) -> None:
    """State that is never reset does not drift: after ten minutes silence is silence and speech is speech."""
    stream = vad.open()
    for _ in range(2):
        await listen(stream, np.zeros((8_000, 512), np.float32))
        assert np.mean(np.array(await listen(stream, windows)) > 0.5) > 0.6
    assert max((await listen(stream, np.zeros((200, 512), np.float32)))[50:]) < 0.1
