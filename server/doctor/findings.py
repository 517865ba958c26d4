"""What the doctor has to say of one thing that was looked at."""

from __future__ import annotations

from typing import Literal

import msgspec

Status = Literal["ok", "fault", "not checked"]


class Finding(msgspec.Struct, frozen=True):
    """One line: of what (as the settings call it), and what was measured or is wrong.

    ``mend`` is there with every fault: what to do about it. A thing is not checked when a fault that has its own line
    stands before it.
    """

    name: str
    status: Status
    told: str
    mend: str = ""


def ok(name: str, told: str) -> Finding:
    """Return the finding that all is well."""
    return Finding(name, "ok", told)


def fault(name: str, told: str, mend: str) -> Finding:
    """Return the finding of a fault; ``told`` has no full stop at its end, ``mend`` is whole sentences."""
    return Finding(name, "fault", told, mend)


def not_checked(name: str, why: str) -> Finding:
    """Return the finding that another fault comes first."""
    return Finding(name, "not checked", why)
