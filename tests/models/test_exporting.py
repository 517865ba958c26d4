from __future__ import annotations

import hashlib
import os
import resource
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engines.models import Lock, Profile, Store, export_archive, tarball
from engines.models.errors import ArchiveNotWritable, DiskTooSmall, HashMismatch, ModelMissing, ModelUnreadable
from engines.models.events import Event, FileReady


@pytest.fixture
def models(cargo: Any) -> Any:
    return cargo({"model/model.bin": b"weights" * 999, "model/config.json": b"{}"})


@pytest.fixture
def profile(models: Any) -> Profile:
    return models.profile


@pytest.fixture
def full(models: Any, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return models.fill(tmp_path_factory.mktemp("models"))


@contextmanager
def file_size_limit(most: int) -> Iterator[None]:
    """Files of this process may not be larger inside: a write beyond that fails as on a small file system.

    No fixture: pytest reports a test before its fixtures end, and where its report is a file it could not write it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def names_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_any_tar_reads_the_archive(full: Store, profile: Profile, tmp_path: Path) -> None:
    """A manifest, then the files by their names in the store; owner, mode and time tell nothing of this machine."""
    export_archive(profile, full, tmp_path / "a.tar")
    with tarfile.open(tmp_path / "a.tar", "r:") as tar:
        members = {member.name: member for member in tar}
        read = {name: tar.extractfile(member).read() for name, member in members.items()}  # type: ignore[union-attr]
    assert list(read) == ["relance-models.json", "model/model.bin", "model/config.json"]
    assert read["relance-models.json"] == b'{"format":1,"profile":"test"}'
    assert read["model/model.bin"] == b"weights" * 999
    told = {(m.uid, m.gid, m.uname, m.gname, m.mode, m.mtime) for m in members.values()}
    assert told == {(0, 0, "", "", 0o644, 0)}


def test_the_same_files_make_the_same_bytes(
    models: Any, full: Store, profile: Profile, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Two stores with the same files, of other times and modes, export the same archive."""
    other = models.fill(tmp_path_factory.mktemp("other"))
    for artifact, file in profile.files():
        place = other.place(artifact, file)
        place.chmod(0o600)
        os.utime(place, (1, 1))
    export_archive(profile, full, tmp_path / "a.tar")
    export_archive(profile, other, tmp_path / "b.tar")
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()


def test_the_size_is_known_before(full: Store, profile: Profile, tmp_path: Path) -> None:
    """The disk is asked for the archive's size to the byte: one byte less is refused, and nothing is written."""
    export_archive(profile, full, tmp_path / "a.tar")
    size = (tmp_path / "a.tar").stat().st_size
    export_archive(profile, full, tmp_path / "a.tar", free_bytes=lambda directory: size)
    with pytest.raises(DiskTooSmall) as caught:
        export_archive(profile, full, tmp_path / "b.tar", free_bytes=lambda directory: size - 1)
    assert caught.value.needed_bytes == size
    assert names_in(tmp_path) == ["a.tar"]


def test_every_name_of_the_lock_has_a_header_of_one_block(lock: Lock) -> None:
    """Longer names would need an extended header, which no import reads. Sizes beyond 8 GB need none."""
    for artifact in lock.artifacts.values():
        for file in artifact.files:
            assert len(tarball.header(tarball.name_of(artifact, file), 1 << 40)) == tarball.BLOCK_BYTES


def test_a_missing_model_says_the_command_that_brings_it(full: Store, profile: Profile, tmp_path: Path) -> None:
    """An export is of a whole profile or fails before it has written anything."""
    (full.root / "model" / "config.json").unlink()
    with pytest.raises(ModelMissing, match=r"config.json is not there; run: relance models fetch test --dir"):
        export_archive(profile, full, tmp_path / "a.tar")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("size", [100, 999 * 7], ids=["cut short", "of the right size"])
def test_a_wrong_model_is_not_exported(size: int, full: Store, profile: Profile, tmp_path: Path) -> None:
    """The bytes that are written are hashed, whatever the store's stamp says; what was at FILE stays as it was."""
    (tmp_path / "a.tar").write_bytes(b"the archive of last week")
    wrong = b"x" * size
    (full.root / "model" / "model.bin").write_bytes(wrong)
    with pytest.raises(HashMismatch) as caught:
        export_archive(profile, full, tmp_path / "a.tar")
    assert caught.value.found == hashlib.sha256(wrong).hexdigest()
    assert str(full.root / "model" / "model.bin") in str(caught.value)
    assert names_in(tmp_path) == ["a.tar"]
    assert (tmp_path / "a.tar").read_bytes() == b"the archive of last week"


def test_a_model_that_grows_while_it_is_read_is_not_exported(full: Store, profile: Profile, tmp_path: Path) -> None:
    """Right bytes at last are not enough: the header before them tells of the size that the file had."""
    model = full.root / "model" / "model.bin"
    whole = model.read_bytes()
    model.write_bytes(whole[:-1])

    def copy_ends(event: Event) -> None:
        model.write_bytes(whole)

    with pytest.raises(ModelUnreadable, match="changed meanwhile"):
        export_archive(profile, full, tmp_path / "a.tar", copy_ends)
    assert names_in(tmp_path) == []


def test_a_model_that_is_a_directory_is_one_line(full: Store, profile: Profile, tmp_path: Path) -> None:
    """What cannot be read is told with its path and the system's reason."""
    (full.root / "model" / "model.bin").unlink()
    (full.root / "model" / "model.bin").mkdir()
    with pytest.raises(ModelUnreadable, match=r"model.bin cannot be read: Is a directory"):
        export_archive(profile, full, tmp_path / "a.tar")
    assert names_in(tmp_path) == []


def test_an_archive_is_replaced_by_a_whole_one_alone(full: Store, profile: Profile, tmp_path: Path) -> None:
    """While the new one is written, the old one is there under its name, and the new one under none of that kind."""
    archive = tmp_path / "a.tar"
    archive.write_bytes(b"the archive of last week")
    seen: list[bytes] = []

    def look(event: Event) -> None:
        seen.append(archive.read_bytes())
        assert [name for name in names_in(tmp_path) if not name.startswith(".relance-export-")] == ["a.tar"]

    export_archive(profile, full, archive, look)
    assert set(seen) == {b"the archive of last week"}
    assert names_in(tmp_path) == ["a.tar"]
    assert tarfile.is_tarfile(archive)


def test_a_link_to_an_archive_stays_a_link(full: Store, profile: Profile, tmp_path: Path) -> None:
    """What the link names is replaced, not the link."""
    (tmp_path / "a.tar").write_bytes(b"the archive of last week")
    (tmp_path / "link").symlink_to("a.tar")
    export_archive(profile, full, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert tarfile.is_tarfile(tmp_path / "a.tar")


def test_ctrl_c_leaves_nothing(full: Store, profile: Profile, tmp_path: Path) -> None:
    """An export that is interrupted deletes what it has written."""

    def interrupt(event: Event) -> None:
        if isinstance(event, FileReady):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_archive(profile, full, tmp_path / "a.tar", interrupt)
    assert names_in(tmp_path) == []


def test_a_file_system_that_refuses_more_is_one_line(full: Store, profile: Profile, tmp_path: Path) -> None:
    """A write that fails on the way is told with the archive's name and the system's reason; nothing is left."""
    refused = pytest.raises(ArchiveNotWritable, match=r"a.tar cannot be written: File too large")
    with file_size_limit(4096), refused:
        export_archive(profile, full, tmp_path / "a.tar")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "something else than a file has that name"),
        ("pipe", "something else than a file has that name"),
        ("none/a.tar", "No such file or directory"),
        ("file/a.tar", "Not a directory"),
        ("n" * 300, "File name too long"),
    ],
)
def test_a_place_that_takes_no_archive_is_one_line(
    name: str, reason: str, full: Store, profile: Profile, tmp_path: Path
) -> None:
    """A device or a directory is never replaced by an archive; a place that is not there is named."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("")
    with pytest.raises(ArchiveNotWritable) as caught:
        export_archive(profile, full, tmp_path / name)
    assert str(caught.value) == f"archive {tmp_path / name} cannot be written: {reason}"
    assert names_in(tmp_path) == ["file", "pipe"]
