"""How much disk a fetch takes at its peak, and whether there is as much."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from engines.models.errors import DiskTooSmall
from engines.models.lock import Artifact, ModelFile
from engines.models.shelf import LOOK_AHEAD, packages_of

FreeBytes = Callable[[Path], int]

_MARGIN_BYTES = 64 << 20
"""For what packages hold beside their model file, and for the file systems' own needs."""


def free_bytes(root: Path) -> int:
    """Bytes that this process may still write to the file system of ``root``."""
    return shutil.disk_usage(root).free


def peak_bytes(missing: Mapping[Artifact, Sequence[ModelFile]]) -> int:
    """The files themselves, and the packages that are on the disk together while artifacts are fetched at once.

    A package is taken to be as large as the part of the file that it holds: models do not compress well.
    """
    files = sum(file.size_bytes or 0 for files in missing.values() for file in files)
    packages = sum(max(map(_packages_bytes, files), default=0) for files in missing.values())
    return files + packages + _MARGIN_BYTES


def check(root: Path, missing: Mapping[Artifact, Sequence[ModelFile]], kept_bytes: int, free: FreeBytes) -> None:
    """Raise DiskTooSmall when the fetch would fill the disk; ``kept_bytes`` of it are there from an earlier run."""
    if missing:
        require(root, peak_bytes(missing) - kept_bytes, free)


def require(root: Path, needed_bytes: int, free: FreeBytes) -> None:
    """Raise DiskTooSmall when so many bytes have no room on the file system of ``root``."""
    have = free(root)
    if have < needed_bytes:
        raise DiskTooSmall(root, needed_bytes=needed_bytes, free_bytes=have)


def _packages_bytes(file: ModelFile) -> int:
    counts: Iterable[int] = (len(packages_of(source)) for source in file.sources)
    return max(((file.size_bytes or 0) * min(count, LOOK_AHEAD) // count for count in counts if count), default=0)
