"""The archive of models for a machine without a network.

A plain tar, not compressed, since models do not compress:

``relance-models.json``  the manifest, always first: version of this format, and the profile
``ARTIFACT/PATH``        a file of the profile, named as in the store, in the order of the lock

The same files make the same bytes: order, times (the epoch), owner and mode are fixed.

An archive is read header by header, not by ``tarfile.TarFile``: that reads extended headers into memory, whatever
size they declare, and takes an archive that was cut between two members for a whole one. An extended header (pax, GNU
long names) is here a member of an unknown name, and nothing that it says of the next one counts.
"""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from engines.models.errors import ArchiveUnusable
from engines.models.lock import Artifact, ModelFile

MANIFEST = "relance-models.json"
FORMAT = 1
BLOCK_BYTES = tarfile.BLOCKSIZE
CHUNK_BYTES = 1 << 20
END = bytes(2 * BLOCK_BYTES)

_MANIFEST_LIMIT_BYTES = 4096
_NOT_OURS = "not an archive made by relance models export"
_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)
_WITHOUT_DATA = (
    tarfile.LNKTYPE,
    tarfile.SYMTYPE,
    tarfile.CHRTYPE,
    tarfile.BLKTYPE,
    tarfile.DIRTYPE,
    tarfile.FIFOTYPE,
)


class Manifest(msgspec.Struct, frozen=True):
    """What an archive says of itself."""

    format: int
    profile: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One member, whole in the archive. ``plain``: a file with data of its own, and nothing else."""

    name: str
    size_bytes: int
    starts_at: int
    plain: bool


def name_of(artifact: Artifact, file: ModelFile) -> str:
    """The file's name in an archive."""
    return f"{artifact.name}/{file.path}"


def header(name: str, size_bytes: int) -> bytes:
    """The header of a plain file: one block, for a name of up to 100 bytes and any size."""
    member = tarfile.TarInfo(name)  # its defaults are the fixed ones: root, 0644, the epoch
    member.size = size_bytes
    return member.tobuf(tarfile.GNU_FORMAT)


def padding(size_bytes: int) -> bytes:
    """What fills the last block after so many bytes of data."""
    return bytes(-size_bytes % BLOCK_BYTES)


def manifest_member(profile: str) -> bytes:
    """The first member, with its header."""
    data = msgspec.json.encode(Manifest(FORMAT, profile))
    return header(MANIFEST, len(data)) + data + padding(len(data))


def size_bytes(profile: str, sizes: Iterable[int]) -> int:
    """How large the archive of a profile is, from the sizes of its files."""
    members = sum(BLOCK_BYTES + size + len(padding(size)) for size in sizes)
    return len(manifest_member(profile)) + members + len(END)


class Tarball:
    """An archive being read; everything it raises is ArchiveUnusable. Close it, or use it in a ``with`` block."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if not stat.S_ISREG(path.stat().st_mode):  # a FIFO would block, and cannot be read twice
                raise ArchiveUnusable(path, "not a regular file")
            self._stream: IO[bytes] = path.open("rb")
        except OSError as error:
            raise ArchiveUnusable(path, error.strerror or str(error)) from error
        self._size = os.fstat(self._stream.fileno()).st_size

    def __enter__(self) -> Tarball:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stream.close()

    def entries(self) -> Iterator[Entry]:
        """Yield each member that is whole. Raises where the archive is damaged or cut short."""
        at = 0
        while (member := self._header(at)) is not None:
            at += BLOCK_BYTES
            size = 0 if member.type in _WITHOUT_DATA else member.size
            if size > self._size - at:
                raise ArchiveUnusable(
                    self.path, f"cut short: {member.name!r} should have {size} bytes, {self._size - at} are left"
                )
            yield Entry(member.name, size, at, member.type in _PLAIN)
            at += size + len(padding(size))

    def manifest(self, entries: Iterator[Entry]) -> Manifest:
        """Take the first of the entries, which must be the manifest of a format that is known here."""
        first = next(entries, None)
        if first is None or first.name != MANIFEST or first.size_bytes > _MANIFEST_LIMIT_BYTES:
            raise ArchiveUnusable(self.path, _NOT_OURS)
        try:
            manifest = msgspec.json.decode(self._read(first.starts_at, first.size_bytes), type=Manifest)
        except msgspec.MsgspecError as error:
            raise ArchiveUnusable(self.path, f"its manifest cannot be read: {error}") from error
        if manifest.format != FORMAT:
            raise ArchiveUnusable(self.path, f"expected format {FORMAT}, found {manifest.format}, of another relance")
        return manifest

    def copy(self, entry: Entry, into: Path, received: Callable[[int], None]) -> None:
        """Write the entry's data to ``into``; ``received`` is told the size so far. OSError is of the writing alone."""
        with into.open("wb") as out:
            for done in range(0, entry.size_bytes, CHUNK_BYTES):
                out.write(self._read(entry.starts_at + done, min(CHUNK_BYTES, entry.size_bytes - done)))
                received(out.tell())

    def _header(self, at: int) -> tarfile.TarInfo | None:
        """The member whose header is there, or None where the archive ends as it should."""
        block = self._read(at, BLOCK_BYTES)
        if at and len(block) < BLOCK_BYTES:
            raise ArchiveUnusable(self.path, f"cut short after {self._size} bytes")
        if at and not block.strip(b"\0"):
            return None
        try:
            member = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError as error:
            raise ArchiveUnusable(self.path, f"damaged at byte {at} ({error})" if at else _NOT_OURS) from error
        if member.size < 0:
            raise ArchiveUnusable(self.path, f"damaged at byte {at} (a size below zero)")
        return member

    def _read(self, at: int, size_bytes: int) -> bytes:
        try:
            self._stream.seek(at)
            return self._stream.read(size_bytes)
        except OSError as error:
            raise ArchiveUnusable(self.path, f"cannot be read at byte {at}: {error.strerror}") from error
