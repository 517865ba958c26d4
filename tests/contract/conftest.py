"""Real servers for the contract: one with every engine real, one whose language model is scripted, two that refuse.

Tests that are coroutines run in an event loop of their own; the modules beside this file are given as fixtures.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import inspect
import json
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import numpy as np
import pytest
import soundfile
import soxr
from numpy.typing import NDArray

from engines.local import SpeechWorkerSpec, speech_worker
from engines.models import Lock, Store

RATE_HZ = 16_000
PATIENT = {"t1_terminal_flush_grace_ms": 30_000, "t2_terminal_flush_grace_ms": 30_000}
"""What is said last is waited for as long as a machine may need that others use too; it takes no longer for that."""

SUJET = "8e2b4d7a-1f39-4b6c-8d15-7a90c3e5f101"
"""Renting a flat, one of the English subjects that come with the server."""


def _beside(name: str) -> ModuleType:
    """Return the module ``name`` of this directory, which is no package."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"tests_contract_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_CANDIDATE = _beside("candidate")
_SCRIPTED_LLM = _beside("scripted_llm")
_EXAMS = _beside("exams")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(scope="session")
def client() -> ModuleType:
    """The client's module: ``Candidate``, ``audio``, ``silence``."""
    return _CANDIDATE


@pytest.fixture(scope="session")
def scripted() -> ModuleType:
    """The scripted language model's module: ``REPLY``."""
    return _SCRIPTED_LLM


@pytest.fixture(scope="session")
def llm() -> Iterator[Any]:
    """The scripted language model, on loopback."""
    server = _SCRIPTED_LLM.ScriptedLlm()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def exam_server(start_server: Callable[..., Any]) -> Any:
    """Every engine real. T1: one relance at 7 s, warning at 18 s, end at 22 s. T2: a turn ends after 1 s of silence."""
    return start_server(
        **PATIENT,
        log_level="debug",
        t1_interruption_p0=0,
        t1_interruption_p1=1,
        t1_interruption_p2=0,
        t1_interruption_window_start_ms=7_000,
        t1_interruption_window_end_ms=7_000,
        t1_relance_lead_ms=3_000,
        t1_session_warning_ms=18_000,
        t1_session_timeout_ms=22_000,
        t2_silence_ms=1_000,
    )


@pytest.fixture(scope="session")
def speech_server(start_server: Callable[..., Any], llm: Any) -> Any:
    """Real speech, a scripted language model. T1: one relance at 2.5 s, the end at 6 s, the warning just before."""
    return start_server(
        **PATIENT,
        log_level="debug",
        llm_url=llm.base_url,
        llm_model="scripted",
        max_sessions=5,
        t1_interruption_p0=0,
        t1_interruption_p1=1,
        t1_interruption_p2=0,
        t1_interruption_window_start_ms=2_500,
        t1_interruption_window_end_ms=2_500,
        t1_relance_lead_ms=1_000,
        t1_session_warning_ms=5_990,
        t1_session_timeout_ms=6_000,
        t2_silence_ms=1_000,
    )


@pytest.fixture(scope="session")
def strict_server(start_server: Callable[..., Any], llm: Any) -> Any:
    """Short limits: one second without a frame, a hundredth of a second of backlog."""
    limits = {"idle_timeout_s": 1, "max_backlog_s": 0.01}
    return start_server(llm_url=llm.base_url, llm_model="scripted", **PATIENT, **limits)


@pytest.fixture(scope="session")
def unfit_server(start_server: Callable[..., Any]) -> Any:
    """A server whose settings name no language model for the address that they name: it is up, and can hold no exam."""
    nowhere = "http://127.0.0.1:9/v1"
    engines = {"stt_url": nowhere, "tts_url": nowhere, "stt_model": "m", "tts_model": "m", "llm_url": nowhere}
    server = start_server(wait=False, **engines)
    while "failed" not in httpx.get(f"{server.http}/readyz").json()["engines"].values():
        assert server.process.poll() is None
    return server


@pytest.fixture(scope="session")
def sit() -> Callable[..., Any]:
    """Open an exam: ``async with sit(server, "t2", captions="1") as candidate``; each is another user's unless told.

    ``token`` and ``sub`` may be given; T2 has its subject unless ``sujet`` is.
    """

    def enter(server: Any, task: str, *, sub: str | None = None, **query: str) -> Any:
        query.setdefault("token", server.token(sub or f"candidate-{secrets.token_hex(4)}"))
        if task == "t2":
            query.setdefault("sujet", SUJET)
        return _CANDIDATE.sit(server.ws(f"/{task}/live", **query))

    return enter


@pytest.fixture(scope="session")
def human(two_cities: Path) -> Callable[[float, float], NDArray[np.int16]]:
    """Human speech, int16 at 16 kHz: ``human(0.7, 2.9)`` is that stretch, in seconds, of the opening of Dickens's tale.

    0.7 to 2.9 "It was the best of times", to 4.7 "it was the worst of times", to 6.3 "it was the age of wisdom",
    17.4 to 20.5 "it was the spring of hope, it was the winter of despair", 8.8 to 12.9 "it was the epoch of belief, …".
    """
    samples, rate_hz = soundfile.read(two_cities, dtype="float32")
    heard = (soxr.resample(samples, rate_hz, RATE_HZ) * 32_767).clip(-32_768, 32_767).astype(np.int16)
    return lambda start_s, end_s: heard[round(start_s * RATE_HZ) : round(end_s * RATE_HZ)]


SENTENCES = {
    "rent": "Good morning. How much is the rent of the flat?",
    "visit": "Thank you. When can I visit the flat?",
}


