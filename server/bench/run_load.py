"""The whole of ``relance bench load``: one server, and one number of candidates after another."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from engines.models import Store, load_lock
from engines.silero import SileroVoiceActivity
from server.bench.load import Loaded, Task, measure_load
from server.bench.load_figures import load_figures
from server.bench.machine import this_machine
from server.bench.processes import first_in_line
from server.bench.record import Record
from server.bench.recording import recorded, settings_told
from server.bench.run_turns import bench_settings, speech
from server.bench.turns import Tell
from server.bench.venue import Venue, own_venue, venue_at
from server.bench.voices import Voice, kept_in
from server.settings import load


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be measured: each number of ``sessions`` in turn, for so many minutes of talk."""

    task: Task
    sessions: tuple[int, ...]
    minutes: float
    audio: tuple[Path, ...]
    silence_ms: int
    profile: str | None
    url: str | None
    token: str | None


def run_load(wanted: Wanted, tell: Tell) -> Record:
    """Measure, and return the record. Raises as :func:`server.bench.run_turns.run_turns`."""
    machine = this_machine()
    settings = load(profile=wanted.profile)
    profile, store = load_lock().profile(settings.profile), Store(settings.models_dir)
    voices = speech(wanted.task, wanted.audio, wanted.silence_ms, settings, profile, store)
    vad = store.path(profile, "vad")
    own = bench_settings(wanted.task, wanted.silence_ms)
    if wanted.url is not None:
        loads = _measure(wanted, venue_at(wanted.url, wanted.token), voices, vad, tell)
    else:
        tell("starting a private server: its engines are being loaded")
        with own_venue(settings.profile, own, kept_in(store) / "server") as venue:
            loads = _measure(wanted, venue, voices, vad, tell)
    known = settings.profile if wanted.url is None else None
    return recorded(
        "load",
        machine,
        f"Load, task {wanted.task[1]}, {wanted.minutes:g} minutes each",
        {"task": wanted.task, **(settings_told(settings, own) if known else {"server": "elsewhere"})},
        [figure for loaded in loads for figure in load_figures(loaded, wanted.task, known, wanted.silence_ms)],
        turns=[turn for loaded in loads for turn in loaded.measured.turns],
        notes=[] if known else ["CPU time and memory are those of processes here: a server elsewhere has none"],
    )


def _measure(wanted: Wanted, venue: Venue, voices: list[Voice], vad: Path, tell: Tell) -> list[Loaded]:
    async def one_after_another() -> list[Loaded]:
        detector, loads = SileroVoiceActivity(vad), []
        for sessions in wanted.sessions:
            tell(f"{sessions} candidates, {wanted.minutes:g} minutes")
            loads.append(
                await measure_load(venue, wanted.task, voices, sessions, wanted.minutes, wanted.silence_ms, detector)
            )
        return loads

    with first_in_line():
        return asyncio.run(one_after_another())
