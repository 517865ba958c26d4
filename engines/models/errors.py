"""What can go wrong with models, one line each: what was wanted, what was found, what to do.

One base to catch, :class:`ModelError`. The command line prints its text after ``error:`` and exits with 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path


class ModelError(Exception):
    """Base of every failure of the lock file, the store and the sources. ``str(error)`` is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class LockInvalid(ModelError):
    """The lock file cannot be used; ``place`` says where in it, as in ``artifacts.kokoro.files[0].sha256``."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"models.lock: {place}: {reason}")
        self.place = place


class UnknownProfile(ModelError):
    """No profile of that name is in the lock."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"no profile {name!r} in models.lock; it has {', '.join(known)}")


class ModelMissing(ModelError):
    """A file of the profile is not in the store; ``command`` brings it."""

    def __init__(self, path: Path, command: str) -> None:
        super().__init__(f"model file {path} is not there; run: {command}")
        self.path = path
        self.command = command


class HashMismatch(ModelError):
    """A file's bytes are not those that the lock pins."""

    def __init__(self, file: str, *, expected: str, found: str, source: str) -> None:
        super().__init__(f"wrong hash of {file}: expected sha256 {expected}, found {found}, source {source}")
        self.expected = expected
        self.found = found
        self.source = source


class SourceFailed(ModelError):
    """One source did not give its file; another one may."""

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(f"{source}: {reason}")
        self.source = source
        self.reason = reason


class NoSourceLeft(ModelError):
    """Every source of a file failed; ``failures`` has them in the order of the lock."""

    def __init__(self, file: str, failures: Sequence[ModelError]) -> None:
        super().__init__(f"cannot fetch {file}: {'; '.join(str(failure) for failure in failures)}")
        self.failures = tuple(failures)


class DiskTooSmall(ModelError):
    """The file system of the store, or of an archive, has less room than the work takes at its peak."""

    def __init__(self, root: Path, *, needed_bytes: int, free_bytes: int) -> None:
        super().__init__(
            f"not enough disk space in {root}: {needed_bytes / 1e6:.0f} MB needed, {free_bytes / 1e6:.0f} MB free"
        )
        self.needed_bytes = needed_bytes
        self.free_bytes = free_bytes


class StoreNotWritable(ModelError):
    """Nothing can be written to the store; ``reason`` is the system's."""

    def __init__(self, root: Path, reason: str) -> None:
        super().__init__(f"model store {root} is not writable: {reason}")


class ModelUnreadable(ModelError):
    """A file of the store cannot be read; ``reason`` is the system's."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"model file {path} cannot be read: {reason}")


class ArchiveNotWritable(ModelError):
    """An archive of models cannot be written; ``reason`` is the system's."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"archive {path} cannot be written: {reason}")


class ArchiveUnusable(ModelError):
    """An archive of models cannot be read, is none, is damaged or cut short, or has not all that it should."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"archive {path}: {reason}")


class SizeMismatch(ModelError):
    """A file has another size than the lock pins, so that its hash need not be asked for."""

    def __init__(self, file: str, *, expected_bytes: int, found_bytes: int, source: str) -> None:
        super().__init__(f"wrong size of {file}: expected {expected_bytes} bytes, found {found_bytes}, source {source}")


class ImportFailed(ModelError):
    """Not all of an archive is in the store; ``failures`` has a reason for each part, in the archive's order."""

    def __init__(self, failures: Sequence[ModelError]) -> None:
        super().__init__("; ".join(str(failure) for failure in failures))
        self.failures = tuple(failures)
