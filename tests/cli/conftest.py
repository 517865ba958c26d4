"""The ``relance`` command as a real process."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    status: int
    out: str
    err: str


@pytest.fixture
def relance(tmp_path: Path) -> Callable[..., Outcome]:
    """Runs the command in an empty home, with ``RELANCE_*`` variables given as keywords in small letters."""

    def run(*arguments: str, **settings: str) -> Outcome:
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("RELANCE_", "XDG_"))}
        environ |= {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
        environ |= {f"RELANCE_{name.upper()}": value for name, value in settings.items()}
        done = subprocess.run(
            [sys.executable, "-m", "server.cli.main", *arguments],
            env=environ,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run
