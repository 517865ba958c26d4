"""Close codes and reasons of the exam's WebSocket contract. Frozen: existing clients switch on them.

The names with GEMINI stay from the service that this server takes the place of.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CloseCode:
    """A close frame: its code, and its reason (at most 123 bytes of UTF-8)."""

    code: int
    reason: str = ""


DONE = CloseCode(1000)
SHUTTING_DOWN = CloseCode(1001, "GOING_AWAY")
IDLE = CloseCode(1001, "IDLE_TIMEOUT")
AUDIO_BACKLOG = CloseCode(1008, "AUDIO_BACKLOG")
FRAME_TOO_BIG = CloseCode(1009, "FRAME_TOO_BIG")
PERSISTENCE_FAILED = CloseCode(1011, "PERSISTENCE_FAILED")
CORRECTION_FAILED = CloseCode(1011, "CORRECTION_FAILED")
TRY_AGAIN_LATER = CloseCode(1013, "TRY_AGAIN_LATER")
AUTH_REQUIRED = CloseCode(4001, "AUTH_REQUIRED")
PLAN_INSUFFICIENT = CloseCode(4003, "PLAN_INSUFFICIENT")
SUJET_NOT_FOUND = CloseCode(4004, "SUJET_NOT_FOUND")
T1_UNAVAILABLE = CloseCode(4005, "GEMINI_CONFIG")
T2_UNAVAILABLE = CloseCode(4005, "GEMINI_UNAVAILABLE")
ENGINE_FAILED = CloseCode(4006, "GEMINI_DISCONNECTED")
