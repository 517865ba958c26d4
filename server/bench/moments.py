"""From what was sent and heard to the figures of each turn. All times in ms; nothing here waits or measures.

A turn does not count in which the client itself was late by more than :data:`LATE_MS` at the end of speech or at one of
:data:`TIMED`, nor one that the server left
unanswered or answered before it could know that it was over; each says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from server.bench.hearing import Kind
from server.bench.inside import Counted
from server.bench.record import Stage, Turn
from server.bench.sent import Sent
from server.bench.sitting import Sat
from server.bench.spoken import Spoken, SpokenTurn

LATE_MS = 20.0
"""The client's own chunk: one that was later is a client that measures itself."""

TIMED = ("decision", "interruption_start", "first frame")
"""Marks that figures are made of: at these the client must be awake. Between them it only sends."""

UNANSWERED = "no answer"
TOO_EARLY = "answered before its decision"


def roleplay_turns(session: int, sat: Sat, spoken: Spoken) -> list[Turn]:
    """Return the turns of an exam of task 2: what lies between the end of speech and the first frame."""
    firsts = [heard.at_s for heard in sat.heard if heard.kind is Kind.FIRST_FRAME]
    ends = [sat.sent.time_of(turn.speech_end) for turn in spoken.turns]
    stages = _stages(sat.counted, len(spoken.turns))
    turns = []
    for at, (turn, (end_s, next_end_s)) in enumerate(zip(spoken.turns, pairwise([*ends, math.inf]), strict=True)):
        first_s = next((first for first in firsts if end_s <= first < next_end_s), None)
        turns.append(_roleplay_turn(session, at + 1, sat.sent, turn, first_s, stages[at]))
    return turns


def interview_turns(session: int, sat: Sat, drawn_s: Sequence[float]) -> list[Turn]:
    """Return the relances of an exam of task 1, whose plan was drawn for ``drawn_s`` after the handshake."""
    starts = [heard.at_s for heard in sat.heard if heard.kind is Kind.INTERRUPTION_START]
    firsts = [heard.at_s for heard in sat.heard if heard.kind is Kind.FIRST_FRAME]
    stages = _stages(sat.counted, len(drawn_s))
    turns = []
    for at, due_s in enumerate(drawn_s):
        start_s = starts[at] if at < len(starts) else None
        first_s = next((first for first in firsts if start_s is not None and first >= start_s), None)
        marks = {"interruption_start": start_s, "first frame": first_s}
        turns.append(_turn(session, at + 1, sat.sent, due_s, marks, stages[at]))
    return turns


def barge_ins(sat: Sat, spoken: Spoken) -> list[tuple[float, float]]:
    """Return, for each ``interrupted``: ms from sustained speech to it, and by how many the client was late then.

    The speech counts from its first sustained stretch after the examiner's first frame.
    """
    found = []
    for began, ended in pairwise(sat.heard):
        if began.kind is not Kind.FIRST_FRAME or ended.kind is not Kind.INTERRUPTED:
            continue
        known = (sat.sent.time_of(at) for at in spoken.sustained)
        if (since := next((at for at in known if began.at_s < at <= ended.at_s), None)) is not None:
            found.append((_ms(ended.at_s - since), _ms(sat.sent.lateness_s(since, ended.at_s))))
    return found


def counting(turns: Iterable[Turn]) -> list[Turn]:
    """Return the turns that count."""
    return [turn for turn in turns if not turn.faults]


def unforeseen(sat: Sat, turns: Sequence[Turn]) -> int:
    """Return how many examiner's turns began that no turn of the candidate's accounts for."""
    firsts = sum(heard.kind is Kind.FIRST_FRAME for heard in sat.heard)
    return firsts - sum("first frame" in turn.marks_ms for turn in turns)


def _roleplay_turn(
    session: int, number: int, sent: Sent, turn: SpokenTurn, first_s: float | None, stages: dict[str, Stage]
) -> Turn:
    marks = {
        "speech begun": sent.time_of(turn.begun + 1),
        "pause seen": sent.time_of(turn.pause_seen),
        "decision": sent.time_of(turn.decision),
        "first frame": first_s,
    }
    return _turn(session, number, sent, sent.time_of(turn.speech_end), marks, stages)


def _turn(
    session: int, number: int, sent: Sent, zero_s: float, marks_s: dict[str, float | None], stages: dict[str, Stage]
) -> Turn:
    marks_ms = {name: _ms(at - zero_s) for name, at in marks_s.items() if at is not None}
    moments = [zero_s, *(at for name, at in marks_s.items() if at is not None and name in TIMED)]
    lateness_ms = _ms(max(sent.lateness_s(at, at) for at in moments))
    return Turn(session, number, marks_ms, lateness_ms, stages, tuple(_faults(marks_ms, lateness_ms)))


def _faults(marks_ms: dict[str, float], lateness_ms: float) -> Iterable[str]:
    first = marks_ms.get("first frame")
    if first is None:
        yield UNANSWERED
    elif first < marks_ms.get("decision", first):
        yield TOO_EARLY
    if lateness_ms > LATE_MS:
        yield f"the client was late by {lateness_ms:.0f} ms"


def _stages(counted: Sequence[Counted], turns: int) -> list[dict[str, Stage]]:
    """Return each turn's stages; none where the server was not asked as often as there were turns."""
    grown = [after.stages_since(before) for before, after in pairwise(counted)]
    return grown if len(grown) == turns else [{}] * turns


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
