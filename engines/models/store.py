"""The model store: a directory of verified files, one directory an artifact.

A file gets its final name only after its hash was checked: it is written under ``.partial/``, hashed, made durable,
then renamed. What was checked leaves a stamp under ``.verified/`` (hash, size, times of last change). A file that still
has its stamp's size and times is not hashed again; any other is, before its path is handed out.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from engines.models.errors import HashMismatch, ModelMissing, StoreNotWritable
from engines.models.lock import Artifact, ModelFile, Profile, Role

RELANCE_MODELS_DIR = "RELANCE_MODELS_DIR"


def default_root() -> Path:
    """``RELANCE_MODELS_DIR``, or ``~/.cache/relance/models``."""
    return Path(os.environ.get(RELANCE_MODELS_DIR) or "~/.cache/relance/models").expanduser()


class Stamp(msgspec.Struct, frozen=True):
    """A file as it was when its hash was found to be ``sha256``. Times in nanoseconds since the epoch.

    The change time counts with the modification time, since a program can set the latter at will.
    """

    sha256: str
    size_bytes: int
    modified_ns: int
    changed_ns: int


class Store:
    """The files under ``root``. Making one touches nothing on the disk."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root or default_root()).absolute()

    def path(self, profile: Profile, role: Role) -> Path:
        """Return what the engine of that role loads, every byte of it checked.

        An artifact of one file is that file; one of several files is their directory.
        Raises ModelMissing, or HashMismatch when a file is not what the lock pins.
        """
        artifact = profile.artifacts[role]
        for file in artifact.files:
            if not self.has(artifact, file):
                raise ModelMissing(self.place(artifact, file), self.fetch_command(profile))
        return self.place(artifact, artifact.files[0]) if len(artifact.files) == 1 else self.root / artifact.name

    def place(self, artifact: Artifact, file: ModelFile) -> Path:
        """The final name of a file, whether it is there or not."""
        return self.root / artifact.name / file.path

    def has(self, artifact: Artifact, file: ModelFile) -> bool:
        """Whether the file is there and right, by its stamp or else by its hash. Raises HashMismatch."""
        try:
            seen = _stamp(self.place(artifact, file), file.sha256)
        except (FileNotFoundError, NotADirectoryError):
            return False
        if seen != self._read_stamp(artifact, file):
            self.rehash(artifact, file)
        return True

    def rehash(self, artifact: Artifact, file: ModelFile) -> None:
        """Read the whole file and check its hash. Raises HashMismatch, or FileNotFoundError."""
        path = self.place(artifact, file)
        seen = _stamp(path, file.sha256)
        _check(path, file, named=path, source="the store (fetch again to replace it)")
        with contextlib.suppress(OSError):  # a store that is read-only is hashed at each start: slow, but as safe
            self._write_stamp(artifact, file, seen)

    def partial(self, file: ModelFile) -> Path:
        """Where the file is written while it is not whole: named by hash, so that a later run can resume it."""
        return self.root / ".partial" / file.sha256

    def partial_bytes(self, file: ModelFile) -> int:
        """How much of the file an earlier run has left to be resumed."""
        try:
            return self.partial(file).stat().st_size
        except FileNotFoundError:
            return 0

    def drop_partial(self, file: ModelFile) -> None:
        """Delete what is left of the file's partial form and of the notes beside it."""
        for left in (self.root / ".partial").glob(f"{file.sha256}*"):
            left.unlink()

    def admit(self, artifact: Artifact, file: ModelFile, source: str) -> None:
        """Give the partial file its final name once its hash is right.

        Raises HashMismatch that names ``source``; the partial file is then deleted.
        """
        partial, path = self.partial(file), self.place(artifact, file)
        try:
            _check(partial, file, named=path, source=source)
        except HashMismatch:
            self.drop_partial(file)
            raise
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_durable(partial)
        partial.replace(path)
        _make_durable(path.parent)
        self.drop_partial(file)
        self._write_stamp(artifact, file, _stamp(path, file.sha256))

    def open_for_writing(self) -> None:
        """Make the store's directories. Raises StoreNotWritable."""
        try:
            (self.root / ".partial").mkdir(parents=True, exist_ok=True)
            (self.root / ".lock").touch()
        except OSError as error:
            raise StoreNotWritable(self.root, error.strerror or str(error)) from error

    @contextlib.contextmanager
    def only_one(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Hold the store against a second fetch, also of another process; call ``waiting`` when one is at work.

        The lock goes with the process that holds it, however that ends.
        """
        with (self.root / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EAGAIN):
                    raise
                waiting()
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def fetch_command(self, profile: Profile) -> str:
        """The command that brings what is missing to this store."""
        where = "" if self.root == default_root().absolute() else f" --dir {self.root}"
        return f"relance models fetch {profile.name}{where}"

    def _stamp_path(self, artifact: Artifact, file: ModelFile) -> Path:
        return self.root / ".verified" / artifact.name / f"{file.path}.json"

    def _read_stamp(self, artifact: Artifact, file: ModelFile) -> Stamp | None:
        try:
            return msgspec.json.decode(self._stamp_path(artifact, file).read_bytes(), type=Stamp)
        except (OSError, msgspec.DecodeError):
            return None

    def _write_stamp(self, artifact: Artifact, file: ModelFile, stamp: Stamp) -> None:
        path = self._stamp_path(artifact, file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.encode(stamp))


def _stamp(path: Path, sha256: str) -> Stamp:
    stat = path.stat()
    return Stamp(sha256, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


def _check(path: Path, file: ModelFile, *, named: Path, source: str) -> None:
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != file.sha256:
        raise HashMismatch(str(named), expected=file.sha256, found=found, source=source)


def _make_durable(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
