"""Real servers and what goes wrong around them: killed processes, engines that fail, a database that is locked."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import soundfile
import soxr
from numpy.typing import NDArray

from engines.models import Lock

RATE_HZ = 16_000
DRAWN_S = 4.0
"""When the one relance of task 1 is drawn."""
LATEST_S = DRAWN_S + 1.0 + 1.5 + 10.0
"""When it has begun at the latest: the patience, the grace for a pause, and room for a busy machine."""


def _beside(name: str) -> ModuleType:
    """Return the module ``name`` of this directory, which is no package."""
    spec = importlib.util.spec_from_file_location(f"tests_faults_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_CANDIDATE, _PROCESSES, _FALSE_LLM = (_beside(name) for name in ("candidate", "processes", "false_llm"))
_DOUBLE, _ANSWERS = _beside("double"), _beside("answers")

REPLY_TIMEOUT_S = 6.0
"""Deadline of a turn where engines fail: long enough for the voice on a busy machine, short enough to be waited for."""
PATIENT_REPLY_TIMEOUT_S = 9.0
"""The same where a fallback, which has half of it, is a voice of this machine."""
REPLY, REPLY_OF_FALLBACK = "It is nine.", "It is about ten."
EVALUATION = '"response_format"'
"""What every request for an evaluation holds, and no other."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(scope="session")
def sit() -> Any:
    """Sit an exam: ``async with sit(server, "t1", "ana") as candidate``."""
    return _CANDIDATE.sit


@pytest.fixture(scope="session")
def watch() -> Any:
    """Look at a server from outside: ``watch(server)``."""
    return _CANDIDATE.Watch


@pytest.fixture(scope="session")
def processes() -> ModuleType:
    """Look at processes: their descendants, their end, their memory."""
    return _PROCESSES


@pytest.fixture(scope="session")
def dickens(two_cities: Path) -> Callable[[float, float], NDArray[np.int16]]:
    """Cut human speech from one second to another, at 16 kHz, with a second of silence after it."""
    read, rate_hz = soundfile.read(two_cities, dtype="int16")
    voice = soxr.resample(read, rate_hz, RATE_HZ)

    def cut(start_s: float, end_s: float) -> NDArray[np.int16]:
        return np.concatenate([voice[round(start_s * RATE_HZ) : round(end_s * RATE_HZ)], np.zeros(RATE_HZ, np.int16)])

    return cut


@pytest.fixture(scope="session")
def one_relance() -> dict[str, object]:
    """Settings under which the clock draws exactly one relance, at ``DRAWN_S``, and answers come soon."""
    drawn_ms = round(DRAWN_S * 1000)
    return {
        "t1_interruption_p0": 0,
        "t1_interruption_p1": 1,
        "t1_interruption_p2": 0,
        "t1_interruption_window_start_ms": drawn_ms,
        "t1_interruption_window_end_ms": drawn_ms,
        "t1_interruption_min_spacing_ms": 0,
        "t1_relance_lead_ms": 1_000,
        "t2_silence_ms": 500,
    }


@pytest.fixture(scope="session")
def assert_on_time() -> Callable[[Any], None]:
    """Check that a frame came when the drawn relance was due. A client's clock may begin a little late."""

    def check(frame: Any) -> None:
        assert DRAWN_S - 1.0 <= frame.at_s <= LATEST_S

    return check


@pytest.fixture(scope="session")
def server(start_server: Callable[..., Any], one_relance: dict[str, object]) -> Any:
    """A server with engines of its own, for the tests that leave it in order."""
    return start_server(**one_relance)


@pytest.fixture(scope="session")
def false_llm() -> Iterator[Any]:
    """A language model that answers as a test tells it to."""
    with _FALSE_LLM.serving() as llm:
        yield llm


@pytest.fixture(scope="session")
def misled(start_server: Callable[..., Any], one_relance: dict[str, object], false_llm: Any) -> Any:
    """A server whose language model is ``false_llm``."""
    return start_server(llm_url=false_llm.url, llm_model="false", **one_relance)


@pytest.fixture(scope="session")
def answers() -> ModuleType:
    """How a double answers, well or not."""
    return _ANSWERS


@pytest.fixture(scope="session")
def reply_timeout_s() -> float:
    """Deadline of a turn of the servers whose engines fail."""
    return REPLY_TIMEOUT_S


@pytest.fixture(scope="session")
def replies() -> tuple[str, str]:
    """What a language model elsewhere says, and what its fallback says."""
    return REPLY, REPLY_OF_FALLBACK


@pytest.fixture(scope="session")
def patient_reply_timeout_s() -> float:
    """Deadline of a turn of the server that has fallbacks."""
    return PATIENT_REPLY_TIMEOUT_S


