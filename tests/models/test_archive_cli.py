from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engines.models import Lock, Store
from engines.models.tarball import END, header, manifest_member, padding

PROJECT = Path(__file__).parents[2]

Relance = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def room() -> Iterator[Path]:
    """A directory for hundreds of megabytes, gone with the test, which pytest's own would not be."""
    with tempfile.TemporaryDirectory(prefix="relance-archive-") as directory:
        yield Path(directory)


def models(command: str, *arguments: str | Path, store: Path) -> subprocess.CompletedProcess[str]:
    """Run ``relance models`` as a user does, with a store of its own."""
    return subprocess.run(
        [sys.executable, "-m", "server.cli.main", "models", command, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=PROJECT,
        env={**os.environ, "RELANCE_MODELS_DIR": str(store)},
    )


def expect_one_line(done: subprocess.CompletedProcess[str], *words: str | Path) -> None:
    *_, last = done.stderr.splitlines()
    assert done.returncode == 1
    assert last.startswith("error: ")
    assert [word for word in map(str, words) if word not in last] == []
    assert done.stderr.count("error: ") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.timeout(300)
def test_the_real_models_go_from_one_machine_to_another(
    models_dir: Path, lock: Lock, room: Path, start_server: Callable[..., Any]
) -> None:
    """Export, import, verify, serve: with the pinned models, through the commands that a user types."""
    ci, archive, there = lock.profile("ci"), room / "ci.tar", room / "models"

    exported = models("export", archive, "ci", store=models_dir)
    assert exported.returncode == 0, exported.stderr
    assert exported.stdout.splitlines() == [
        f"ci: 299 MB in {archive}, every hash checked",
        "on the other machine, run: relance models import ci.tar",
    ]
    assert [path.name for path in room.iterdir()] == ["ci.tar"]

    imported = models("import", archive, store=there)
    assert imported.returncode == 0, imported.stderr
    assert imported.stdout == f"ci: 8 files from {archive} in {there}, every hash checked\n"
    assert imported.stderr.splitlines() == [
        f"{artifact.name}/{file.path}  verified, from {archive}" for artifact, file in ci.files()
    ]

    verified = models("verify", "ci", store=there)
    assert verified.returncode == 0
    assert [line.split()[0] for line in verified.stdout.splitlines()] == ["ok"] * 8

    again = models("import", archive, store=there)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout == f"ci: nothing to import, all files are in {there}\n"

    os.truncate(archive, 90_000_000)
    half = models("import", archive, store=room / "half")
    expect_one_line(half, archive, "cut short", "smollm2-135m-instruct")
    whole = {f"{artifact.name}/{file.path}" for artifact, file in list(ci.files())[:5]}
    kept = {str(path.relative_to(room / "half")) for path in (room / "half").rglob("*") if path.is_file()}
    assert {name for name in kept if not name.startswith(".")} == whole

    server = start_server(models_dir=there)
    assert server.stop() == 0


def test_an_export_without_the_models_says_how_to_get_them(tmp_path: Path) -> None:
    """The profile is fr where none is named, as for the other commands; nothing is written."""
    done = models("export", tmp_path / "a.tar", store=tmp_path / "models")
    expect_one_line(done, "silero_vad.onnx is not there", "run: relance models fetch fr")
    assert list(tmp_path.iterdir()) == []


def test_an_export_to_a_place_that_is_not_there_is_one_line(models_dir: Path, tmp_path: Path) -> None:
    """The archive is named as it was given, not by its temporary name."""
    done = models("export", tmp_path / "none" / "a.tar", "ci", store=models_dir)
    expect_one_line(done, f"archive {tmp_path / 'none' / 'a.tar'} cannot be written: No such file or directory")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none.tar", "No such file or directory"),
        ("", "not a regular file"),
        ("empty.tar", "not an archive made by relance models export"),
    ],
)
def test_an_import_of_what_is_no_archive_is_one_line(name: str, reason: str, tmp_path: Path) -> None:
    """A path that was mistyped, a directory, a copy that failed."""
    (tmp_path / "empty.tar").write_bytes(b"")
    expect_one_line(models("import", tmp_path / name, store=tmp_path / "models"), tmp_path / name, reason)


def test_what_was_not_taken_is_shown_without_its_control_characters(
    models_dir: Path, lock: Lock, tmp_path: Path
) -> None:
    """Names of the archive are anyone's: they cannot move the cursor. The wrong model is the one error."""
    artifact = lock.artifacts["faster-whisper-tiny.en"]
    file = next(file for file in artifact.files if file.path == "config.json")
    wrong = Store(models_dir).place(artifact, file).read_bytes().replace(b"{", b"[", 1)
    name = f"{artifact.name}/{file.path}"
    members = [header("\x1b[2J/../x", 0), header(name, len(wrong)), wrong, padding(len(wrong))]
    (tmp_path / "a.tar").write_bytes(manifest_member("ci") + b"".join(members) + END)
    done = models("import", tmp_path / "a.tar", store=tmp_path / "models")
    assert done.stderr.splitlines()[0] == "not taken: '\\x1b[2J/../x', not a model file of this relance"
    assert "\x1b" not in done.stderr
    expect_one_line(done, "wrong hash of", name, file.sha256, f"source {tmp_path / 'a.tar'}")
