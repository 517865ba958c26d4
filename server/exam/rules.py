"""The constants of the two tasks, as the exam cores take them. Their defaults are the exam's own.

Each is a setting under the same name in capitals with the task before it (``T1_SESSION_TIMEOUT_MS``).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InterviewRules:
    """Task 1, the guided interview. Times in milliseconds since the session began, or lengths of time."""

    session_timeout_ms: int = 180_000
    session_warning_ms: int = 150_000
    interruption_p0: float = 0.2
    interruption_p1: float = 0.6
    interruption_p2: float = 0.2
    interruption_window_start_ms: int = 25_000
    interruption_window_end_ms: int = 75_000
    interruption_min_spacing_ms: int = 20_000
    interruption_pause_grace_ms: int = 1_500
    """How long a relance that is ready waits for the candidate's next pause."""
    terminal_flush_grace_ms: int = 3_000
    relance_lead_ms: int = 10_000
    """How long before its drawn time a relance is prepared."""
    relance_patience_ms: int = 1_000
    """How long after its drawn time a relance is waited for before one of the bank is spoken."""


@dataclass(frozen=True, slots=True)
class RoleplayRules:
    """Task 2, the service role-play. Times in milliseconds since the session began, or lengths of time."""

    session_timeout_ms: int = 900_000
    session_warning_ms: int = 840_000
    terminal_flush_grace_ms: int = 3_000
    history_budget_chars: int = 6_000
    """Length of the dialogue in the prompt above which half of it is cut, in one block."""
    speculations: int = 3
    """How often in one turn of the candidate a reply may be prepared before the turn is known to be over."""
