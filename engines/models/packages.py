"""Packages of PyPI and npm, fetched through their ordinary clients as the machine has them set up.

Nothing of a package is run or installed: only wheels are taken from PyPI, npm's scripts are off, dependencies are left
out. The clients' caches and temporary files stay in the work directory: the disk need is known and nothing is left.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from engines.models.errors import SourceFailed
from engines.models.sources import Package

_CLIENTS = {"pypi": "pip", "npm": "npm"}


def download(package: Package, into: Path) -> Path:
    """Bring the package's archive to the new directory ``into`` and return its path.

    Raises SourceFailed with the client's own last words.
    """
    into.mkdir(parents=True)
    command = _pip(package, into) if package.registry == "pypi" else _npm(package, into)
    done = subprocess.run(
        command,
        check=False,
        cwd=into,
        env=os.environ | {"TMPDIR": str(into)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    archives = [*into.glob("*.whl"), *into.glob("*.tgz")]
    if done.returncode != 0 or len(archives) != 1:
        raise SourceFailed(str(package), f"{_CLIENTS[package.registry]} failed: {_last_words(done.stdout)}")
    return archives[0]


def _pip(package: Package, into: Path) -> list[str]:
    options = [
        "--no-deps",
        "--no-cache-dir",
        "--only-binary=:all:",
        "--ignore-requires-python",
        "--no-input",
        "--quiet",
    ]
    return [
        sys.executable,
        "-m",
        "pip",
        "download",
        *options,
        "--dest",
        str(into),
        f"{package.name}=={package.version}",
    ]


def _npm(package: Package, into: Path) -> list[str]:
    npm = shutil.which("npm")
    if npm is None:
        raise SourceFailed(str(package), "npm is not installed; it is needed where github cannot be reached")
    return [
        npm,
        "pack",
        "--ignore-scripts",
        "--silent",
        "--cache",
        str(into / "cache"),
        f"{package.name}@{package.version}",
    ]


def _last_words(output: str) -> str:
    """The last line that says error, or else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    told = [line for line in lines if "error" in line.lower()] or lines
    return told[-1][:300] if told else "it said nothing"
