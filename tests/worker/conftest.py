"""One real worker for the whole run: profile ci, a lane of two places, served over a real socket."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from engines.local import SpeechWorkerSpec, speech_worker
from engines.models import Lock, Store
from engines.supervision import Supervised


@pytest.fixture(scope="session")
def worker(lock: Lock, models_dir: Path) -> Iterator[Supervised]:
    profile, store = lock.profile("ci"), Store(models_dir)
    spec = SpeechWorkerSpec(
        stt_dir=store.path(profile, "stt"),
        tts_onnx=store.path(profile, "tts"),
        voices_bin=store.path(profile, "voices"),
        vad_onnx=store.path(profile, "vad"),
        language="en",
        voice="af_heart",
        lane_capacity=2,
    )
    with asyncio.Runner() as runner:
        supervised = speech_worker(spec)
        running = supervised.running()
        runner.run(running.__aenter__())
        try:
            runner.run(supervised.ready(90))
            yield supervised
        finally:
            runner.run(running.__aexit__(None, None, None))


@pytest.fixture(scope="session")
def api(worker: Supervised) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=worker.base_url, timeout=60) as client:
        yield client


@pytest.fixture
def figure(api: httpx.Client) -> Callable[[str], float]:
    """Reads one value from the worker's metrics; 0 when it is not there yet."""

    def read(name: str) -> float:
        for line in api.get("/metrics").text.splitlines():
            if line.startswith(f"{name} "):
                return float(line.rsplit(" ", 1)[1])
        return 0.0

    return read
