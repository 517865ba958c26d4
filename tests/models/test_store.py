from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from engines.models import Artifact, ModelFile, Profile, Store
from engines.models.errors import HashMismatch, ModelMissing, StoreNotWritable

DATA = b"weights" * 1000
SOURCE = "pypi:a==1/a/model.bin"


@pytest.fixture
def model(pinned: Callable[..., ModelFile]) -> Artifact:
    return Artifact("model", "A model", "MIT", (pinned(DATA, SOURCE),))


@pytest.fixture
def profile(model: Artifact) -> Profile:
    return Profile("test", "tests", "en", "", {"llm": model})


@pytest.fixture
def filled(store: Store, model: Artifact) -> Store:
    store.open_for_writing()
    store.partial(model.files[0]).write_bytes(DATA)
    store.admit(model, model.files[0], "the test")
    return store


def test_a_missing_file_says_the_command_that_brings_it(store: Store, profile: Profile) -> None:
    """Nothing is fetched in passing: a missing model names the file, and the command with the store's directory."""
    with pytest.raises(ModelMissing) as caught:
        store.path(profile, "llm")
    assert caught.value.path == store.root / "model" / "model.bin"
    assert caught.value.command == f"relance models fetch test --dir {store.root}"
    assert "\n" not in str(caught.value)


def test_a_wrong_file_gets_no_final_name(store: Store, model: Artifact) -> None:
    """A wrong hash says file, expected, found and source; the bytes are not kept under any name."""
    store.open_for_writing()
    store.partial(model.files[0]).write_bytes(DATA[:-1])
    with pytest.raises(HashMismatch) as caught:
        store.admit(model, model.files[0], "pypi:a 1")
    said = str(caught.value)
    assert all(
        part in said for part in ("model/model.bin", model.files[0].sha256, caught.value.found, "source pypi:a 1")
    )
    assert "\n" not in said
    assert not store.partial(model.files[0]).exists()
    assert not store.place(model, model.files[0]).exists()


def test_one_file_is_its_own_path_and_several_are_their_directory(
    store: Store, filled: Store, profile: Profile, pinned: Callable[..., ModelFile]
) -> None:
    """An artifact of one file is that file; of several, the directory that an engine takes as a whole."""
    assert filled.path(profile, "llm") == store.root / "model" / "model.bin"
    second = pinned(b"{}", SOURCE, path="config.json")
    both = Artifact("model", "A model", "MIT", (*profile.artifacts["llm"].files, second))
    store.partial(second).write_bytes(b"{}")
    store.admit(both, second, "the test")
    assert store.path(Profile("test", "tests", "en", "", {"llm": both}), "llm") == store.root / "model"


def test_a_file_cut_short_after_its_check_is_not_handed_out(filled: Store, profile: Profile, model: Artifact) -> None:
    """A truncated file is never loaded: its size no longer fits its stamp, so it is hashed again."""
    path = filled.place(model, model.files[0])
    os.truncate(path, 100)
    with pytest.raises(HashMismatch, match="the store"):
        filled.path(profile, "llm")


def test_a_changed_file_of_the_same_size_and_time_is_not_handed_out(
    filled: Store, profile: Profile, model: Artifact
) -> None:
    """Setting the modification time back hides nothing: the change time counts too."""
    path = filled.place(model, model.files[0])
    before = path.stat()
    path.write_bytes(b"W" + DATA[1:])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(HashMismatch):
        filled.path(profile, "llm")


def test_a_file_that_was_put_there_by_hand_is_hashed_and_then_trusted(
    store: Store, profile: Profile, model: Artifact
) -> None:
    """A copied store works: without stamps everything is hashed once, and stamped."""
    path = store.place(model, model.files[0])
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA)
    assert store.path(profile, "llm") == path
    assert (store.root / ".verified" / "model" / "model.bin.json").exists()


def test_a_stamp_for_another_hash_counts_for_nothing(
    filled: Store, profile: Profile, model: Artifact, pinned: Callable[..., ModelFile]
) -> None:
    """A lock that pins other bytes under the same name finds the old file wrong, whatever its stamp says."""
    newer = Artifact("model", "A model", "MIT", (pinned(DATA, SOURCE, sha256="b" * 64),))
    with pytest.raises(HashMismatch):
        filled.path(Profile("test", "tests", "en", "", {"llm": newer}), "llm")


def test_a_damaged_stamp_is_as_none(filled: Store, profile: Profile) -> None:
    """A stamp that cannot be read only costs the time of hashing again."""
    (filled.root / ".verified" / "model" / "model.bin.json").write_bytes(b"{half")
    assert filled.path(profile, "llm").read_bytes() == DATA


def test_a_store_that_cannot_take_stamps_still_serves(store: Store, profile: Profile, model: Artifact) -> None:
    """A read-only store is hashed at each start instead: slower, and as safe."""
    path = store.place(model, model.files[0])
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA)
    (store.root / ".verified").write_bytes(b"a file where the stamps' directory should be")
    assert store.path(profile, "llm") == path


@pytest.mark.parametrize("place", ["a-file/models", "/proc/models"])
def test_a_store_that_is_not_writable_says_so_in_one_line(place: str, tmp_path: Path) -> None:
    """The system's own reason, with the store's directory; also for root."""
    (tmp_path / "a-file").write_text("")
    store = Store(tmp_path / place)
    with pytest.raises(StoreNotWritable) as caught:
        store.open_for_writing()
    assert str(store.root) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_store_is_held_by_one_at_a_time(store: Store) -> None:
    """The second to come says that it waits, and goes on when the first has ended."""
    store.open_for_writing()
    waiting, order = threading.Event(), []

    def second() -> None:
        with Store(store.root).only_one(waiting.set):
            order.append("second")

    thread = threading.Thread(target=second)
    with store.only_one(lambda: order.append("the first waits")):
        thread.start()
        assert waiting.wait(10)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]
