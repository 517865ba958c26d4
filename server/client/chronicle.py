"""The chronicle of an exam: everything that happened, in order, and what came of it; also as JSON, for machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from server.client.events import (
    CandidateSilent,
    CandidateSpeaks,
    Caption,
    Closed,
    EndSent,
    ErrorReceived,
    Event,
    ExaminerAudio,
    Interrupted,
    InterruptionEnd,
    InterruptionStart,
    ReportReceived,
    TurnComplete,
    Unreadable,
    Warned,
)
from server.client.session import TimedEvent


class Chronicle:
    """Everything that happened, in order, and what came of it. ``listeners`` are told every event in turn."""

    def __init__(self, *listeners: Callable[[TimedEvent], None]) -> None:
        self.events: list[TimedEvent] = []
        self.report: dict[str, Any] | None = None
        self.closed: Closed | None = None
        self._listeners = listeners

    def note(self, timed: TimedEvent) -> None:
        """Take in an event of the exam."""
        self.events.append(timed)
        match timed.event:
            case ReportReceived(data):
                self.report = data
            case Closed():
                self.closed = timed.event
        for listener in self._listeners:
            listener(timed)

    @property
    def duration_s(self) -> float:
        """Seconds from the handshake to the last event."""
        return self.events[-1].at_s if self.events else 0.0

    def as_json(self) -> str:
        """Return the whole as one JSON object: ``events``, ``report``, ``close`` (the last two may be null)."""
        close = self.closed and {"code": self.closed.code, "reason": self.closed.reason}
        plain = {"events": [_event_row(timed) for timed in self.events], "report": self.report, "close": close}
        return msgspec.json.encode(plain).decode()


EVENT_TYPES: dict[type[Event], str] = {
    ExaminerAudio: "audio",
    InterruptionStart: "interruption_start",
    InterruptionEnd: "interruption_end",
    Interrupted: "interrupted",
    TurnComplete: "turnComplete",
    Warned: "warning",
    Caption: "caption",
    ReportReceived: "report",
    ErrorReceived: "error",
    Unreadable: "unreadable",
    Closed: "close",
    CandidateSpeaks: "candidate_speaks",
    CandidateSilent: "candidate_silent",
    EndSent: "end",
}
"""The contract's own names, and names of our own for what the contract does not have."""


def _event_row(timed: TimedEvent) -> dict[str, Any]:
    event = timed.event
    row = {"at_ms": round(timed.at_s * 1000), "type": EVENT_TYPES[type(event)]}
    if isinstance(event, ExaminerAudio):
        return row | {"samples": event.pcm.size}
    if isinstance(event, ReportReceived):
        return row  # the report has a place of its own
    told: dict[str, Any] = msgspec.to_builtins(event)
    return row | told
