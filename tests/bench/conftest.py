"""What the tests of the bench share: the detector, the stand-in for a server, records."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from engines.models import Lock, Store
from engines.silero import SileroVoiceActivity
from server.bench.record import VERSION, Figure, Machine, Record, Stage, Target, Turn


def _beside(name: str) -> ModuleType:
    """Return the module ``name`` of this directory, which is no package."""
    spec = importlib.util.spec_from_file_location(f"tests_bench_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_STAND_IN = _beside("stand_in")


@pytest.fixture(scope="session")
def stand_in() -> ModuleType:
    """The server whose delays are known: ``stand_in.serving(stand_in.Manner(…), vad)``."""
    return _STAND_IN


@pytest.fixture
def vad(lock: Lock, models_dir: Path) -> Callable[[], SileroVoiceActivity]:
    """Make the real detector, for the event loop that it is called in."""
    path = Store(models_dir).path(lock.profile("ci"), "vad")
    return lambda: SileroVoiceActivity(path)


@pytest.fixture
def record() -> Callable[..., Record]:
    """Make a record of two turns: ``record("A", gaps=(12.5, 31.25))``."""

    def make(title: str = "Turns of task 2", gaps: tuple[float, ...] = (12.5, 31.25), group: str = "") -> Record:
        machine = Machine(
            "A <processor> & more", ("avx2",), 2, 1.5, 16_000, None, 0.25, "Linux", "3.11.9", {"numpy": "2.2.1"}
        )
        turns = tuple(
            Turn(
                1,
                number,
                {"speech begun": -2104.25, "pause seen": 208.0, "decision": 2016.5, "first frame": 2016.5 + gap},
                1.75,
                {"stt": Stage(2, 640.5), "reply": Stage(1, 903.25), "gap": Stage(1, gap - 1)},
                () if number == 1 else ("no answer <here>",),
            )
            for number, gap in enumerate(gaps, start=1)
        )
        figures = (
            Figure("gap", "ms", "outside", gaps, (Target(0.5, 20), Target(0.95, 150)), group),
            Figure("stt", "ms", "stored", (), (), group, {"n": 4, "p50": 310.5, "p95": 420.75, "max": 421.5}),
            Figure("times faster", "×", "stock", (2.75,), (Target(0.5, 2.5, "at_least"),), group),
        )
        settings: dict[str, str | int | float | bool | None] = {"profile": "ci", "t2_silence_ms": 2000}
        return Record(
            VERSION,
            "turns",
            title,
            "2026-01-02T03:04:05+00:00",
            "0.1.0",
            machine,
            settings,
            figures,
            turns,
            ("a note",),
        )

    return make
