"""Real servers and what goes wrong around them: killed processes, engines that fail, a database that is locked."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import soundfile
import soxr
from numpy.typing import NDArray

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
