"""A web host, package clients and lock entries of the tests' own."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from engines.models import Artifact, Lock, ModelFile, Profile, Role, Store
from engines.models.errors import SourceFailed
from engines.models.sources import Package, parse
from engines.models.web import Web

REVISION = "0" * 40


class Hub:
    """A file host on the loopback. ``cuts``: after how many bytes the next answers break off; ``log``: the requests."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.status = 200
        self.ranges = True
        self.cuts: list[int] = []
        self.log: list[tuple[str, str | None]] = []
        self.half_sent = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()
        hub = self

        class Answer(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.send_response(200)
                self.end_headers()

            def do_GET(self) -> None:
                hub.answer(self)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        wanted = request.headers.get("Range")
        self.log.append((request.path, wanted))
        if self.status != 200:
            request.send_error(self.status)
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.ranges else 0
        body = self.files[request.path][start:]
        request.send_response(206 if start else 200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if self.cuts:
            request.wfile.write(body[: self.cuts.pop(0)])
            return
        request.wfile.write(body[: len(body) // 2])
        request.wfile.flush()
        self.half_sent.set()
        self.go_on.wait(10)
        request.wfile.write(body[len(body) // 2 :])

    def close(self) -> None:
        self.go_on.set()
        self.server.shutdown()
        self.server.server_close()


class Registry:
    """Package clients that hand out packages made by the test; one that is not there fails as pip would."""

    def __init__(self) -> None:
        self.packages: dict[str, bytes] = {}
        self.asked: list[str] = []

    def add_wheel(self, name: str, files: dict[str, bytes]) -> None:
        wheel = io.BytesIO()
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, data in files.items():
                archive.writestr(path, data)
        self.packages[name] = wheel.getvalue()

    def download(self, package: Package, into: Path) -> Path:
        self.asked.append(package.name)
        if package.name not in self.packages:
            raise SourceFailed(str(package), "pip failed: no such package")
        into.mkdir(parents=True)
        archive = into / "package.whl"
        archive.write_bytes(self.packages[package.name])
        return archive


class Cargo:
    """The profile ``test`` of files given as ARTIFACT/PATH and bytes, and its lock; ``sized`` pins the sizes, too."""

    def __init__(self, files: dict[str, bytes], *, sized: bool = True) -> None:
        self.files = files
        artifacts: dict[str, Artifact] = {}
        for name, data in files.items():
            title, _, path = name.partition("/")
            file = ModelFile(path, len(data) if sized else None, hashlib.sha256(data).hexdigest(), ())
            before = artifacts[title].files if title in artifacts else ()
            artifacts[title] = Artifact(title, title, "MIT", (*before, file))
        roles: tuple[Role, ...] = ("vad", "stt", "llm", "tts", "voices")
        self.profile = Profile("test", "tests", "en", "", dict(zip(roles, artifacts.values(), strict=False)))
        self.lock = Lock(artifacts, {"test": self.profile})

    def fill(self, root: Path) -> Store:
        """A store at ``root`` with all the files, put there by hand."""
        for name, data in self.files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
        return Store(root)


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A file host that reads from memory and breaks where the test says."""
    host = Hub()
    yield host
    host.close()


@pytest.fixture
def registry() -> Registry:
    """A registry with the packages that the test puts in."""
    return Registry()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "models")


@pytest.fixture
def web(hub: Hub) -> Web:
    """The web hosts, with the hub in Hugging Face's place and nobody in GitHub's; retries do not wait."""
    return Web({"hf": hub.address, "github": "http://127.0.0.1:9"}, sleep=lambda seconds: None)


@pytest.fixture
def pinned() -> Callable[..., ModelFile]:
    """Makes a lock entry for bytes: ``pinned(data, *sources, path=..., sha256=...)``."""

    def pin(data: bytes, *sources: str, path: str = "model.bin", sha256: str | None = None) -> ModelFile:
        digest = sha256 or hashlib.sha256(data).hexdigest()
        return ModelFile(path, len(data) or None, digest, tuple(parse(source, {}) for source in sources))

    return pin


@pytest.fixture
def profile_of() -> Callable[..., Profile]:
    """Makes a profile of one artifact with these files."""

    def make(*files: ModelFile) -> Profile:
        return Profile("test", "tests", "en", "", {"llm": Artifact("model", "A model", "MIT", files)})

    return make


@pytest.fixture
def on_hub(hub: Hub) -> Callable[[bytes], str]:
    """Puts bytes on the hub and returns their source."""

    def put(data: bytes, path: str = "model.bin") -> str:
        hub.files[f"/owner/repo/resolve/{REVISION}/{path}"] = data
        return f"hf:owner/repo@{REVISION}/{path}"

    return put


@pytest.fixture
def tables() -> dict[str, Any]:
    """A lock file that is right, as TOML tables."""
    file = {
        "path": "model.bin",
        "size_bytes": 3,
        "sha256": "a" * 64,
        "sources": ["pypi:a-package==1.0/a_package/model.bin"],
    }
    roles = dict.fromkeys(("vad", "stt", "llm", "tts", "voices"), "one")
    return {
        "version": 1,
        "artifacts": {"one": {"title": "One", "licence": "MIT", "files": [file]}},
        "profiles": {"ci": {"purpose": "tests", "language": "en", "voice": "v", **roles}},
        "recipes": {"voices": {"inputs": "npm:voices@1.0/voices/*.bin"}},
    }


@pytest.fixture(scope="session")
def cargo() -> type[Cargo]:
    """Makes a profile of files that the test names: ``cargo({"model/model.bin": b"..."})``."""
    return Cargo
