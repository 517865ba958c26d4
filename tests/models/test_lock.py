from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engines.models import Lock, load_lock
from engines.models.errors import LockInvalid, UnknownProfile
from engines.models.lock import ROLES, parse_lock
from engines.models.sources import Build, Packed

PROJECT = Path(__file__).parents[2]


def first_file(tables: dict[str, Any]) -> dict[str, Any]:
    return tables["artifacts"]["one"]["files"][0]


WRONG: dict[str, tuple[Callable[[dict[str, Any]], Any], str, str]] = {
    "version of the future": (lambda t: t.update(version=2), "top level.version", "2"),
    "unknown table": (lambda t: t.update(extra={}), "top level", "extra"),
    "artifact without licence": (lambda t: t["artifacts"]["one"].pop("licence"), "artifacts.one", "licence"),
    "artifact without files": (lambda t: t["artifacts"]["one"].update(files=[]), "artifacts.one.files", "length >= 1"),
    "artifact named like a path": (
        lambda t: t["artifacts"].update({"../x": t["artifacts"]["one"]}),
        "artifacts.../x",
        "expected a name",
    ),
    "file without size": (lambda t: first_file(t).pop("size_bytes"), "artifacts.one.files[0]", "size_bytes"),
    "size that is no number": (lambda t: first_file(t).update(size_bytes="?"), "files[0].size_bytes", "'?'"),
    "size of zero": (lambda t: first_file(t).update(size_bytes=0), "files[0].size_bytes", ">= 1"),
    "hash cut short": (lambda t: first_file(t).update(sha256="abc"), "artifacts.one.files[0].sha256", "regex"),
    "no source": (lambda t: first_file(t).update(sources=[]), "files[0].sources", "length >= 1"),
    "unknown scheme": (lambda t: first_file(t).update(sources=["ftp:x"]), "files[0].sources", "expected hf, github"),
    "unpinned wheel": (lambda t: first_file(t).update(sources=["pypi:a/b"]), "files[0].sources", "NAME==VERSION"),
    "branch for a revision": (
        lambda t: first_file(t).update(sources=["hf:o/r@main/x"]),
        "files[0].sources",
        "40 hex digits",
    ),
    "unknown recipe": (lambda t: first_file(t).update(sources=["build:x"]), "files[0].sources", "no recipe 'x'"),
    "path out of the store": (lambda t: first_file(t).update(path="../x"), "files[0].path", "'../x'"),
    "absolute path": (lambda t: first_file(t).update(path="/x"), "files[0].path", "'/x'"),
    "same path twice": (lambda t: t["artifacts"]["one"]["files"].append(first_file(t)), "one.files", "once"),
    "profile without a role": (lambda t: t["profiles"]["ci"].pop("tts"), "profiles.ci", "tts"),
    "profile with an unknown artifact": (lambda t: t["profiles"]["ci"].update(tts="two"), "profiles.ci.tts", "'two'"),
    "profile in another language": (lambda t: t["profiles"]["ci"].update(language="de"), "profiles.ci.language", "de"),
    "recipe without a version": (lambda t: t["recipes"]["voices"].update(inputs="npm:x"), "recipes.voices", "@VERSION"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_fault_in_the_lock_is_one_line_with_its_place(name: str, tables: dict[str, Any]) -> None:
    """Whatever is wrong in the lock is said with its place and what was expected, in one line."""
    spoil, place, reason = WRONG[name]
    spoil(tables)
    with pytest.raises(LockInvalid) as caught:
        parse_lock(tables)
    assert place in caught.value.place
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_lock_that_is_not_toml_says_the_line(tmp_path: Path) -> None:
    """A syntax error names file and line."""
    path = tmp_path / "models.lock"
    path.write_text("version = 1\nartifacts = nonsense\n")
    with pytest.raises(LockInvalid, match=r"models\.lock: .*line 2"):
        load_lock(path)


def test_a_lock_that_is_not_there_says_so(tmp_path: Path) -> None:
    """A missing lock file names the path."""
    with pytest.raises(LockInvalid, match=r"none\.lock: No such file"):
        load_lock(tmp_path / "none.lock")


def test_an_unknown_profile_names_the_known_ones(lock: Lock) -> None:
    """A wrong profile name is answered with the right ones."""
    with pytest.raises(UnknownProfile, match=r"'fre'.*ci, fr, fr-small"):
        lock.profile("fre")


def test_every_profile_fills_every_role(lock: Lock) -> None:
    """The three profiles have an artifact for each role, a voice, and their language."""
    assert {name: profile.language for name, profile in lock.profiles.items()} == {
        "ci": "en",
        "fr": "fr",
        "fr-small": "fr",
    }
    for profile in lock.profiles.values():
        assert tuple(profile.artifacts) == ROLES
    assert {profile.voice for profile in lock.profiles.values()} == {"af_heart", "ff_siwis"}


def test_one_size_alone_is_unknown(lock: Lock) -> None:
    """Sizes decide whether the disk is large enough: only the file that could not be measured may lack its own."""
    unknown = [
        (artifact.name, file.path)
        for artifact in lock.artifacts.values()
        for file in artifact.files
        if file.size_bytes is None
    ]
    assert unknown == [("faster-whisper-small", "vocabulary.txt")]


@pytest.mark.parametrize("name", ["ci", "fr"])
def test_a_closed_network_can_have_the_profile_from_packages(name: str, lock: Lock) -> None:
    """Each file of ci and fr has a source that is a package registry, or is built from one."""
    for artifact, file in lock.profile(name).files():
        assert any(isinstance(source, Packed | Build) for source in file.sources), artifact.name


@pytest.mark.parametrize("name", ["models.lock", "requirements.lock"])
def test_the_locks_hold_no_address(name: str) -> None:
    """Registries are reached as the machine has them set up: no lock names one."""
    assert not re.search(r"://|--index-url|--extra-index-url|--find-links", (PROJECT / name).read_text("utf-8"))


def test_every_requirement_is_pinned_by_hash() -> None:
    """Each requirement has one version and at least one hash."""
    text = (PROJECT / "requirements.lock").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    assert len(lines) > 50
    for line in lines:
        assert re.match(r"[a-z0-9.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line), line


def test_the_package_carries_the_projects_lock() -> None:
    """The lock that is read, also from an installed wheel, is the one at the project's root."""
    assert (PROJECT / "engines/models/models.lock").resolve() == PROJECT / "models.lock"
