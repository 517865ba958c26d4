"""A sentence's faults: what the examiner never says, whatever the form."""

from __future__ import annotations

import re
from dataclasses import dataclass

from server.exam.guard.text import fold


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault's name, and how it shows in a folded sentence."""

    name: str
    pattern: re.Pattern[str]


def faults(**patterns: str) -> tuple[Fault, ...]:
    """Make a table of faults, each a name and its pattern."""
    return tuple(Fault(name, re.compile(pattern)) for name, pattern in patterns.items())


def fault_in(sentence: str, table: tuple[Fault, ...]) -> str | None:
    """Return the name of the first fault of ``table`` that shows in ``sentence``; ``None`` when there is none."""
    text = fold(sentence)
    return next((fault.name for fault in table if fault.pattern.search(text)), None)
