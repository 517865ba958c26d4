"""A child that never outlives its parent, not even a parent that is killed with SIGKILL.

The parent keeps the write end of the child's standard input and never writes; when the parent is gone, however it
went, the kernel closes that end and the child reads end of file.
"""

from __future__ import annotations

import os
import threading

NICENESS = 5
"""How far an engine stands back behind its parent, which must be woken for its sockets while engines compute."""


def exit_with_parent() -> None:
    """Exit this process at once, without clean-up, as soon as standard input ends. Returns immediately.

    From then on this process also stands back behind its parent when both want the same core.
    """
    os.nice(NICENESS)
    threading.Thread(target=_watch, name="orphan", daemon=True).start()


def _watch() -> None:
    while os.read(0, 1024):
        pass
    os._exit(0)
