from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.models import Store, import_archive
from engines.models.errors import ArchiveUnusable, ImportFailed
from engines.models.events import Event, MemberLeft
from engines.models.tarball import END, manifest_member

RIGHT = b"right" * 300
WRONG = b"wrong" * 300
NAME = "ear/model.bin"
TYPES = [b"0", b"\0", b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"x", b"g", b"L", b"K", b"S", b"X", b"Z"]

Import = Callable[..., list[MemberLeft]]


def member(name: str, data: bytes = b"", *, kind: bytes = b"0", link: str = "", size: int | None = None) -> bytes:
    """A member with any header whose checksum is right; ``size`` is what it declares, the data's own by default."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(data) if size is None else size
    return info.tobuf(tarfile.GNU_FORMAT) + data + bytes(-len(data) % 512)


def pax(kind: bytes, **fields: str) -> bytes:
    """An extended header: what it says would count for the next member, or for all."""
    lines = b""
    for key, value in fields.items():
        line = f" {key}={value}\n".encode()
        length = len(line) + 2
        lines += str(length + (length > 99)).encode() + line
    return member("././@PaxHeader", lines, kind=kind)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory that no archive may reach."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "model.bin").write_bytes(b"mine")
    return tmp_path / "outside"


@pytest.fixture
def take(cargo: Any, store: Store, tmp_path: Path) -> Import:
    """Imports an archive of these members after a right manifest; returns what was left."""

    def run(*members: bytes, end: bytes = END) -> list[MemberLeft]:
        (tmp_path / "test.tar").write_bytes(manifest_member("test") + b"".join(members) + end)
        events: list[Event] = []
        import_archive(tmp_path / "test.tar", cargo({NAME: RIGHT}).lock, store, events.append)
        return [event for event in events if isinstance(event, MemberLeft)]

    return run


def model(store: Store) -> Path:
    return store.root / NAME


def everything(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*")}


@pytest.mark.parametrize(
    "name",
    [
        "../outside/model.bin",
        "../../../../../../../../tmp/model.bin",
        "/tmp/model.bin",
        "ear/../../outside/model.bin",
        "ear/../ear/model.bin",
        "./ear/model.bin",
        "ear//model.bin",
        "/ear/model.bin",
        "EAR/model.bin",
        "ear/model.bin/",
        ".verified/ear/model.bin.json",
        ".partial/x",
        "",
        "\x1b[2Jear",
    ],
)
def test_a_name_that_the_lock_does_not_know_is_left(
    name: str, take: Import, store: Store, outside: Path, tmp_path: Path
) -> None:
    """No name is made into a path, not even one that would lead to a model's place; the right member is taken."""
    left = take(member(name, WRONG), member(NAME, RIGHT))
    assert [event.name for event in left] == [name]
    assert model(store).read_bytes() == RIGHT
    assert everything(outside) == {"model.bin"}
    assert everything(tmp_path) - everything(store.root) >= {"models", "outside", "outside/model.bin", "test.tar"}
    assert {path.name for path in tmp_path.iterdir()} == {"models", "outside", "test.tar"}
    assert {path.name for path in store.root.iterdir()} == {"ear", ".partial", ".verified", ".lock"}


@pytest.mark.parametrize("kind", [b"1", b"2", b"3", b"4", b"6", b"7", b"S", b"Z"])
def test_a_models_name_on_something_else_than_a_file_is_left(
    kind: bytes, take: Import, store: Store, outside: Path
) -> None:
    """Links, devices, pipes, sparse files and unknown kinds are never made: the archive lacks its model."""
    link = str(outside / "model.bin")
    with pytest.raises(ImportFailed, match="does not complete test"):
        take(member(NAME, b"", kind=kind, link=link))
    assert not model(store).parent.exists()
    assert (outside / "model.bin").read_bytes() == b"mine"
    assert take(member(NAME, b"", kind=kind, link=link), member(NAME, RIGHT))[0].reason == "not a plain file"
    assert not model(store).is_symlink()


