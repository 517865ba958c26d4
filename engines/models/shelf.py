"""The packages of one artifact while its files are taken out of them.

Each package is downloaded once, a few ahead of its use, and deleted after its last use: a model of 1.1 GB in 22
packages then needs the disk of four packages beside its own.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from types import TracebackType

from engines.models.sources import Build, Package, Packed, Source

Download = Callable[[Package, Path], Path]
"""Brings a package's archive to a new directory and returns its path; raises SourceFailed."""

LOOK_AHEAD = 4
"""Packages of one artifact on the disk at once: the one in use and those on their way."""


class Shelf:
    """Downloads into ``directory``, on ``pool``, what ``sources`` need. The ``with`` block leaves nothing there."""

    def __init__(self, directory: Path, pool: Executor, download: Download, sources: Iterable[Source]) -> None:
        self._directory = directory
        self._download = download
        self._pool = pool
        self._uses_left = Counter(package for source in sources for package in packages_of(source))
        self._coming: dict[Package, Future[Path]] = {}

    def __enter__(self) -> Shelf:
        shutil.rmtree(self._directory, ignore_errors=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for future in self._coming.values():
            if not future.cancel():
                future.exception()
        shutil.rmtree(self._directory, ignore_errors=True)

    def take(self, wanted: Sequence[Package]) -> Iterator[Path]:
        """Yield the archive of each package in order; each is there until the next is asked for, at least.

        Raises SourceFailed of the first package that cannot be had.
        """
        for index, package in enumerate(wanted):
            for ahead in wanted[index : index + LOOK_AHEAD]:
                self._start(ahead)
            yield self._coming[package].result()
            self._uses_left[package] -= 1
            if self._uses_left[package] <= 0:
                del self._coming[package]
                shutil.rmtree(self._place(package))

    def _start(self, package: Package) -> None:
        if package not in self._coming:
            self._coming[package] = self._pool.submit(self._download, package, self._place(package))

    def _place(self, package: Package) -> Path:
        return self._directory / f"{package.name.replace('/', '-')}-{package.version}"


def packages_of(source: Source) -> Sequence[Package]:
    """The packages that a source reads, in order; none for a file of the web."""
    match source:
        case Packed():
            return [part.package for part in source.parts]
        case Build():
            return [source.inputs.package]
        case _:
            return []
