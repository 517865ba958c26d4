"""What makes a start impossible is told in one line, before any engine is started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engines.models import Lock
from server.needed_models import needed_roles
from server.settings import Settings

ROOT = Path(__file__).parents[2]


def serve(home: Path, **settings: object) -> subprocess.CompletedProcess[str]:
    """Try to serve with these settings."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("RELANCE_", "XDG_"))}
    environ |= {"HOME": str(home), "PYTHONPATH": str(ROOT), "RELANCE_PROFILE": "ci"}
    environ |= {f"RELANCE_{name.upper()}": str(value) for name, value in settings.items()}
    command = [sys.executable, "-m", "server.cli.main", "serve", "--port", "0"]
    return subprocess.run(command, env=environ, cwd=home, capture_output=True, text=True, timeout=90, check=False)


def expect_one_line(ended: subprocess.CompletedProcess[str], *words: str) -> None:
    """Check the one line on standard error, and the status."""
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: ")
    assert ended.stderr.count("\n") == 1, ended.stderr
    for word in words:
        assert word in ended.stderr


def test_missing_models_are_told_with_the_command_that_brings_them(tmp_path: Path) -> None:
    """An empty store: nothing is started, nothing is made."""
    ended = serve(tmp_path, models_dir=tmp_path / "models")
    expect_one_line(ended, str(tmp_path / "models"), "run: relance models fetch ci")
    assert ended.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_was_changed_is_told(tmp_path: Path, lock: Lock, models_dir: Path) -> None:
    """A wrong hash: the file is named, and what is expected and found."""
    vad = lock.profile("ci").artifacts["vad"]
    (tmp_path / vad.name).mkdir()
    for file in vad.files:
        path = tmp_path / vad.name / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((models_dir / vad.name / file.path).read_bytes()[:-1] + b"x")
    expect_one_line(serve(tmp_path, models_dir=tmp_path), "wrong hash", vad.files[0].path, vad.files[0].sha256)


@pytest.mark.parametrize(
    ("elsewhere", "roles"),
    [
        ((), {"vad", "stt", "tts", "voices", "llm"}),
        (("llm",), {"vad", "stt", "tts", "voices"}),
        (("stt",), {"vad", "stt", "tts", "voices", "llm"}),
        (("stt", "tts"), {"vad", "llm"}),
        (("stt", "tts", "llm"), {"vad"}),
    ],
)
def test_models_of_engines_elsewhere_are_not_needed(elsewhere: tuple[str, ...], roles: set[str]) -> None:
    """The detector is always the server's own; one worker holds both speech engines."""
    addresses = {f"{kind}_url": "http://127.0.0.1:9/v1" for kind in elsewhere}
    assert set(needed_roles(Settings(**addresses))) == roles  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"data_dir": "/proc"}, ["/proc/relance.sqlite3", "cannot be written"]),
        ({"database_url": "sqlite+aiosqlite:////"}, ["cannot be written", "Is a directory"]),
        ({"database_url": "oracle+foo://u:SECRET@127.0.0.1/x"}, ["database_url", "oracle.foo"]),
    ],
)
def test_a_store_that_cannot_be_used_is_told(
    tmp_path: Path, models_dir: Path, settings: dict[str, str], words: list[str]
) -> None:
    """Directory, file or address: which one and why; an address is not quoted, it may hold a password."""
    ended = serve(tmp_path, models_dir=models_dir, **settings)
    expect_one_line(ended, *words)
    assert "SECRET" not in ended.stdout + ended.stderr
