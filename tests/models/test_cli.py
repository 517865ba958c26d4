from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from engines.models import Lock, ModelError, Store
from server.cli.models import app


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def copy_of_ci(models_dir: Path, lock: Lock, tmp_path: Path) -> Store:
    """A store with the small files of ci alone, and links to the large ones, without stamps."""
    copy = Store(tmp_path / "models")
    for artifact, file in lock.profile("ci").files():
        place = copy.place(artifact, file)
        place.parent.mkdir(parents=True, exist_ok=True)
        original = Store(models_dir).place(artifact, file)
        if original.stat().st_size < 3_000_000:
            shutil.copyfile(original, place)
        else:
            place.symlink_to(original)
    return copy


@pytest.mark.parametrize("command", ["fetch", "verify", "path"])
def test_an_unknown_profile_is_one_line(command: str) -> None:
    """A wrong profile is a ModelError, which the program prints as one line; it names the right ones."""
    result = run(command, "nonsense")
    assert isinstance(result.exception, ModelError)
    assert str(result.exception) == "no profile 'nonsense' in models.lock; it has ci, fr, fr-small"


def test_a_directory_that_is_no_store_is_one_line(tmp_path: Path) -> None:
    """A store that cannot be written is a ModelError of one line."""
    (tmp_path / "file").write_text("")
    result = run("fetch", "ci", "--dir", str(tmp_path / "file" / "models"))
    assert isinstance(result.exception, ModelError)
    assert "is not writable: Not a directory" in str(result.exception)


def test_verify_says_each_file_and_fails_on_a_wrong_one(copy_of_ci: Store) -> None:
    """Each file has its line: ok, wrong or missing. One bad file makes the command fail and names the remedy."""
    os.truncate(copy_of_ci.root / "faster-whisper-tiny.en" / "tokenizer.json", 1000)
    (copy_of_ci.root / "faster-whisper-tiny.en" / "config.json").unlink()
    result = run("verify", "ci", "--dir", str(copy_of_ci.root))
    states = {Path(line.split()[1]).name: line.split()[0] for line in result.stdout.splitlines()}
    assert states.pop("tokenizer.json") == "wrong"
    assert states.pop("config.json") == "missing"
    assert set(states.values()) == {"ok"}
    assert len(states) == 6
    assert isinstance(result.exception, ModelError)
    assert str(result.exception) == (
        f"2 files of ci are missing or wrong; run: relance models fetch ci --dir {copy_of_ci.root}"
    )


def test_fetch_of_what_is_there_says_so(copy_of_ci: Store) -> None:
    """A second fetch has nothing to do, and says where the files are."""
    result = run("fetch", "ci", "--dir", str(copy_of_ci.root))
    assert result.exit_code == 0
    assert result.stdout == f"ci: nothing to fetch, all files are in {copy_of_ci.root}\n"


def test_path_is_for_scripts(models_dir: Path) -> None:
    """One line a role: the role, a tab, what its engine loads."""
    result = run("path", "ci", "--dir", str(models_dir))
    paths = dict(line.split("\t") for line in result.stdout.splitlines())
    assert list(paths) == ["vad", "stt", "llm", "tts", "voices"]
    assert Path(paths["stt"]).is_dir()
    assert all(Path(paths[role]).is_file() for role in paths if role != "stt")


def test_path_of_a_missing_model_says_the_command(tmp_path: Path) -> None:
    """Nothing is printed for a store without the model, but how to get it."""
    result = run("path", "ci", "--dir", str(tmp_path))
    assert isinstance(result.exception, ModelError)
    assert str(result.exception).endswith(f"run: relance models fetch ci --dir {tmp_path}")


def test_list_names_every_profile_and_artifact(lock: Lock, copy_of_ci: Store) -> None:
    """Profiles with their presence in the store, artifacts with their licences."""
    result = run("list", "--dir", str(copy_of_ci.root))
    lines = result.stdout.splitlines()
    assert any(line.startswith("ci ") and "in the store" in line for line in lines)
    assert any(line.startswith("fr ") and "files short" in line for line in lines)
    for artifact in lock.artifacts.values():
        assert any(line.startswith(artifact.name) and artifact.licence in line for line in lines)
