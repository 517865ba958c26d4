"""CPU time and memory of processes, from ``/proc``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Use:
    """What a process has used so far: processor time in seconds, resident memory in MB."""

    cpu_s: float
    rss_mb: float


def children(pid: int | None = None) -> list[int]:
    """Return the children of ``pid``, or of this process; none when it is gone."""
    tasks = (_PROC / str(pid or "self") / "task").glob("*/children")
    return [int(child) for task in tasks for child in _read(task).split()]


def command_line(pid: int) -> list[str]:
    """Return the arguments of a process; none when it is gone."""
    return _read(_PROC / str(pid) / "cmdline").split("\0")


def use(pid: int) -> Use | None:
    """Return what ``pid`` has used; ``None`` when it is gone.

    Processor time is fields 14 and 15 of ``stat`` (proc(5)), all threads; the name before them may hold anything.
    """
    fields = _read(_PROC / str(pid) / "stat").rpartition(")")[2].split()
    if len(fields) < 22:
        return None
    pages = int(fields[21])
    ticks = int(fields[11]) + int(fields[12])
    return Use(ticks / _TICKS, pages * os.sysconf("SC_PAGE_SIZE") / (1024 * 1024))


@contextmanager
def first_in_line() -> Iterator[None]:
    """Let this process go before others while inside, where the system permits it.

    A candidate sits at a machine of its own; here the engines' threads would make it late.
    """
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, usual - 10)
    try:
        yield
    finally:
        with suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, usual)


def named(server: int) -> dict[str, int]:
    """Return the processes of a server: itself, and its children by what they are."""
    return {"server": server} | dict(_children_named(server))


def _children_named(server: int) -> Iterator[tuple[str, int]]:
    names = {"engines.worker": "speech worker", "engines.llamacpp": "llama.cpp"}
    for pid in children(server):
        for module, name in names.items():
            if module in command_line(pid):
                yield name, pid


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ProcessLookupError):
        return ""
