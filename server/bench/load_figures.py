"""From what a crowd of candidates gave to the figures of one number of sessions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from server.bench import targets
from server.bench.load import SETTLED_S, SILENCE_S, TRY_AGAIN_LATER, UNREACHABLE, Loaded, Task
from server.bench.moments import counting
from server.bench.processes import Use
from server.bench.record import Figure, Source, Target, Turn
from server.bench.targets import met
from server.bench.turns import interview_figures, roleplay_figures
from server.wire import closes


def load_figures(loaded: Loaded, task: Task, profile: str | None, silence_ms: int) -> list[Figure]:
    """Return the figures of ``loaded``: what candidates waited for, how exams ended, what the machine spent."""
    group = f"{loaded.sessions} {'session' if loaded.sessions == 1 else 'sessions'}"
    waited = (
        interview_figures(loaded.measured, group)
        if task == "t1"
        else roleplay_figures(loaded.measured, profile, silence_ms, group)
    )
    return [
        *(figure for figure in waited if figure.samples or figure.targets),
        *_holding(loaded, waited[0], task, group),
        *_endings(loaded, group),
        *_costs(loaded, task, group),
    ]


def _holding(loaded: Loaded, wait: Figure, task: Task, group: str) -> Iterator[Figure]:
    """How many sessions meet by their own turns what is asked of the first figure, where anything is."""
    if wait.targets:
        sessions = _waits(loaded.measured.turns, task).values()
        found = [Figure("", "ms", "outside", tuple(samples)) for samples in sessions]
        holding = sum(all(met(figure, target) for target in wait.targets) for figure in found)
        yield _one(f"sessions that hold the targets of {wait.name}", "sessions", holding, group)


def _waits(turns: Sequence[Turn], task: Task) -> dict[int, list[float]]:
    waits: dict[int, list[float]] = defaultdict(list)
    for turn in counting(turns):
        marks = turn.marks_ms
        wait = marks["interruption_start"] if task == "t1" else marks["first frame"] - marks["decision"]
        waits[turn.session].append(wait)
    return waits


def _endings(loaded: Loaded, group: str) -> Iterator[Figure]:
    named = {
        TRY_AGAIN_LATER: f"refused with {TRY_AGAIN_LATER}",
        closes.AUDIO_BACKLOG.code: f"closed with {closes.AUDIO_BACKLOG.code}, backlog",
        UNREACHABLE: "handshake failed",
    }
    for code, name in named.items():
        yield _one(name, "exams", loaded.closes[code], group)
    usual = {closes.DONE.code, closes.CORRECTION_FAILED.code}
    for code in sorted(set(loaded.closes) - set(named) - usual):
        yield _one(f"closed with {code}", "exams", loaded.closes[code], group)


def _costs(loaded: Loaded, task: Task, group: str) -> Iterator[Figure]:
    if len(loaded.looks) < 2:
        return
    begun = loaded.looks[0][0]
    if task == "t2":
        quiet = [look for look in loaded.looks if SETTLED_S <= look[0] - begun <= SILENCE_S]
        idle = _core_shares(quiet, loaded.sessions).get("server", [])
        yield _of("server in silence, a session", "% of a core", idle, group, targets.IDLE_CORE_SHARE)
    for name, shares in _core_shares(loaded.looks, loaded.sessions).items():
        yield _of(f"{name}, a session", "% of a core", shares, group)
    for name in loaded.looks[0][1]:
        memory = [uses[name].rss_mb for _, uses in loaded.looks if name in uses]
        yield _of(f"memory of {name}", "MB", memory, group)
        yield _one(f"memory of {name}, more a session", "MB", (max(memory) - memory[0]) / loaded.sessions, group)


def _core_shares(looks: Sequence[tuple[float, dict[str, Use]]], sessions: int) -> dict[str, list[float]]:
    """Per cent of a core that each process spent on one session, from each look to the next."""
    shares: dict[str, list[float]] = defaultdict(list)
    for (then, before), (now, after) in pairwise(looks):
        for name in before.keys() & after.keys():
            shares[name].append(100 * (after[name].cpu_s - before[name].cpu_s) / (now - then) / sessions)
    return shares


def _one(name: str, unit: str, value: float, group: str) -> Figure:
    return _of(name, unit, [value], group, source="outside" if unit in ("exams", "sessions") else "processes")


def _of(
    name: str,
    unit: str,
    samples: Sequence[float],
    group: str,
    asked: tuple[Target, ...] = (),
    source: Source = "processes",
) -> Figure:
    return Figure(name, unit, source, tuple(round(sample, 3) for sample in samples), asked, group)
