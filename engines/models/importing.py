"""Taking models out of an archive into the store.

Nothing that the archive says is believed. A member is taken when the lock of this program knows its name, it is a plain
file, and it has the pinned size; its bytes get their final name when they have the pinned hash. A name is only ever
looked up, never made into a path: an absolute one, or one with ``..``, is a name that the lock does not know.

Other members are left and told of, and the rest is taken all the same: they can do no harm, and an archive of an older
or a newer lock, or one that was packed anew with its directories, stays of use. A wrong file is an error, and so is an
archive that is cut short or does not complete its own profile; what was whole and right stays in the store.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engines.models import space
from engines.models.errors import (
    ArchiveUnusable,
    DiskTooSmall,
    HashMismatch,
    ImportFailed,
    ModelError,
    SizeMismatch,
    StoreNotWritable,
)
from engines.models.events import FileGrew, FileReady, FileStarted, MemberLeft, Report, WaitingForOther
from engines.models.fetch import is_there, missing_files
from engines.models.lock import Artifact, Lock, ModelFile, Profile
from engines.models.store import Store
from engines.models.tarball import Entry, Tarball, name_of

Pinned = tuple[Artifact, ModelFile]


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import. ``taken`` are the files that were not in the store before."""

    profile: Profile
    taken: Sequence[Pinned]


def import_archive(
    path: Path,
    lock: Lock,
    store: Store,
    report: Report = lambda event: None,
    *,
    free_bytes: space.FreeBytes = space.free_bytes,
) -> Imported:
    """Take what the lock pins out of the archive at ``path``; what is in the store and right is left alone.

    Raises ArchiveUnusable when it is no archive, or its medium fails; ImportFailed, after the rest was taken, with all
    that was wrong; DiskTooSmall (before anything is written, when it can be known), StoreNotWritable.
    """
    with Tarball(path) as archive:
        entries = archive.entries()
        name = archive.manifest(entries).profile
        run = _Import(archive, lock, store, report)
        run.look(entries)
        run.take_all(free_bytes)
    if not run.failures:
        run.failures += _lacking(path, name, lock, store)
    if run.failures:
        raise ImportFailed(run.failures)
    return Imported(lock.profile(name), run.taken)


def _lacking(path: Path, name: str, lock: Lock, store: Store) -> Iterator[ModelError]:
    """What keeps the archive's own profile from being complete in the store."""
    if name not in lock.profiles:
        yield ArchiveUnusable(path, f"made for profile {name!r}, which this relance does not have")
    elif missing := missing_files(lock.profile(name), store):
        names = ", ".join(name_of(artifact, file) for artifact, files in missing.items() for file in files)
        command = store.fetch_command(lock.profile(name))
        yield ArchiveUnusable(path, f"does not complete {name}: no right {names}; export it again, or run: {command}")


@dataclass
class _Import:
    """One run: what is wanted of the archive, what was taken, what was wrong."""

    archive: Tarball
    lock: Lock
    store: Store
    report: Report
    wanted: list[tuple[Entry, Pinned]] = field(default_factory=list)
    taken: list[Pinned] = field(default_factory=list)
    failures: list[ModelError] = field(default_factory=list)

    def look(self, entries: Iterable[Entry]) -> None:
        """Find what to take, as far as the archive goes."""
        known = _known(self.lock)
        try:
            for entry in entries:
                if entry.name not in known:
                    self.report(MemberLeft(entry.name, "not a model file of this relance"))
                elif not entry.plain:
                    self.report(MemberLeft(entry.name, "not a plain file"))
                elif self._has_right_size(entry, known[entry.name][1]):
                    self.wanted.append((entry, known[entry.name]))
        except ArchiveUnusable as failure:
            self.failures.append(failure)

    def take_all(self, free_bytes: space.FreeBytes) -> None:
        """Bring to the store what it lacks. Raises DiskTooSmall, StoreNotWritable."""
        if not self._lacked():
            return
        self.store.open_for_writing()
        with self.store.only_one(lambda: self.report(WaitingForOther(self.store.root))):
            needed = sum(size - self.store.partial_bytes(file) for (_, file), size in self._lacked().items())
            space.require(self.store.root, needed, free_bytes)
            try:
                for entry, (artifact, file) in self.wanted:
                    if not is_there(self.store, artifact, file):
                        self._take(entry, artifact, file)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise StoreNotWritable(self.store.root, error.strerror or str(error)) from error
                free = free_bytes(self.store.root)
                raise DiskTooSmall(self.store.root, needed_bytes=needed, free_bytes=free) from error

    def _has_right_size(self, entry: Entry, file: ModelFile) -> bool:
        expected, found = file.size_bytes, entry.size_bytes
        if expected is None or expected == found:
            return True
        wrong = SizeMismatch(entry.name, expected_bytes=expected, found_bytes=found, source=str(self.archive.path))
        self.failures.append(wrong)
        return False

    def _lacked(self) -> dict[Pinned, int]:
        """What the store has not of what is wanted, with the sizes."""
        return {pinned: entry.size_bytes for entry, pinned in self.wanted if not is_there(self.store, *pinned)}

    def _take(self, entry: Entry, artifact: Artifact, file: ModelFile) -> None:
        self.report(FileStarted(artifact, file, self.archive.path))
        try:
            self.archive.copy(entry, self.store.partial(file), self._received(artifact, file))
            self.store.admit(artifact, file, str(self.archive.path))
        except HashMismatch as failure:
            self.failures.append(failure)
        else:
            self.taken.append((artifact, file))
            self.report(FileReady(artifact, file, self.archive.path))
        finally:
            self.store.drop_partial(file)

    def _received(self, artifact: Artifact, file: ModelFile) -> Callable[[int], None]:
        return lambda size_bytes: self.report(FileGrew(artifact, file, size_bytes))


def _known(lock: Lock) -> Mapping[str, Pinned]:
    return {
        name_of(artifact, file): (artifact, file) for artifact in lock.artifacts.values() for file in artifact.files
    }
