from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engines.models import Store, export_archive, import_archive
from engines.models.errors import (
    ArchiveUnusable,
    DiskTooSmall,
    HashMismatch,
    ImportFailed,
    SizeMismatch,
    StoreNotWritable,
)
from engines.models.events import Event, FileReady, MemberLeft, WaitingForOther

FILES = {"ear/model.bin": b"e" * 700, "ear/config.json": b"{}", "voice/voice.onnx": b"v" * 1024}
ENDS = {"ear/model.bin": 2236, "ear/config.json": 3074, "voice/voice.onnx": 5120}
"""Where the data of each file ends in the archive: after the manifest's two blocks, a header and its data each."""


@pytest.fixture
def models(cargo: Any) -> Any:
    return cargo(FILES)


@pytest.fixture
def archive(models: Any, tmp_path: Path) -> Path:
    export_archive(models.profile, models.fill(tmp_path / "exporter"), tmp_path / "test.tar")
    return tmp_path / "test.tar"


@contextmanager
def without_rights() -> Iterator[None]:
    """Be nobody meanwhile, where the tests are run by root, to whom nothing is forbidden."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


def kept(store: Store) -> dict[str, bytes]:
    """The files that have their final names."""
    return {
        str(path.relative_to(store.root)): path.read_bytes()
        for path in store.root.rglob("*")
        if path.is_file() and not str(path.relative_to(store.root)).startswith(".")
    }


def half_files(store: Store) -> list[Path]:
    return list((store.root / ".partial").iterdir())


def test_what_was_exported_is_there_and_verified(models: Any, archive: Path, store: Store) -> None:
    """All files of the profile, each told as it is ready; engines can load them at once."""
    events: list[Event] = []
    imported = import_archive(archive, models.lock, store, events.append)
    assert kept(store) == FILES
    assert imported.profile is models.profile
    assert list(imported.taken) == list(models.profile.files())
    assert [(e.artifact, e.file) for e in events if isinstance(e, FileReady)] == list(models.profile.files())
    assert store.path(models.profile, "vad") == store.root / "ear"
    assert half_files(store) == []


def test_a_second_import_does_nothing(models: Any, archive: Path, store: Store) -> None:
    """What is there and right is left alone, and no room is asked for: not one byte is written."""
    import_archive(archive, models.lock, store)
    before = {path: path.stat() for path in store.root.rglob("*")}
    imported = import_archive(archive, models.lock, store, free_bytes=lambda root: 0)
    assert imported.taken == []
    after = {path: path.stat() for path in store.root.rglob("*")}
    assert {path: (s.st_ino, s.st_mtime_ns) for path, s in after.items()} == {
        path: (s.st_ino, s.st_mtime_ns) for path, s in before.items()
    }


def test_only_what_the_store_lacks_is_taken(models: Any, archive: Path, store: Store) -> None:
    """A file that is wrong in the store is lacking, too."""
    models.fill(store.root)
    (store.root / "ear" / "config.json").write_bytes(b"[]")
    (store.root / "voice" / "voice.onnx").unlink()
    imported = import_archive(archive, models.lock, store)
    assert [file.path for _, file in imported.taken] == ["config.json", "voice.onnx"]
    assert kept(store) == FILES


@settings(deadline=None, max_examples=300)
@given(cut=st.integers(min_value=0, max_value=6144))
@example(cut=5120)
@example(cut=5119)
@example(cut=5632)
@example(cut=5631)
def test_an_archive_cut_anywhere_leaves_no_wrong_and_no_half_file(
    cut: int, cargo: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What was whole before the cut is taken, and nothing else; the cut is an error unless only filling is lost."""
    models, place = cargo(FILES), tmp_path_factory.mktemp("cut")
    export_archive(models.profile, models.fill(place / "exporter"), place / "test.tar")
    assert (place / "test.tar").stat().st_size == 6144
    os.truncate(place / "test.tar", cut)
    store = Store(place / "models")
    if cut >= 5632:
        import_archive(place / "test.tar", models.lock, store)
    else:
        with pytest.raises((ArchiveUnusable, ImportFailed)) as caught:
            import_archive(place / "test.tar", models.lock, store)
        assert "cut short" in str(caught.value) or cut < 1024
    assert kept(store) == {name: data for name, data in FILES.items() if ENDS[name] <= cut}
    assert not store.root.exists() or half_files(store) == []


