"""What a run of the bench leaves: machine, versions, settings, every sample. One JSON file.

The version is that of this form. A file of a newer form is refused, since what it means is not known here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

VERSION = 1

Source = Literal["outside", "/metrics", "stored", "engine", "stock", "processes"]
"""Who measured: the client at its socket, the server about itself, the bench on an engine, the operating system."""


class BenchError(Exception):
    """The bench cannot run, or a file of it cannot be read; the message is one line for the user."""


class Target(msgspec.Struct, frozen=True):
    """What is asked for: the quantile ``share`` of the samples is ``at_most`` or ``at_least`` the limit."""

    share: float
    limit: float
    bound: Literal["at_most", "at_least"] = "at_most"


class Figure(msgspec.Struct, frozen=True):
    """One figure with every sample. ``group`` tells runs of one record apart ("4 sessions").

    ``summarised`` is for figures of which the server keeps no samples: ``n``, ``p50``, ``p95``, ``max``.
    """

    name: str
    unit: str
    source: Source
    samples: tuple[float, ...] = ()
    targets: tuple[Target, ...] = ()
    group: str = ""
    summarised: dict[str, float] | None = None


class Stage(msgspec.Struct, frozen=True):
    """A stage of one turn as the server counts it: how often, and for how long in all."""

    count: int
    total_ms: float


class Turn(msgspec.Struct, frozen=True):
    """One turn. ``marks_ms`` are moments at the client's socket, in ms from the end of speech (T1: the drawn time).

    ``stages`` is what the server's histograms grew by meanwhile. ``faults`` say why the turn does not count.
    """

    session: int
    number: int
    marks_ms: dict[str, float]
    lateness_ms: float
    stages: dict[str, Stage] = {}
    faults: tuple[str, ...] = ()


class Machine(msgspec.Struct, frozen=True):
    """Where it was measured. ``cores`` are those that the process may use, ``quota`` the control group's limit."""

    cpu: str
    flags: tuple[str, ...]
    cores: int
    quota: float | None
    memory_mb: int
    memory_limit_mb: int | None
    load: float
    system: str
    python: str
    packages: dict[str, str]


class Record(msgspec.Struct, frozen=True):
    """One run. ``kind`` is ``turns``, ``engines`` or ``load``; ``notes`` are for people."""

    version: int
    kind: Literal["turns", "engines", "load"]
    title: str
    made_at: str
    relance: str
    machine: Machine
    settings: dict[str, str | int | float | bool | None]
    figures: tuple[Figure, ...]
    turns: tuple[Turn, ...] = ()
    notes: tuple[str, ...] = ()


class _Form(msgspec.Struct):
    version: int


def write(record: Record, path: Path) -> None:
    """Write ``record`` to ``path``. Raises :class:`BenchError`."""
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
    except OSError as fault:
        raise BenchError(f"cannot write {path}: {fault.strerror}") from fault


def read(path: Path) -> Record:
    """Return the record in ``path``. Raises :class:`BenchError`."""
    try:
        content = path.read_bytes()
    except OSError as fault:
        raise BenchError(f"cannot read {path}: {fault.strerror}") from fault
    try:
        version = msgspec.json.decode(content, type=_Form).version
        if version > VERSION:
            raise BenchError(f"{path} is of version {version}, this program reads up to {VERSION}: use a newer one")
        return msgspec.json.decode(content, type=Record)
    except msgspec.ValidationError as fault:
        raise BenchError(f"{path} is no record of the bench: {fault}") from fault
    except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
        raise BenchError(f"{path} is not JSON") from fault
