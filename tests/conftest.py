"""What the tests of every part share: the pinned models, a recording of a human voice, real servers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlencode

import pytest

from engines.models import Artifact, Lock, ModelFile, Profile, Store, fetch, load_lock
from engines.models import sources as model_sources
from server.auth import issue
from server.settings import Settings

TWO_CITIES = ModelFile(
    path="two_cities.wav",
    size_bytes=4260326,
    sha256="f3348494d77cb74a02862f5e685ed09faf3e75832c5cc5c80703282c2cd8b52e",
    sources=(model_sources.parse("pypi:moonshine-voice==0.1.5/moonshine_voice/assets/two_cities.wav", {}),),
)
"""The opening of A Tale of Two Cities read by a person, 44.4 s at 48 kHz, mono."""


@pytest.fixture(scope="session")
def lock() -> Lock:
    """The project's own lock file."""
    return load_lock()


@pytest.fixture(scope="session")
def models_dir(lock: Lock) -> Path:
    """The model store of this machine, with the profile ci in it."""
    store = Store()
    fetch(lock.profile("ci"), store)
    return store.root


@pytest.fixture(scope="session")
def french_speech_models(lock: Lock) -> Store:
    """The model store of this machine, with all of the profile fr in it but its language model."""
    store, fr = Store(), lock.profile("fr")
    fetch(replace(fr, artifacts={role: fr.artifacts[role] for role in ("vad", "stt", "tts", "voices")}), store)
    return store


@pytest.fixture(scope="session")
def two_cities() -> Path:
    """A WAV of human speech, kept beside the model store between runs."""
    speech = Artifact("two-cities", "Human speech for the tests", "MIT", (TWO_CITIES,))
    recordings = Profile("recordings", "tests", "en", "", {"stt": speech})
    store = Store(Store().root.with_name("recordings"))
    fetch(recordings, store)
    return store.path(recordings, "stt")


@dataclass
class RunningServer:
    """A real ``relance serve`` with the profile ci, a process of its own on loopback."""

    process: subprocess.Popen[str]
    address: str
    env: dict[str, str]
    log: Path

    @property
    def http(self) -> str:
        """Address of the HTTP routes."""
        return f"http://{self.address}"

    def ws(self, route: str, **query: str) -> str:
        """Address of a WebSocket route, such as ``/t1/live``."""
        return f"ws://{self.address}{route}?{urlencode(query)}"

    def token(self, sub: str, plan: str = "premium") -> str:
        """A token of the server's own secret."""
        return issue(self.settings, sub, plan or None, 3600)

    @property
    def settings(self) -> Settings:
        """The settings that the server runs with, as far as tests need them."""
        return Settings(data_dir=Path(self.env["RELANCE_DATA_DIR"]))

    def children(self) -> list[int]:
        """Process ids of the server's own children: the speech worker and llama.cpp."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(pid) for task in tasks for pid in task.read_text().split()]

    def kill(self) -> None:
        """End it by SIGKILL, as a crash would."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """End it by SIGTERM; returns its exit status."""
        self.process.terminate()
        return self.process.wait(timeout=90)


@pytest.fixture(scope="session")
def start_server(models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., RunningServer]]:
    """Start real servers: ``start_server(data_dir=…, T1_SEED=…, …)`` takes settings, waits until it is ready.

    All share one bank of spoken sentences, which takes half a minute to make. What still runs at the end is stopped.
    """
    servers: list[RunningServer] = []
    bank = Store().root.with_name("test-bank")
    bank.mkdir(parents=True, exist_ok=True)

    def start(data_dir: Path | None = None, *, wait: bool = True, **settings: object) -> RunningServer:
        data_dir = data_dir or tmp_path_factory.mktemp("server")
        if not (data_dir / "bank").exists():
            (data_dir / "bank").symlink_to(bank)
        given = {"profile": "ci", "data_dir": data_dir, "models_dir": models_dir, "log_format": "json"}
        given |= {"max_sessions": 8, "max_t2_sessions": 8, **settings}
        env = {name: value for name, value in os.environ.items() if not name.startswith("RELANCE_")}
        env |= {f"RELANCE_{name.upper()}": str(value) for name, value in given.items()}
        log = data_dir / "server.log"
        with log.open("a") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "server.cli.main", "serve", "--port", "0"],
                env=env,
                cwd=Path(__file__).parent.parent,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert process.stdout is not None
        listening = process.stdout.readline()
        found = re.search(r"http://(\S+?),", listening)
        assert found, f"the server did not start: {listening}{log.read_text()}"
        server = RunningServer(process, found[1], env, log)
        servers.append(server)
        while wait:
            line = process.stdout.readline()
            assert line, f"the server ended before it was ready: {log.read_text()}"
            if line.startswith("ready"):
                break
        return server

    yield start
    for server in servers:
        server.kill()
        assert server.process.stdout is not None
        server.process.stdout.close()
