"""What is asked of each figure on two cores with one session, and whether it was met."""

from __future__ import annotations

from typing import Final

from server.bench.figures import quantile
from server.bench.record import Figure, Target

GAP_SILENCE_MS: Final = 2000
RESPONSE_SILENCE_MS: Final = 500
"""The silences that gap and response are asked for."""

DRAWN_TO_START: Final = (Target(0.95, 100),)
START_TO_AUDIO: Final = (Target(1, 20),)
BARGE_IN: Final = (Target(0.95, 100),)
LAG_OVER_LIMIT: Final = (Target(1, 0),)
IDLE_CORE_SHARE: Final = (Target(0.5, 1.0),)
VAD_US: Final = (Target(0.5, 50),)
STT_TIMES_FASTER: Final = (Target(0.5, 2.5, "at_least"),)
STT_NO_WORSE: Final = (Target(1, 0),)
TTS_FIRST_TIMES_SOONER: Final = (Target(0.5, 2.5, "at_least"),)
TTS_WHOLE_TIMES_FASTER: Final = (Target(0.5, 1.0, "at_least"),)
TTS_WHOLE_TIMES_FASTER_AMX: Final = (Target(0.5, 1.5, "at_least"),)


def gap(profile: str | None, silence_ms: int) -> tuple[Target, ...]:
    """Return what is asked of the gap of task 2; nothing for another silence or an unknown profile."""
    if silence_ms != GAP_SILENCE_MS or profile is None:
        return ()
    return (Target(0.5, 20), Target(0.95, 150)) if profile == "ci" else (Target(0.5, 50), Target(0.95, 500))


def response(profile: str | None, silence_ms: int) -> tuple[Target, ...]:
    """Return what is asked of the response of task 2; nothing for another silence or profile."""
    return (Target(0.5, 1000),) if silence_ms == RESPONSE_SILENCE_MS and profile == "ci" else ()


def reached(figure: Figure, target: Target) -> float | None:
    """Return the quantile that ``target`` speaks of; ``None`` where there are no samples."""
    return quantile(figure.samples, target.share) if figure.samples else None


def met(figure: Figure, target: Target) -> bool | None:
    """Return whether ``figure`` meets ``target``; ``None`` where there are no samples."""
    value = reached(figure, target)
    if value is None:
        return None
    return value <= target.limit if target.bound == "at_most" else value >= target.limit


def wording(target: Target, unit: str) -> str:
    """Return the target as people write it: ``p95 ≤ 150 ms``."""
    share = "max" if target.share == 1 else f"p{target.share * 100:.0f}"
    return f"{share} {'≤' if target.bound == 'at_most' else '≥'} {target.limit:g} {unit}".rstrip()