def test_a_link_in_the_way_of_a_model_is_not_made(take: Import, store: Store, outside: Path) -> None:
    """A link for the artifact's directory, then its file: the file goes to the store."""
    take(member("ear", kind=b"2", link=str(outside)), member(NAME, RIGHT))
    assert not model(store).parent.is_symlink()
    assert model(store).read_bytes() == RIGHT
    assert (outside / "model.bin").read_bytes() == b"mine"


@pytest.mark.parametrize("kind", [b"1", b"2", b"3", b"4", b"5", b"6"])
def test_what_has_no_data_of_its_own_skips_none(kind: bytes, take: Import, store: Store) -> None:
    """A link, a device, a directory or a pipe may declare a size, which does not count: the next header follows."""
    left = take(member("ear", kind=kind, size=2048), member(NAME, RIGHT))
    assert [event.name for event in left] == ["ear"]
    assert model(store).read_bytes() == RIGHT


@pytest.mark.parametrize("name", [NAME, "ear/unknown", "././@LongLink"])
@pytest.mark.parametrize("kind", [b"0", b"x", b"L", b"S"])
@pytest.mark.parametrize("size", [1 << 33, 1 << 60, (1 << 88) - 1])
def test_a_size_beyond_the_archive_is_an_archive_cut_short(
    size: int, kind: bytes, name: str, take: Import, store: Store
) -> None:
    """Nothing of that size is read, written or asked of the disk; what came before stays."""
    with pytest.raises(ImportFailed, match=f"cut short: .* should have {size} bytes"):
        take(member(NAME, RIGHT), member(name, b"", kind=kind, size=size))
    assert model(store).read_bytes() == RIGHT


def test_a_size_below_zero_is_damage(take: Import, store: Store) -> None:
    """It would lead back to a header that was read already, for ever."""
    with pytest.raises(ImportFailed, match=r"damaged at byte \d+ \(a size below zero\)"):
        take(member(NAME, RIGHT), member(NAME, b"", size=-2048))
    assert model(store).read_bytes() == RIGHT


def test_a_larger_member_than_is_pinned_is_not_written(take: Import, store: Store) -> None:
    """A file that cannot be right costs no disk: its size is enough to refuse it."""
    with pytest.raises(ImportFailed, match=f"wrong size of {NAME}: expected 1500 bytes, found 1048576"):
        take(member(NAME, bytes(1 << 20)))
    assert not store.root.exists()


def test_of_members_of_one_name_the_right_one_is_kept(take: Import, store: Store) -> None:
    """A wrong one before it is an error, after it it is not looked at; the right one stays in any order."""
    with pytest.raises(ImportFailed, match=f"wrong hash of .*{NAME}"):
        take(member(NAME, WRONG), member(NAME, RIGHT), member(NAME, WRONG))
    assert model(store).read_bytes() == RIGHT
    assert take(member(NAME, RIGHT), member(NAME, WRONG), member(NAME, RIGHT)) == []
    assert model(store).read_bytes() == RIGHT


@pytest.mark.parametrize("kind", [b"x", b"g"])
def test_what_an_extended_header_says_does_not_count(kind: bytes, take: Import, store: Store, outside: Path) -> None:
    """Another path, size or sparse map for the next member: that has its own name, its own size, its own bytes."""
    said = {"path": "../outside/model.bin", "size": "99999999", "GNU.sparse.realsize": "1099511627776"}
    left = take(pax(kind, **said), member(NAME, RIGHT), pax(kind, path=NAME), member("x", WRONG))
    assert [event.name for event in left] == ["././@PaxHeader", "././@PaxHeader", "x"]
    assert model(store).read_bytes() == RIGHT
    assert (outside / "model.bin").read_bytes() == b"mine"


def test_a_long_name_of_gnu_tar_does_not_count(take: Import, store: Store) -> None:
    """It is a member of its own here."""
    left = take(member("././@LongLink", NAME.encode() + b"\0", kind=b"L"), member("x", WRONG), member(NAME, RIGHT))
    assert len(left) == 2
    assert model(store).read_bytes() == RIGHT


