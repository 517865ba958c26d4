"""Bringing one artifact's files: each from the first of its sources that gives the pinned bytes."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from engines.models import joining, recipes, space
from engines.models.errors import DiskTooSmall, HashMismatch, NoSourceLeft, SourceFailed, StoreNotWritable
from engines.models.events import FileGrew, FileReady, FileStarted, Report, SourcePassedOver
from engines.models.lock import Artifact, ModelFile
from engines.models.shelf import Download, Shelf
from engines.models.sources import Build, Packed, Source, WebFile
from engines.models.store import Store
from engines.models.web import Web


class Interrupted(Exception):
    """The run is to stop; raised at the next chunk of a file."""


@dataclass(frozen=True)
class Bringer:
    """What the artifacts of one run share. ``stop`` ends every transfer at its next chunk."""

    store: Store
    report: Report
    web: Web
    download: Download
    pool: Executor
    stop: threading.Event

    def bring_all(self, artifact: Artifact, files: Sequence[ModelFile]) -> None:
        """Bring these files of the artifact. Raises HashMismatch, NoSourceLeft, DiskTooSmall, StoreNotWritable."""
        sources = [source for file in files for source in file.sources]
        try:
            with Shelf(self.store.root / ".partial" / artifact.name, self.pool, self.download, sources) as shelf:
                for file in files:
                    self._bring(artifact, file, shelf)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise StoreNotWritable(self.store.root, error.strerror or str(error)) from error
            needed, free = space.peak_bytes({artifact: files}), space.free_bytes(self.store.root)
            raise DiskTooSmall(self.store.root, needed_bytes=needed, free_bytes=free) from error

    def _bring(self, artifact: Artifact, file: ModelFile, shelf: Shelf) -> None:
        failures: list[SourceFailed | HashMismatch] = []
        for source in file.sources:
            self.report(FileStarted(artifact, file, source))
            try:
                self._bring_from(source, artifact, file, shelf)
            except (SourceFailed, HashMismatch) as failure:
                if self.stop.is_set():
                    raise Interrupted from failure
                self.report(SourcePassedOver(artifact, file, failure))
                failures.append(failure)
            else:
                self.report(FileReady(artifact, file, source))
                return
        wrong = [failure for failure in failures if isinstance(failure, HashMismatch)]
        raise wrong[0] if wrong else NoSourceLeft(f"{artifact.name}/{file.path}", failures)

    def _bring_from(self, source: Source, artifact: Artifact, file: ModelFile, shelf: Shelf) -> None:
        """Bytes that an earlier run left may be what is wrong: a resumed file is fetched anew once."""
        resumed = self.store.partial(file).exists()
        try:
            self._fill(source, artifact, file, shelf)
            self.store.admit(artifact, file, str(source))
        except HashMismatch:
            if not resumed:
                raise
            self._fill(source, artifact, file, shelf)
            self.store.admit(artifact, file, str(source))

    def _fill(self, source: Source, artifact: Artifact, file: ModelFile, shelf: Shelf) -> None:
        partial, received = self.store.partial(file), self._received(artifact, file)
        match source:
            case WebFile():
                self.web.download(source, partial, received)
            case Packed():
                joining.join(source, partial, shelf, received)
            case Build():
                recipes.build(source, partial, shelf)

    def _received(self, artifact: Artifact, file: ModelFile) -> Callable[[int], None]:
        def received(size_bytes: int) -> None:
            if self.stop.is_set():
                raise Interrupted
            self.report(FileGrew(artifact, file, size_bytes))

        return received
