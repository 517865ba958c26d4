"""Makes a record of what was measured just now on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Literal

from server.bench.machine import package_version
from server.bench.record import VERSION, Figure, Machine, Record, Turn
from server.settings import Settings

TOLD = (
    "profile",
    "stt_style",
    "llm_style",
    "tts_style",
    "stt_threads",
    "llm_threads",
    "tts_threads",
    "tts_graph",
    "max_sessions",
    "max_t2_sessions",
    "t1_relance_lead_ms",
    "t1_relance_patience_ms",
    "t2_silence_ms",
    "t2_speculations",
)
"""Settings that figures depend on; no address or key is among them."""

Told = dict[str, str | int | float | bool | None]


def settings_told(settings: Settings, own: Mapping[str, object]) -> Told:
    """Return what a record tells of ``settings``, and all of the bench's ``own`` that were set over them."""
    told = {name: getattr(settings, name) for name in TOLD if name in type(settings).model_fields}
    return told | {name: value for name, value in own.items() if isinstance(value, str | int | float | bool)}


def recorded(
    kind: Literal["turns", "engines", "load"],
    machine: Machine,
    title: str,
    settings: Told,
    figures: Iterable[Figure],
    *,
    turns: Iterable[Turn] = (),
    notes: Iterable[str] = (),
) -> Record:
    """Return the record of a run that has just ended, on ``machine`` as it was before."""
    return Record(
        version=VERSION,
        kind=kind,
        title=title,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        relance=package_version("relance"),
        machine=machine,
        settings=settings,
        figures=tuple(figures),
        turns=tuple(turns),
        notes=tuple(notes),
    )
