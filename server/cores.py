"""How many processor cores this process may keep busy: its affinity, and its control group's limit."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Final

CGROUPS: Final = Path("/sys/fs/cgroup")
MEMBERSHIP: Final = Path("/proc/self/cgroup")


def usable() -> int:
    """Return how many cores' worth of threads can run at once: one at least, a limit of 1.5 cores as one."""
    allowed = len(os.sched_getaffinity(0))
    limit = quota()
    return allowed if limit is None else max(1, min(allowed, math.floor(limit)))


def quota(cgroups: Path = CGROUPS, membership: Path = MEMBERSHIP) -> float | None:
    """Return the cores' worth of time that the control group and those above it grant; ``None`` without a limit.

    Version 2 of control groups only (``cpu.max``); version 1 is taken as no limit.
    """
    own = next((line[3:] for line in _text(membership).splitlines() if line.startswith("0::")), "/")
    place = cgroups / own.lstrip("/")
    limits = [limit for each in (place, *place.parents) if each.is_relative_to(cgroups) and (limit := _granted(each))]
    return min(limits, default=None)


def _granted(cgroup: Path) -> float | None:
    granted, _, period = _text(cgroup / "cpu.max").partition(" ")
    return int(granted) / int(period) if granted.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
