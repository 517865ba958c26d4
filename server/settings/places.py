"""Where things lie on this machine, and how much of it the process may use."""

from __future__ import annotations

import os
from pathlib import Path

from engines.models.store import default_root
from server import cores

SESSIONS_PER_CORE = 4
T2_SESSIONS_PER_CORE = 1
"""So many sessions on a core still hear the examiner in time (docs/benchmarks)."""

MAX_THREADS = 4
"""Threads for one engine by default: the models are small, and beyond four threads they get slower, not faster."""


def data_home() -> Path:
    """Directory for what the server keeps: ``$XDG_DATA_HOME/relance``, else ``~/.local/share/relance``."""
    given = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".local/share") / "relance"


def models_home() -> Path:
    """Directory of the model store, the same for the server and for ``relance models``."""
    return default_root()


def default_threads() -> int:
    """Threads of one engine: the cores that this process may keep busy, four at most."""
    return min(MAX_THREADS, cores.usable())


def default_sessions() -> int:
    """Sessions at once: four for each core that this process may keep busy."""
    return SESSIONS_PER_CORE * cores.usable()


def default_t2_sessions() -> int:
    """Sessions of task 2 at once: one for each core."""
    return T2_SESSIONS_PER_CORE * cores.usable()
