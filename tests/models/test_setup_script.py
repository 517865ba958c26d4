from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The script with the files that it reads, and nothing set up."""
    for name in ("requirements.lock", "pyproject.toml"):
        shutil.copyfile(PROJECT / name, tmp_path / name)
    (tmp_path / "tools").mkdir()
    shutil.copy(PROJECT / "tools" / "setup.sh", tmp_path / "tools" / "setup.sh")
    return tmp_path


def set_up(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout / "tools" / "setup.sh", *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", **environment},
    )


def test_a_python_that_is_too_old_is_one_clear_line(checkout: Path) -> None:
    """PYTHON is taken at its word, and refused when it is no Python 3.11."""
    done = set_up(checkout, PYTHON="/bin/false")
    assert done.returncode == 1
    assert done.stderr == "error: PYTHON=/bin/false is not a Python 3.11 or newer\n"
    assert not (checkout / ".venv").exists()


def test_no_python_at_all_is_one_clear_line(checkout: Path, tmp_path: Path) -> None:
    """Without a Python that is new enough, the error says which was found and how to name another."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "dirname", "env"):
        (tools / name).symlink_to(str(shutil.which(name)))
    (tools / "python3").write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.2\nexit 1\n')
    (tools / "python3").chmod(0o755)
    done = set_up(checkout, PATH=str(tools))
    assert done.returncode == 1
    assert done.stderr.startswith("error: no Python 3.11 or newer found (python3 is Python 3.9.2")
    assert "set PYTHON=" in done.stderr


def test_the_second_run_installs_nothing_and_fetches_the_profile_named(checkout: Path) -> None:
    """With .venv made from these very files, the script only hands the profile to relance models fetch."""
    programs = checkout / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    (programs / "relance").write_text('#!/bin/sh\necho "relance $*"\n')
    (programs / "relance").chmod(0o755)
    sources = [(checkout / name).read_bytes() for name in ("requirements.lock", "pyproject.toml")]
    (checkout / ".venv" / "installed-from").write_bytes(b"".join(sources))
    done = set_up(checkout, "ci")
    assert done.stdout.splitlines() == [
        ".venv: nothing to install, it is what requirements.lock says",
        "relance models fetch ci",
    ]
    assert done.returncode == 0