@pytest.fixture(scope="session")
def spoken(lock: Lock, models_dir: Path) -> Callable[[str], NDArray[np.int16]]:
    """A question in Kokoro's voice, int16 at 16 kHz: ``spoken("rent")``, ``spoken("visit")``.

    Both are kept between runs, beside the bank that the tests share.
    """
    kept = Store().root.with_name("test-speech")
    kept.mkdir(parents=True, exist_ok=True)
    paths = {name: kept / f"{hashlib.sha256(text.encode()).hexdigest()}.npy" for name, text in SENTENCES.items()}
    missing = [name for name, path in paths.items() if not path.exists()]
    if missing:
        for name, pcm in zip(missing, asyncio.run(_synthesised(missing, lock, models_dir)), strict=True):
            np.save(paths[name], pcm)
    return lambda name: np.asarray(np.load(paths[name]), dtype=np.int16)


async def _synthesised(names: list[str], lock: Lock, models_dir: Path) -> list[NDArray[np.int16]]:
    profile, store = lock.profile("ci"), Store(models_dir)
    files = {name: store.path(profile, kind) for name, kind in _WORKER_FILES.items()}
    worker = speech_worker(SpeechWorkerSpec(**files, language="en", voice=profile.voice))
    voices = []
    async with worker.running(), httpx.AsyncClient(timeout=60) as http:
        await worker.ready(90)
        for name in names:
            wanted = {"model": "kokoro", "input": SENTENCES[name], "voice": profile.voice, "response_format": "pcm"}
            answer = await http.post(f"{worker.base_url}/audio/speech", json=wanted)
            voices.append(soxr.resample(np.frombuffer(answer.content, dtype="<i2"), 24_000, RATE_HZ))
    return voices


_WORKER_FILES = {"stt_dir": "stt", "tts_onnx": "tts", "voices_bin": "voices", "vad_onnx": "vad"}


@pytest.fixture(scope="session")
def exams(sit: Any, exam_server: Any, human: Any, spoken: Any) -> tuple[Any, Any]:
    """The accounts of two whole exams that were held at once, every engine real."""
    return asyncio.run(_EXAMS.both(sit, exam_server, human, spoken))


@pytest.fixture(scope="session")
def interview(exams: tuple[Any, Any]) -> Any:
    """A whole exam of task 1, of the user ``interviewee``."""
    return exams[0]


@pytest.fixture(scope="session")
def dialogue(exams: tuple[Any, Any]) -> Any:
    """A whole exam of task 2, of the user ``flat-hunter``."""
    return exams[1]


@pytest.fixture(scope="session")
def stored() -> Callable[..., Any]:
    """The user's only production, once it has the status: ``stored(server, sub, "evaluated")``."""

    def wait_for(server: Any, sub: str, statut: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {server.token(sub)}"}
        with httpx.Client(base_url=server.http, headers=headers, timeout=30) as http:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                found = http.get("/productions").json()
                if [production["statut"] for production in found] == [statut]:
                    return dict(http.get(f"/productions/{found[0]['id']}").json())
        raise AssertionError(f"expected one production that is {statut}, got {json.dumps(found)}")

    return wait_for


@pytest.fixture(scope="session")
def in_session() -> Callable[..., Any]:
    """Wait until the server holds so many sessions: a handshake is accepted before its place is taken."""

    async def wait_for(server: Any, count: int) -> None:
        async with httpx.AsyncClient(base_url=server.http) as http, asyncio.timeout(30):
            while _active((await http.get("/metrics")).text) != count:
                pass

    return wait_for


def _active(exposition: str) -> float:
    lines = [line for line in exposition.splitlines() if line.startswith("relance_sessions_active{")]
    return sum(float(line.rpartition(" ")[2]) for line in lines)


@pytest.fixture(scope="session")
def production_list() -> Callable[..., Any]:
    """What the user has stored: ``production_list(server, sub)``."""

    def ask(server: Any, sub: str) -> Any:
        return httpx.get(f"{server.http}/productions", headers={"Authorization": f"Bearer {server.token(sub)}"}).json()

    return ask


@pytest.fixture(scope="session")
def report_is_whole() -> Callable[[dict[str, Any], str], None]:
    """Check a report field by field."""
    return _check_report


REPORT_FIELDS = {
    "productionId": str,
    "tache": str,
    "score": int,
    "scoreTextuel": int,
    "phonologie": dict,
    "nclc": int,
    "criteres": list,
    "pointsForts": list,
    "pointsAmelioration": list,
    "corrections": list,
    "transcript": str,
    "durationMs": int,
    "latency": dict,
}


def _check_report(report: dict[str, Any], tache: str) -> None:
    assert {name: type(value) for name, value in report.items()} == REPORT_FIELDS
    assert report["tache"] == tache
    assert 0 <= report["score"] <= 20
    assert 0 <= report["scoreTextuel"] <= 16
    assert report["phonologie"]["method"] == "acoustic"
    assert 0 <= report["phonologie"]["score"] <= 4
    assert report["nclc"] in (0, 4, 5, 6, 7, 8, 9, 10)
    assert len(report["criteres"]) == 4
    for criterion in report["criteres"]:
        assert {name: type(value) for name, value in criterion.items()} == {"name": str, "score": int, "comment": str}
    assert sum(criterion["score"] for criterion in report["criteres"]) == report["scoreTextuel"]
    for points in (report["pointsForts"], report["pointsAmelioration"]):
        assert all(isinstance(point, str) and point for point in points)
    for correction in report["corrections"]:
        assert set(correction) == {"said", "better", "why"}
    assert report["latency"]
