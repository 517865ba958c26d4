"""What happens during a fetch, told as it happens to whoever shows it."""

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
    """A source of a file is being tried."""

    artifact: Artifact
    file: ModelFile
    source: Source


@dataclass(frozen=True, slots=True)
class FileGrew:
    """``received_bytes`` of the file are on the disk."""

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
    """The file is in the store, verified."""

    artifact: Artifact
    file: ModelFile
    source: Source


Event = WaitingForOther | FileStarted | FileGrew | SourcePassedOver | FileReady
Report = Callable[[Event], None]
