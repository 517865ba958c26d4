"""Rows of the store, as frozen data. Times are UTC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

Tache = Literal["EO_T1", "EO_T2_LIVE"]
Statut = Literal["open", "recorded", "evaluated", "failed"]


@dataclass(frozen=True, slots=True)
class Profile:
    """What the server itself knows of a user. ``plan`` wins over the token's; ``nclc_cible`` is the level aimed at."""

    id: str
    plan: str | None
    nclc_cible: int | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Subject:
    """A situation of task 2. ``role`` and ``contexte`` are the examiner's, ``consigne`` is what the candidate reads."""

    id: UUID
    mode: str
    tache: int
    titre: str
    role: str
    contexte: str
    consigne: str
    langue: str
    actif: bool


@dataclass(frozen=True, slots=True)
class Production:
    """The result of one session.

    ``statut`` is ``open`` while the session runs, ``recorded`` once the transcript is final, then ``evaluated``
    or ``failed``. ``utterances`` are the candidate's, with the figures that fluency is computed from.
    """

    id: UUID
    user_id: str
    tache: Tache
    sujet_id: UUID | None
    mode: str
    langue: str
    transcript: str
    utterances: Sequence[Mapping[str, Any]]
    duration_ms: int
    rapport: Mapping[str, Any] | None
    score: int | None
    nclc: int | None
    statut: Statut
    instance: str
    latency: Mapping[str, Any] | None
    created_at: datetime
    updated_at: datetime
