"""What happens during a fetch, an export or an import, told as it happens to whoever shows it.

Where no source of the lock is read, ``source`` is the path: of the store for an export, of the archive for an import.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engines.models.errors import ModelError
from engines.models.lock import Artifact, ModelFile
from engines.models.sources import Source


@dataclass(frozen=True, slots=True)
class WaitingForOther:
    """Another fetch holds the store; this one goes on when that has ended."""

    root: Path


@dataclass(frozen=True, slots=True)
class FileStarted:
    """A source of a file is being tried, or read."""

    artifact: Artifact
    file: ModelFile
    source: Source | Path


@dataclass(frozen=True, slots=True)
class FileGrew:
    """``received_bytes`` of the file are on the disk, or were handed to it."""

    artifact: Artifact
    file: ModelFile
    received_bytes: int


@dataclass(frozen=True, slots=True)
class SourcePassedOver:
    """A source failed, or gave other bytes than the lock pins."""

    artifact: Artifact
    file: ModelFile
    reason: ModelError


@dataclass(frozen=True, slots=True)
class FileReady:
    """The file is where it should be, in the store or the archive, verified."""

    artifact: Artifact
    file: ModelFile
    source: Source | Path


@dataclass(frozen=True, slots=True)
class MemberLeft:
    """A member of an archive was not taken. ``name`` is the archive's own word, and may hold any characters."""

    name: str
    reason: str


Event = WaitingForOther | FileStarted | FileGrew | SourcePassedOver | FileReady | MemberLeft
Report = Callable[[Event], None]
