"""Writing a profile's files from the store into one archive."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from engines.models import space, tarball
from engines.models.errors import ArchiveNotWritable, DiskTooSmall, HashMismatch, ModelMissing, ModelUnreadable
from engines.models.events import FileGrew, FileReady, FileStarted, Report
from engines.models.lock import Artifact, ModelFile, Profile
from engines.models.store import Store


def export_archive(
    profile: Profile,
    store: Store,
    path: Path,
    report: Report = lambda event: None,
    *,
    free_bytes: space.FreeBytes = space.free_bytes,
) -> None:
    """Write the archive of the profile to ``path``, the same bytes from each store.

    Every file is hashed again as it is written. The archive has a temporary name beside ``path`` until it is whole;
    what was at ``path`` stays until then. Raises ModelMissing, ArchiveNotWritable, DiskTooSmall (before anything is
    written, when it can be known), HashMismatch, ModelUnreadable.
    """
    target = Path(os.path.realpath(path))  # a link to an archive stays one
    sizes = _sizes(profile, store)
    needed = tarball.size_bytes(profile.name, sizes.values())
    try:
        if target.exists() and not target.is_file():
            raise ArchiveNotWritable(path, "something else than a file has that name")
        space.require(target.parent, needed, free_bytes)
        with _whole_or_not_at_all(target) as out:
            out.write(tarball.manifest_member(profile.name))
            for (artifact, file), size in sizes.items():
                report(FileStarted(artifact, file, store.root))
                _put(artifact, file, store.place(artifact, file), size, out, report)
                report(FileReady(artifact, file, store.root))
            out.write(tarball.END)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise ArchiveNotWritable(path, error.strerror or str(error)) from error
        raise DiskTooSmall(target.parent, needed_bytes=needed, free_bytes=free_bytes(target.parent)) from error


def _sizes(profile: Profile, store: Store) -> dict[tuple[Artifact, ModelFile], int]:
    sizes = {}
    for artifact, file in profile.files():
        place = store.place(artifact, file)
        try:
            sizes[artifact, file] = place.stat().st_size
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ModelMissing(place, store.fetch_command(profile)) from error
        except OSError as error:
            raise ModelUnreadable(place, error.strerror or str(error)) from error
    return sizes


def _put(artifact: Artifact, file: ModelFile, place: Path, size: int, out: IO[bytes], report: Report) -> None:
    digest, written = hashlib.sha256(), 0
    out.write(tarball.header(tarball.name_of(artifact, file), size))
    for chunk in _chunks(place):
        out.write(chunk)
        digest.update(chunk)
        written += len(chunk)
        report(FileGrew(artifact, file, written))
    if digest.hexdigest() != file.sha256:
        source = "the store (fetch again to replace it)"
        raise HashMismatch(str(place), expected=file.sha256, found=digest.hexdigest(), source=source)
    if written != size:  # right bytes now, but not those that the header tells of
        raise ModelUnreadable(place, "it changed meanwhile; export again")
    out.write(tarball.padding(size))


def _chunks(place: Path) -> Iterator[bytes]:
    try:
        with place.open("rb") as stream:
            while chunk := stream.read(tarball.CHUNK_BYTES):
                yield chunk
    except OSError as error:
        raise ModelUnreadable(place, error.strerror or str(error)) from error


@contextlib.contextmanager
def _whole_or_not_at_all(target: Path) -> Iterator[IO[bytes]]:
    """Open a new file that gets its name when the block ends well, and is deleted when it does not."""
    partial = target.with_name(f".relance-export-{secrets.token_hex(8)}.partial")
    try:
        with partial.open("xb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
