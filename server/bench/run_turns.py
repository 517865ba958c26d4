"""The whole of ``relance bench turns``: voices, server, measurement, record."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from engines.models import Profile, Store, load_lock
from engines.silero import SileroVoiceActivity
from server.bench import voices
from server.bench.machine import this_machine
from server.bench.processes import first_in_line
from server.bench.record import Machine, Record
from server.bench.recording import Told, recorded, settings_told
from server.bench.turns import (
    NO_EVALUATION,
    T1_SETTINGS,
    Measured,
    Tell,
    interview_figures,
    measure_interview,
    measure_roleplay,
    roleplay_figures,
)
from server.bench.venue import Venue, own_venue, venue_at
from server.client.audio import load_voice, split_at_pauses
from server.settings import Settings, load

FILE_PAUSE_S = 1.0
"""In a file, a pause of this length parts two turns, as in ``relance exam``; less where less silence ends a turn."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be measured, and where: ``url`` is a running server, else one is started with ``profile``."""

    task: Literal["t1", "t2"]
    turns: int
    audio: tuple[Path, ...]
    silence_ms: int
    profile: str | None
    url: str | None
    token: str | None


def run_turns(wanted: Wanted, tell: Tell) -> Record:
    """Measure, and return the record. Raises ``BenchError``, ``ClientError``, ``ModelError``, ``EngineError``."""
    machine = this_machine()
    settings = load(profile=wanted.profile)
    profile, store = load_lock().profile(settings.profile), Store(settings.models_dir)
    spoken = speech(wanted.task, wanted.audio, wanted.silence_ms, settings, profile, store)
    own = bench_settings(wanted.task, wanted.silence_ms)
    if wanted.url is not None:
        measured = _measure(wanted, venue_at(wanted.url, wanted.token), spoken, store.path(profile, "vad"), tell)
    else:
        tell("starting a private server: its engines are being loaded")
        with own_venue(settings.profile, own, voices.kept_in(store) / "server") as venue:
            measured = _measure(wanted, venue, spoken, store.path(profile, "vad"), tell)
    return _record(wanted, machine, settings, own, measured)


def bench_settings(task: str, silence_ms: int) -> dict[str, object]:
    """Return the settings of a private server that is measured."""
    return NO_EVALUATION | (T1_SETTINGS if task == "t1" else {"t2_silence_ms": silence_ms})


def speech(
    task: str, audio: tuple[Path, ...], silence_ms: int, settings: Settings, profile: Profile, store: Store
) -> list[voices.Voice]:
    """Return what candidates say: the turns of task 2, or the one monologue of task 1.

    Raises as :func:`run_turns`.
    """
    files = [load_voice(path) for path in audio]
    if task == "t1":
        return [np.concatenate(files)] if files else [asyncio.run(voices.monologue(settings, profile, store))]
    pause_s = min(FILE_PAUSE_S, silence_ms / 1000)
    cut = [turn for voice in files for turn in split_at_pauses(voice, pause_s=pause_s)]
    return cut or asyncio.run(voices.questions(settings, profile, store, silence_ms))


def _measure(wanted: Wanted, venue: Venue, spoken: list[voices.Voice], vad: Path, tell: Tell) -> Measured:
    detector = SileroVoiceActivity(vad)
    with first_in_line():
        if wanted.task == "t1":
            return asyncio.run(measure_interview(venue, spoken[0], wanted.turns, tell))
        return asyncio.run(measure_roleplay(venue, spoken, wanted.turns, wanted.silence_ms, detector, tell))


def _record(wanted: Wanted, machine: Machine, settings: Settings, own: dict[str, object], measured: Measured) -> Record:
    is_own = wanted.url is None
    profile = settings.profile if is_own else None
    figures = (
        interview_figures(measured) if wanted.task == "t1" else roleplay_figures(measured, profile, wanted.silence_ms)
    )
    elsewhere: Told = {"server": "elsewhere", "t2_silence_ms": wanted.silence_ms}
    told = settings_told(settings, own) if is_own else elsewhere
    voice = "synthetic" if not wanted.audio else f"{len(wanted.audio)} files"
    return recorded(
        "turns",
        machine,
        f"Turns of task {wanted.task[1]}, {'a private server' if is_own else 'a running server'}",
        {"task": wanted.task, "candidate": voice, **told},
        figures,
        turns=measured.turns,
        notes=measured.notes,
    )
