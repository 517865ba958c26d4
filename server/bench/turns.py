"""``relance bench turns``: turns of a real server, at the pace of a microphone, measured at the client's socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import httpx

from engines.protocols import VoiceActivity
from server.bench import targets
from server.bench.candidates import asking, in_turn, telling
from server.bench.inside import LAG_LIMIT_S, Inside
from server.bench.moments import LATE_MS, barge_ins, counting, interview_turns, roleplay_turns, unforeseen
from server.bench.record import Figure, Target, Turn
from server.bench.sitting import Sat, expect_admitted, sit
from server.bench.spoken import rules, spoken_in
from server.bench.venue import Venue
from server.bench.voices import Voice
from server.client.subjects import first_subject

TURNS_A_SESSION = 10
"""Questions of one exam of task 2: about four minutes."""

DRAWN_MS = (20_000, 45_000)
"""When the two relances of each exam of task 1 are drawn: the window and the spacing leave no other draw."""

T1_SETTINGS: dict[str, object] = {
    "t1_interruption_p0": 0,
    "t1_interruption_p1": 0,
    "t1_interruption_p2": 1,
    "t1_interruption_window_start_ms": DRAWN_MS[0],
    "t1_interruption_window_end_ms": DRAWN_MS[1],
    "t1_interruption_min_spacing_ms": DRAWN_MS[1] - DRAWN_MS[0],
    "t1_interruption_pause_grace_ms": 0,
}
"""Settings of a server whose relances are due at :data:`DRAWN_MS`, whether the candidate pauses or not."""

NO_EVALUATION: dict[str, object] = {"evaluation_timeout_s": 0.5}
"""An evaluation is not measured here, and would keep the cores busy during the next exam: it is cut short."""

RELANCE_PATIENCE_S = 60.0

Tell = Callable[[str], None]


@dataclass(slots=True)
class Measured:
    """What the exams of a run gave."""

    turns: list[Turn] = field(default_factory=list)
    barge_ins: list[tuple[float, float]] = field(default_factory=list)
    stored: list[dict[str, dict[str, float]]] = field(default_factory=list)
    lags: dict[float, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


async def measure_roleplay(
    venue: Venue, voices: Sequence[Voice], turns: int, silence_ms: int, vad: VoiceActivity, tell: Tell
) -> Measured:
    """Measure so many turns of task 2, in exams of ten. Raises :class:`server.client.errors.ClientError`."""
    measured = Measured()
    subject = await asyncio.to_thread(first_subject, venue.seat("bench"))

    async with httpx.AsyncClient(trust_env=not venue.address.is_local) as web:
        for session, first in enumerate(range(0, turns, TURNS_A_SESSION), start=1):
            asked = in_turn(voices, first, min(TURNS_A_SESSION, turns - first))
            seat = venue.seat(f"bench-{session}")
            before = await Inside(seat, web).counted("t2")
            sat = await sit(seat, "t2", {"sujet": subject.id}, asking(asked), web)
            expect_admitted(sat)
            spoken = await spoken_in(sat.sent.pcm(), vad, rules(silence_ms))
            found = roleplay_turns(session, sat, spoken)
            measured.barge_ins += barge_ins(sat, spoken)
            _add(measured, sat, found, (await Inside(seat, web).counted("t2")).lags_since(before))
            if len(spoken.turns) != len(asked):
                measured.notes.append(
                    f"exam {session}: {len(asked)} questions were {len(spoken.turns)} turns by the silence in them"
                )
            tell(_progress(session, found))
    return measured


async def measure_interview(
    venue: Venue, voice: Voice, relances: int, tell: Tell, drawn_ms: Sequence[float] = DRAWN_MS
) -> Measured:
    """Measure at least so many relances, in exams whose plan is ``drawn_ms``. Raises as :func:`measure_roleplay`."""
    measured = Measured()
    drawn_s = [at / 1000 for at in drawn_ms]
    async with httpx.AsyncClient(trust_env=not venue.address.is_local) as web:
        for session in range(1, -(-relances // len(drawn_s)) + 1):
            seat = venue.seat(f"bench-{session}")
            before = await Inside(seat, web).counted("t1")
            talk = telling(voice, len(drawn_s), patience_s=RELANCE_PATIENCE_S)
            sat = await sit(seat, "t1", {}, talk, web)
            expect_admitted(sat)
            found = interview_turns(session, sat, drawn_s)
            _add(measured, sat, found, (await Inside(seat, web).counted("t1")).lags_since(before))
            tell(_progress(session, found))
    return measured


def roleplay_figures(measured: Measured, profile: str | None, silence_ms: int, group: str = "") -> list[Figure]:
    """Return the figures of task 2, those of the client first."""
    good = counting(measured.turns)
    gaps = [turn.marks_ms["first frame"] - turn.marks_ms["decision"] for turn in good]
    responses = [turn.marks_ms["first frame"] for turn in good]
    cut_in = [ms for ms, late_ms in measured.barge_ins if late_ms <= LATE_MS]
    unseen = [gap - turn.stages["gap"].total_ms for gap, turn in zip(gaps, good, strict=True) if _once(turn, "gap")]
    return [
        _outside("gap", gaps, targets.gap(profile, silence_ms), group),
        _outside("response", responses, targets.response(profile, silence_ms), group),
        _outside("speech to interrupted", cut_in, targets.BARGE_IN, group),
        _outside("gap beyond the server's own", unseen, (), group),
        *_common(measured, group),
    ]


def interview_figures(measured: Measured, group: str = "") -> list[Figure]:
    """Return the figures of task 1, those of the client first."""
    good = counting(measured.turns)
    starts = [turn.marks_ms["interruption_start"] for turn in good]
    breaths = [turn.marks_ms["first frame"] - start for turn, start in zip(good, starts, strict=True)]
    return [
        _outside("drawn time to interruption_start", starts, targets.DRAWN_TO_START, group),
        _outside("interruption_start to first audio", breaths, targets.START_TO_AUDIO, group),
        *_common(measured, group),
    ]


def loop_lag(lags: dict[float, int], group: str = "") -> list[Figure]:
    """Return how often the event loop was late by more than its limit; nothing where the server told no lag."""
    if not lags:
        return []
    over = max(lags.values()) - lags[LAG_LIMIT_S]
    name = f"event loop late by over {LAG_LIMIT_S * 1000:.0f} ms"
    return [Figure(name, "times", "/metrics", (float(over),), targets.LAG_OVER_LIMIT, group)]


def _common(measured: Measured, group: str) -> Iterable[Figure]:
    yield _outside("lateness of the client", [turn.lateness_ms for turn in measured.turns], (), group)
    names = {name for turn in measured.turns for name in turn.stages}
    for name in sorted(names):
        counted = [turn.stages[name] for turn in measured.turns if name in turn.stages]
        each_ms = tuple(round(stage.total_ms / stage.count, 3) for stage in counted)
        yield Figure(name, "ms", "/metrics", each_ms, (), group)
    for name in sorted({name for latency in measured.stored for name in latency}):
        yield _stored(name, [latency[name] for latency in measured.stored if name in latency], group)
    yield from loop_lag(measured.lags, group)


def _stored(name: str, of_exams: Sequence[dict[str, float]], group: str) -> Figure:
    """What productions say of a stage: their quantiles are those of one exam, and of several there are none."""
    told = {"n": sum(exam["count"] for exam in of_exams), "max": max(exam["max"] for exam in of_exams)}
    if len(of_exams) == 1:
        told |= {"p50": of_exams[0]["p50"], "p95": of_exams[0]["p95"]}
    return Figure(name, "ms", "stored", (), (), group, told)


def _outside(name: str, samples: Sequence[float], asked: tuple[Target, ...], group: str) -> Figure:
    return Figure(name, "ms", "outside", tuple(round(sample, 3) for sample in samples), asked, group)


def _once(turn: Turn, stage: str) -> bool:
    return stage in turn.stages and turn.stages[stage].count == 1


def _add(measured: Measured, sat: Sat, turns: list[Turn], lags: dict[float, int]) -> None:
    measured.turns += turns
    measured.stored += [sat.stored] if sat.stored else []
    measured.lags = {bound: count + measured.lags.get(bound, 0) for bound, count in lags.items()}
    if more := unforeseen(sat, turns):
        measured.notes.append(f"{more} examiner's turns answered no turn of the candidate")


def _progress(session: int, turns: Sequence[Turn]) -> str:
    return f"exam {session}: {len(turns)} turns, {len(counting(turns))} of them count"