@settings(deadline=None, max_examples=300)
@given(at=st.integers(min_value=0, max_value=6143), byte=st.integers(min_value=0, max_value=255), data=st.data())
def test_an_archive_with_any_byte_changed_leaves_no_wrong_file(
    at: int, byte: int, data: st.DataObject, cargo: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Wherever the damage is, in a header, a name or a model: a file has its final name with its pinned bytes alone."""
    sized = data.draw(st.booleans())
    models, place = cargo(FILES, sized=sized), tmp_path_factory.mktemp("changed")
    export_archive(models.profile, models.fill(place / "exporter"), place / "test.tar")
    changed = bytearray((place / "test.tar").read_bytes())
    changed[at] = byte
    (place / "test.tar").write_bytes(changed)
    store = Store(place / "models")
    said = ""
    try:
        import_archive(place / "test.tar", models.lock, store)
    except (ArchiveUnusable, ImportFailed) as failure:
        said = str(failure)
    assert said or kept(store) == FILES
    assert "\n" not in said
    assert kept(store).items() <= FILES.items()
    assert not store.root.exists() or half_files(store) == []


@pytest.mark.parametrize("sized", [True, False])
def test_a_wrong_file_is_told_and_not_kept_and_the_others_are(
    sized: bool, cargo: Any, store: Store, tmp_path: Path
) -> None:
    """File, expected, found, and the archive that it came from; what was right stays."""
    other = cargo(FILES | {"ear/model.bin": b"E" * 700})
    export_archive(other.profile, other.fill(tmp_path / "exporter"), tmp_path / "test.tar")
    models = cargo(FILES, sized=sized)
    with pytest.raises(ImportFailed) as caught:
        import_archive(tmp_path / "test.tar", models.lock, store)
    (wrong,) = caught.value.failures
    assert isinstance(wrong, HashMismatch)
    assert wrong.expected == models.lock.artifacts["ear"].files[0].sha256
    assert wrong.found == other.lock.artifacts["ear"].files[0].sha256
    assert wrong.source == str(tmp_path / "test.tar")
    assert str(store.root / "ear" / "model.bin") in str(wrong)
    assert kept(store) == {name: data for name, data in FILES.items() if name != "ear/model.bin"}
    assert half_files(store) == []


def test_a_wrong_file_in_the_archive_does_not_touch_the_right_one_in_the_store(
    cargo: Any, models: Any, tmp_path: Path
) -> None:
    """The store's own file is right: the archive's is not even looked at."""
    other = cargo(FILES | {"ear/model.bin": b"E" * 700})
    export_archive(other.profile, other.fill(tmp_path / "exporter"), tmp_path / "test.tar")
    store = models.fill(tmp_path / "models")
    assert import_archive(tmp_path / "test.tar", models.lock, store).taken == []
    assert kept(store) == FILES


def test_an_archive_of_an_older_lock_gives_what_is_still_pinned(cargo: Any, store: Store, tmp_path: Path) -> None:
    """A model of another size, one that is no longer known, and one that the archive cannot have: each is named."""
    older = cargo({"ear/model.bin": b"e" * 699, "ear/config.json": b"{}", "gone/model.bin": b"g"})
    export_archive(older.profile, older.fill(tmp_path / "exporter"), tmp_path / "test.tar")
    models, left = cargo(FILES), []
    with pytest.raises(ImportFailed) as caught:
        import_archive(tmp_path / "test.tar", models.lock, store, left.append)
    (wrong,) = caught.value.failures
    assert isinstance(wrong, SizeMismatch)
    assert str(wrong) == (f"wrong size of ear/model.bin: expected 700 bytes, found 699, source {tmp_path / 'test.tar'}")
    assert [event.name for event in left if isinstance(event, MemberLeft)] == ["gone/model.bin"]
    assert kept(store) == {"ear/config.json": b"{}"}


def test_an_archive_that_does_not_complete_its_profile_is_told(
    cargo: Any, models: Any, store: Store, tmp_path: Path
) -> None:
    """Everything in it was right, and yet the profile cannot be served: the missing file and the remedy are named."""
    older = cargo({name: data for name, data in FILES.items() if name != "voice/voice.onnx"})
    export_archive(older.profile, older.fill(tmp_path / "exporter"), tmp_path / "test.tar")
    with pytest.raises(
        ImportFailed, match=r"does not complete test: no right voice/voice.onnx; .* relance models fetch"
    ):
        import_archive(tmp_path / "test.tar", models.lock, store)
    assert len(kept(store)) == 2


def test_an_archive_of_a_profile_that_is_not_known_gives_what_is(cargo: Any, archive: Path, store: Store) -> None:
    """Models are known by their own names: the profile's name decides about nothing but the last word."""
    models = cargo(FILES)
    models.lock = type(models.lock)(models.lock.artifacts, {"fr": models.profile})
    with pytest.raises(ImportFailed, match="made for profile 'test', which this relance does not have"):
        import_archive(archive, models.lock, store)
    assert kept(store) == FILES


def test_a_disk_that_is_too_small_is_said_before(models: Any, archive: Path, store: Store) -> None:
    """Only what the store lacks needs room, without what is to be written over; one byte less is refused."""
    models.fill(store.root)
    (store.root / "ear" / "model.bin").unlink()
    store.open_for_writing()
    store.partial(models.lock.artifacts["ear"].files[0]).write_bytes(b"e" * 100)
    with pytest.raises(DiskTooSmall) as caught:
        import_archive(archive, models.lock, store, free_bytes=lambda root: 599)
    assert caught.value.needed_bytes == 600
    assert not (store.root / "ear" / "model.bin").exists()
    import_archive(archive, models.lock, store, free_bytes=lambda root: 600)
    assert kept(store) == FILES


def test_a_disk_that_fills_up_on_the_way_is_said_in_one_line(models: Any, archive: Path, store: Store) -> None:
    """Another program may eat the space meanwhile: no half file is left, and what was whole stays."""
    store.open_for_writing()
    store.partial(models.lock.artifacts["voice"].files[0]).symlink_to("/dev/full")
    with pytest.raises(DiskTooSmall):
        import_archive(archive, models.lock, store)
    assert "voice/voice.onnx" not in kept(store)
    assert len(kept(store)) == 2
    assert half_files(store) == []


def test_ctrl_c_leaves_no_half_file(models: Any, archive: Path, store: Store) -> None:
    """What was whole stays, what was on its way goes; the next import takes the rest."""

    def interrupt(event: Event) -> None:
        if isinstance(event, FileReady):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_archive(archive, models.lock, store, interrupt)
    assert kept(store) == {"ear/model.bin": FILES["ear/model.bin"]}
    assert half_files(store) == []
    assert len(import_archive(archive, models.lock, store).taken) == 2


def test_an_import_waits_for_who_is_at_work_in_the_store(models: Any, archive: Path, store: Store) -> None:
    """It says so; and what the other has brought meanwhile is not taken again."""
    store.open_for_writing()
    waits, taken = threading.Event(), []

    def tell(event: Event) -> None:
        if isinstance(event, WaitingForOther):
            waits.set()

    def run() -> None:
        taken.append(import_archive(archive, models.lock, Store(store.root), tell).taken)

    thread = threading.Thread(target=run)
    with store.only_one(lambda: None):
        thread.start()
        assert waits.wait(10)
        models.fill(store.root)
    thread.join(10)
    assert taken == [[]]


@pytest.mark.parametrize("place", ["a-file/models", "/proc/models"])
def test_a_store_that_is_not_writable_is_one_line(place: str, models: Any, archive: Path, tmp_path: Path) -> None:
    """The system's own reason, with the store's directory; also for root."""
    (tmp_path / "a-file").write_text("")
    with pytest.raises(StoreNotWritable):
        import_archive(archive, models.lock, Store(tmp_path / place))


def test_a_directory_in_a_models_place_is_one_line(models: Any, archive: Path, store: Store) -> None:
    """Nothing that is in the way is deleted; the system's error names the path."""
    (store.root / "ear" / "model.bin" / "mine").mkdir(parents=True)
    with pytest.raises(IsADirectoryError, match=r"ear/model\.bin"):
        import_archive(archive, models.lock, store)
    assert (store.root / "ear" / "model.bin" / "mine").exists()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not an archive made by relance models export"),
        (b"x", "not an archive made by relance models export"),
        (b"some text\n" * 1000, "not an archive made by relance models export"),
        (bytes(10240), "not an archive made by relance models export"),
        (gzip.compress(b"a tar" * 1000, mtime=0), "not an archive made by relance models export"),
    ],
    ids=["empty", "one byte", "text", "zeros", "gzip"],
)
def test_what_is_no_archive_is_one_line(content: bytes, reason: str, models: Any, store: Store, tmp_path: Path) -> None:
    """It is named with the reason, and the store is not even made."""
    (tmp_path / "test.tar").write_bytes(content)
    with pytest.raises(ArchiveUnusable) as caught:
        import_archive(tmp_path / "test.tar", models.lock, store)
    assert str(caught.value) == f"archive {tmp_path / 'test.tar'}: {reason}"
    assert not store.root.exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none", "No such file or directory"),
        ("directory", "not a regular file"),
        ("pipe", "not a regular file"),
        ("n" * 300, "File name too long"),
    ],
)
def test_a_path_without_an_archive_is_one_line(
    name: str, reason: str, models: Any, store: Store, tmp_path: Path
) -> None:
    """A pipe is not waited for: an archive is read twice, and a pipe gives its bytes once."""
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ArchiveUnusable) as caught:
        import_archive(tmp_path / name, models.lock, store)
    assert str(caught.value) == f"archive {tmp_path / name}: {reason}"


def test_an_archive_that_may_not_be_read_is_one_line(models: Any, archive: Path, store: Store) -> None:
    """The system's reason, with the archive's name."""
    archive.chmod(0)
    with without_rights(), pytest.raises(ArchiveUnusable, match=r"test.tar: Permission denied"):
        import_archive(archive, models.lock, store)


def test_an_archive_that_cannot_be_read_on_is_one_line(models: Any, store: Store) -> None:
    """A medium that fails is told with the place: /proc/self/mem has nothing at its beginning."""
    with pytest.raises(ArchiveUnusable, match="cannot be read at byte 0: Input/output error"):
        import_archive(Path("/proc/self/mem"), models.lock, store)
