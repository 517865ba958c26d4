"""The application around services without engines: in this process, or as a process of its own."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

STAND_IN = Path(__file__).with_name("stand_in.py")


@pytest.fixture(scope="session")
def stand_in() -> ModuleType:
    """The module beside this one."""
    spec = importlib.util.spec_from_file_location("http_stand_in", STAND_IN)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class ServerProcess:
    """The stand-in as a process: its port, and what it says."""

    def __init__(self, data_dir: Path, grace_s: float) -> None:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("RELANCE_")}
        self.process = subprocess.Popen(
            [sys.executable, str(STAND_IN), str(data_dir), str(grace_s)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        )
        self.port = int(self.line())

    def line(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def ended(self) -> tuple[int, str]:
        """Its status and what it wrote to standard error, once it is gone."""
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[float], ServerProcess]]:
    """Starts the stand-in with a grace for its sessions."""
    started: list[ServerProcess] = []

    def begin(grace_s: float) -> ServerProcess:
        started.append(ServerProcess(tmp_path, grace_s))
        return started[-1]

    yield begin
    for server in started:
        server.process.kill()
        server.process.communicate()
