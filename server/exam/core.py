"""What every exam core is: a machine that is told facts and the time, and answers with effects."""

from __future__ import annotations

from typing import Protocol

from server.exam.effects import Effect
from server.exam.facts import Fact


class Exam(Protocol):
    """One session's rules. Never sleeps, never reads a clock: ``now`` is monotonic seconds, given by the caller."""

    def handle(self, fact: Fact, now: float) -> list[Effect]:
        """Take a fact; return what to do, in order."""
        ...

    def next_deadline(self) -> float | None:
        """The moment at which :meth:`tick` should be called even if nothing happens; ``None`` when never."""
        ...

    def tick(self, now: float) -> list[Effect]:
        """Do what is due at ``now``; calling it early or twice does nothing."""
        ...
