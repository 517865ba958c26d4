"""Exit codes by which a child process tells its parent why it did not start, as in BSD's ``sysexits.h``."""

from __future__ import annotations

from typing import Final

PORT_TAKEN: Final = 75
"""The port is another's now: another port may serve (``EX_TEMPFAIL``)."""

UNUSABLE: Final = 78
"""The configuration or a model file cannot be used: another try would end the same way (``EX_CONFIG``)."""


class CannotStart(Exception):
    """Why a child gives up at its start, in one line; ``code`` is the exit code that tells the parent."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Unusable(CannotStart):
    """The configuration or a model file cannot be used."""

    def __init__(self, message: str) -> None:
        super().__init__(UNUSABLE, message)
