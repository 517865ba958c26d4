"""The doctor as a real process, before engines on a real socket that answer as a test tells them to."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def _beside(name: str) -> ModuleType:
    """Return the module ``name`` of this directory, which is no package."""
    spec = importlib.util.spec_from_file_location(f"tests_doctor_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_FALSE = _beside("false_engines")


@pytest.fixture(scope="session")
def false() -> ModuleType:
    """What false engines can answer."""
    return _FALSE


@pytest.fixture
def engines() -> Iterator[Any]:
    """Engines that are well until a test tells them otherwise."""
    with _FALSE.serving() as engines:
        yield engines


@dataclass(frozen=True)
class Outcome:
    """How the doctor ended, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def faults(self) -> list[str]:
        """The lines that tell a fault, without their mark."""
        return [line.removeprefix("FAULT  ") for line in self.out.splitlines() if line.startswith("FAULT")]

    @property
    def well(self) -> list[str]:
        """The names of what is well."""
        return [line[7:].partition(":")[0] for line in self.out.splitlines() if line.startswith("ok ")]

    def line(self, name: str) -> str:
        """The one line about ``name``."""
        (found,) = [line for line in self.out.splitlines() if line[7:].startswith(f"{name}: ")]
        return found


class Doctor:
    """Runs ``relance doctor`` in an empty home. Settings are given as keywords; ``None`` leaves one out."""

    def __init__(self, home: Path, given: Mapping[str, object]) -> None:
        self.home = home
        self.given = dict(given)
        self.python_path = [str(ROOT)]

    def start(self, *arguments: str, **settings: object) -> subprocess.Popen[str]:
        """Start it."""
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("RELANCE_", "XDG_"))}
        environ |= {"HOME": str(self.home), "PYTHONPATH": os.pathsep.join(self.python_path)}
        given = {name: value for name, value in (self.given | settings).items() if value is not None}
        environ |= {f"RELANCE_{name.upper()}": str(value) for name, value in given.items()}
        return subprocess.Popen(
            [sys.executable, "-m", "server.cli.main", "doctor", *arguments],
            env=environ,
            cwd=self.home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A run of the tests in the background of a shell ignores it, and its children would inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def __call__(self, *arguments: str, **settings: object) -> Outcome:
        """Run it to its end."""
        with self.start(*arguments, **settings) as process:
            try:
                out, err = process.communicate(timeout=120)
            finally:
                process.kill()
        return Outcome(process.returncode, out, err)


@pytest.fixture
def own(tmp_path: Path, models_dir: Path) -> Doctor:
    """The doctor of a server that runs every engine itself, profile ``ci``."""
    return Doctor(tmp_path, {"profile": "ci", "models_dir": models_dir, "data_dir": tmp_path / "data", "port": 0})


@pytest.fixture
def doctor(own: Doctor, engines: Any) -> Doctor:
    """The doctor of a server whose engines are elsewhere, and well: no model but the detector's is loaded."""
    for kind, model in zip(("stt", "llm", "tts"), _FALSE.MODELS, strict=True):
        own.given |= {f"{kind}_url": engines.url, f"{kind}_model": model}
    return own