@pytest.mark.parametrize("tar_format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_an_archive_that_was_packed_anew_is_taken(tar_format: int, cargo: Any, store: Store, tmp_path: Path) -> None:
    """Owners, times to the nanosecond and directories, as another tar writes them, are in nobody's way."""
    with tarfile.open(tmp_path / "test.tar", "w", format=tar_format) as tar:
        manifest = tarfile.TarInfo("relance-models.json")
        manifest.size = 29
        tar.addfile(manifest, io.BytesIO(b'{"format":1,"profile":"test"}'))
        directory = tarfile.TarInfo("ear")
        directory.type, directory.mtime = tarfile.DIRTYPE, 1.25
        tar.addfile(directory)
        info = tarfile.TarInfo(NAME)
        info.size, info.mtime, info.uname = len(RIGHT), 1.25, "élodie"
        tar.addfile(info, io.BytesIO(RIGHT))
    import_archive(tmp_path / "test.tar", cargo({NAME: RIGHT}).lock, store)
    assert model(store).read_bytes() == RIGHT


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (member(NAME, RIGHT), "not an archive made by relance models export"),
        (member("relance-models.json", b"{", size=1), "its manifest cannot be read"),
        (member("relance-models.json", b"[]"), "its manifest cannot be read"),
        (member("relance-models.json", b'{"format":2}'), "expected format 1, found 2, of another relance"),
        (member("relance-models.json", b'{"format":1,"profile":7}'), "its manifest cannot be read"),
        (member("relance-models.json", b" " * 5000), "not an archive made by relance models export"),
        (member("relance-models.json", kind=b"2", link="/etc/passwd"), "its manifest cannot be read"),
    ],
    ids=["none", "half", "another shape", "another format", "another type", "too large", "a link"],
)
def test_without_a_manifest_that_is_understood_nothing_is_taken(
    first: bytes, reason: str, cargo: Any, store: Store, tmp_path: Path
) -> None:
    """An archive must say first what it is."""
    (tmp_path / "test.tar").write_bytes(first + member(NAME, RIGHT) + END)
    with pytest.raises(ArchiveUnusable) as caught:
        import_archive(tmp_path / "test.tar", cargo({NAME: RIGHT}).lock, store)
    assert reason in str(caught.value)
    assert not store.root.exists()


def test_a_profile_named_to_harm_the_terminal_is_shown_not_done(cargo: Any, store: Store, tmp_path: Path) -> None:
    """Control characters of the archive reach no message."""
    (tmp_path / "test.tar").write_bytes(manifest_member("\x1b[2J") + member(NAME, RIGHT) + END)
    with pytest.raises(ImportFailed) as caught:
        import_archive(tmp_path / "test.tar", cargo({NAME: RIGHT}).lock, store)
    assert "made for profile '\\x1b[2J'" in str(caught.value)


members = st.builds(
    member,
    st.sampled_from([NAME, "ear", "../outside/model.bin", "relance-models.json", "x"]),
    st.sampled_from([b"", RIGHT, WRONG, RIGHT[:-1], member(NAME, WRONG)]),
    kind=st.sampled_from(TYPES),
    link=st.sampled_from(["", "../outside", "/etc/passwd", NAME]),
    size=st.sampled_from([None, None, None, 0, 512, 1500, 1 << 40, -512]),
)


@settings(deadline=None, max_examples=400)
@given(packed=st.lists(members | st.binary(max_size=600), max_size=5), sized=st.booleans(), ended=st.booleans())
def test_no_archive_whatever_leaves_other_bytes_than_are_pinned(
    packed: list[bytes], sized: bool, ended: bool, cargo: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Members of any kind, name, link and size, and bytes that are none: the model is right or is not there."""
    place = tmp_path_factory.mktemp("hostile")
    (place / "test.tar").write_bytes(manifest_member("test") + b"".join(packed) + (END if ended else b""))
    store = Store(place / "models")
    said = ""
    try:
        import_archive(place / "test.tar", cargo({NAME: RIGHT}, sized=sized).lock, store)
    except ImportFailed as failure:
        said = str(failure)
    assert said or model(store).read_bytes() == RIGHT
    assert "\n" not in said
    assert {path.name for path in place.iterdir()} <= {"test.tar", "models"}
    files = {str(path.relative_to(store.root)) for path in store.root.rglob("*") if not path.is_dir()}
    assert files in (set(), {".lock"}, {".lock", NAME, f".verified/{NAME}.json"})
    assert NAME not in files or model(store).read_bytes() == RIGHT
