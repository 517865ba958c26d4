"""Processes as Linux shows them under ``/proc``."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

GONE_WITHIN_S = 20.0


def descendants(pid: int) -> list[int]:
    """Return the process ids of all children of ``pid``, and of theirs."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for task in tasks for child in task.read_text().split()]
    return children + [each for child in children for each in descendants(child)]


def running(pid: int, module: str) -> int:
    """Return the process below ``pid`` that runs ``python -m module``."""
    (found,) = [each for each in descendants(pid) if module.encode() in arguments(each)]
    return found


def kill(pid: int) -> None:
    """End a process as a native fault would; returns when it is gone."""
    with watching([pid]) as leaving:
        os.kill(pid, signal.SIGKILL)
        assert leaving() == []


@contextmanager
def watching(pids: Iterable[int]) -> Iterator[object]:
    """Watch processes; what is given waits until all have ended and returns those that have not."""
    with ExitStack() as stack:
        handles = {os.pidfd_open(pid): pid for pid in pids}
        for handle in handles:
            stack.callback(os.close, handle)

        def left() -> list[int]:
            return [pid for handle, pid in handles.items() if not select.select([handle], [], [], GONE_WITHIN_S)[0]]

        yield left


def memory_bytes(pid: int) -> int:
    """Return the resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def processor_s(pid: int) -> float:
    """Return the processor time that a process has used, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def open_files(pid: int) -> int:
    """Return how many file descriptors a process has."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def arguments(pid: int) -> list[bytes]:
    """Return the command line of a process."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