@pytest.fixture(scope="session")
def worker_port(processes: ModuleType) -> Callable[[Any], int]:
    """Find the port of a server's own speech worker."""

    def find(server: Any) -> int:
        arguments = processes.arguments(processes.running(server.process.pid, "engines.worker"))
        return int(json.loads(arguments[arguments.index(b"--config") + 1])["port"])

    return find


@pytest.fixture(scope="session")
def frail_llm() -> Iterator[Any]:
    """The one language model of ``frail``; it evaluates well whatever becomes of its replies."""
    with _language_model(REPLY) as llm:
        yield llm


@contextmanager
def _language_model(reply: str) -> Iterator[Any]:
    with _DOUBLE.serving(_ANSWERS.says(reply)) as llm:
        llm.tell(_ANSWERS.ASSESSES, EVALUATION)
        yield llm


@pytest.fixture(scope="session")
def frail(start_server: Callable[..., Any], one_relance: dict[str, object], frail_llm: Any) -> Any:
    """A server whose speech is real, and whose language model fails; it has no other."""
    llm = {"llm_url": frail_llm.url, "llm_model": "double", "reply_timeout_s": REPLY_TIMEOUT_S}
    return start_server(**one_relance | llm | {"t1_relance_lead_ms": 3_000})


@pytest.fixture(scope="session")
def read_figure() -> Any:
    """Read a figure of Prometheus' text: ``read_figure(text, name, **labels)``."""
    return _CANDIDATE.read_figure


@dataclass(frozen=True)
class Elsewhere:
    """A server whose engines stand elsewhere, and these: doubles, of which speech to text is well by ``hears``."""

    server: Any
    stt: Any
    llm: Any
    tts: Any
    hears: Callable[[Any], Any]

    @property
    def all(self) -> tuple[Any, Any, Any]:
        """Every double."""
        return self.stt, self.llm, self.tts


@contextmanager
def _doubles(stt: Any) -> Iterator[tuple[dict[str, Any], dict[str, object]]]:
    """Give a double of each kind, and the settings that name them as the first to be asked, once a turn."""
    with _DOUBLE.serving(stt) as stt, _language_model(REPLY) as llm, _DOUBLE.serving(_ANSWERS.SOUNDS) as tts:
        doubles = {"stt": stt, "llm": llm, "tts": tts}
        places = {f"{kind}_url": each.url for kind, each in doubles.items()}
        yield doubles, {**places, "llm_model": "double", "tts_model": "double", "t2_speculations": 0}


@pytest.fixture(scope="session")
def elsewhere(
    start_server: Callable[..., Any],
    one_relance: dict[str, object],
    frail: Any,
    worker_port: Callable[[Any], int],
    lock: Lock,
    tmp_path_factory: Any,
) -> Iterator[Elsewhere]:
    """A server without an engine of its own and without fallbacks; it hears by the worker of ``frail``."""
    hears = _ANSWERS.relayed(worker_port(frail))
    with _doubles(hears) as (doubles, places):
        models = {"stt_model": lock.profile("ci").artifacts["stt"].name}
        given = {**one_relance, **places, **models, "reply_timeout_s": REPLY_TIMEOUT_S}
        server = start_server(_place(tmp_path_factory), **given)
        yield Elsewhere(server, **doubles, hears=hears)
        server.stop()


@pytest.fixture(scope="session")
def backed(
    start_server: Callable[..., Any],
    one_relance: dict[str, object],
    worker_port: Callable[[Any], int],
    lock: Lock,
    tmp_path_factory: Any,
) -> Iterator[tuple[Elsewhere, Any]]:
    """A server whose engines elsewhere have fallbacks, and the one of its language model, a double as well.

    Speech falls back on a worker of its own. At its start nobody is there who hears or answers but those.
    """
    with _doubles(_ANSWERS.silent) as (doubles, places), _language_model(REPLY_OF_FALLBACK) as fallback:
        doubles["stt"].refuse()
        doubles["llm"].refuse()
        models = {"stt_model": lock.profile("ci").artifacts["stt"].name}
        fallbacks = dict.fromkeys(("stt_fallback_style", "llm_fallback_style", "tts_fallback_style"), "openai")
        fallbacks |= {"llm_fallback_url": fallback.url, "llm_fallback_model": "double"}
        given = {**one_relance, **places, **models, **fallbacks, "reply_timeout_s": PATIENT_REPLY_TIMEOUT_S}
        server = start_server(_place(tmp_path_factory), **given)
        hears = _ANSWERS.relayed(worker_port(server))
        doubles["stt"].tell(hears)
        yield Elsewhere(server, **doubles, hears=hears), fallback
        server.stop()


def _place(tmp_path_factory: Any) -> Path:
    """Return a directory for a server whose bank is spoken by a double, which no other server should get."""
    place: Path = tmp_path_factory.mktemp("server")
    (place / "bank").mkdir()
    return place
