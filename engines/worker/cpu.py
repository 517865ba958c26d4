"""What this machine's processor can do."""

from __future__ import annotations

from pathlib import Path


def cpu_flags() -> frozenset[str]:
    """Return the instructions that this CPU has, as Linux names them; none where it does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return frozenset()
    return frozenset(next((line for line in lines if line.startswith("flags")), "").split())
