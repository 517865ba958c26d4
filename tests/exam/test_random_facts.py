"""Whatever order the world chooses: a few things never happen, and a few always do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from server.exam import effects as do
from server.exam import facts
from server.exam.legality import IllegalFact
from server.exam.roleplay import Roleplay

Begin = Callable[..., Any]

TURNS = st.sampled_from([0, 0, 0, 0, 0, 0, 1, 2, -1])
"""How many turns ago the turn was that a fact is about; -1 is one that was never handed out."""

SEGMENTS = st.integers(1, 6)
TEXTS = st.sampled_from(
    ["", " ", "Oui", "Je voudrais un billet pour demain matin", "un deux trois quatre cinq six sept huit"]
)
SAMPLES = st.integers(0, 100_000)

CANDIDATE = st.one_of(
    st.builds(facts.SpeechStarted, st.just(0)),
    st.builds(facts.SpeechSustained, st.just(0)),
    st.builds(facts.SpeechPaused, st.just(0)),
    st.builds(facts.SegmentClosed, SEGMENTS, st.just(0), st.just(1)),
    st.builds(facts.TurnEnded, SEGMENTS, st.just(0)),
    st.builds(
        facts.UtteranceHeard,
        SEGMENTS,
        TEXTS,
        st.just(0),
        st.just(1),
        st.just(1),
        st.just(0.5),
        st.sampled_from([False] * 9 + [True]),
    ),
)
EXAMINER = st.one_of(
    st.builds(facts.StockTaken, TURNS, TEXTS),
    st.builds(facts.ReplyReady, TURNS),
    st.builds(facts.ReplyFailed, TURNS, st.just("llm")),
    st.builds(facts.SentenceVoiced, TURNS, TEXTS, SAMPLES),
    st.builds(facts.ReplyVoiced, TURNS),
    st.builds(facts.AudioSent, TURNS),
    st.builds(facts.AudioPlayed, TURNS, SAMPLES, st.booleans()),
)
END = st.one_of(
    st.just(facts.EndRequested()),
    st.just(facts.ClientLeft()),
    st.just(facts.LimitExceeded(1008, "AUDIO_BACKLOG")),
    st.builds(facts.ListeningStopped, st.floats(0, 20)),
    st.just(facts.PendingHeard()),
    st.builds(facts.RecordFailed, st.booleans()),
    st.just(facts.Evaluated({"score": 1})),
    st.just(facts.EvaluationFailed()),
    st.just(facts.SessionStarted()),
)
PASSING = st.floats(0.0, 20.0)
WORLD = st.lists(st.one_of(CANDIDATE, CANDIDATE, EXAMINER, EXAMINER, PASSING, END), max_size=80)

SPEAKS = (do.Say, do.PrepareReply, do.TakeStock, do.BeginInterruption, do.CompleteTurn, do.Warn)


def happen(exam: Any, world: list[Any]) -> None:
    """Let the world go its way; what cannot be is refused and must change nothing. Then let everything end."""
    for item in world:
        if isinstance(item, float):
            exam.until(exam.now + item)
            continue
        before = (exam.exam.transcript, exam.exam.next_deadline())
        try:
            exam(replace(item, turn=exam.last_turn - item.turn) if hasattr(item, "turn") else item)
        except IllegalFact:
            assert (exam.exam.transcript, exam.exam.next_deadline()) == before
    exam(facts.EndRequested())
    exam.until(exam.now + 60)
    if exam.all(do.Evaluate):
        exam(facts.Evaluated({"score": 1}))


@pytest.fixture(params=["t1", "t2", "t2 with speculations"], scope="module")
def begin(request: pytest.FixtureRequest, interview: Begin, roleplay: Begin) -> Begin:
    """Begin either task; task 1 with relances at 30 and 50 s."""
    if request.param == "t1":
        return partial(interview, 30, 50)
    return partial(roleplay, speculations=2 if "with" in request.param else 0)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(world=WORLD)
def test_every_world_is_survived(begin: Begin, world: list[Any]) -> None:
    """One end, one close, one evaluation at most, one live reply at most, and silence after the end."""
    exam = begin()
    happen(exam, world)
    check_end(exam.effects)
    check_turns(exam.effects, is_roleplay=isinstance(exam.exam, Roleplay))
    check_interruptions(exam.effects)


def check_end(effects: list[do.Effect]) -> None:
    """StopListening once; nothing is said, prepared or captioned for the examiner after it; the close is last."""
    kinds = [type(effect) for effect in effects]
    assert kinds.count(do.StopListening) == 1
    after = effects[kinds.index(do.StopListening) :]
    assert not [effect for effect in after if isinstance(effect, SPEAKS)]
    assert not [effect for effect in after if isinstance(effect, do.Caption) and effect.role == "examiner"]
    assert kinds.count(do.Close) == 1
    assert kinds[-1] is do.Close
    said = [effect for effect in effects if isinstance(effect, do.Caption) and effect.role == "candidate"]
    finals = [effect for effect in effects if isinstance(effect, do.Record) and effect.final]
    assert kinds.count(do.Evaluate) == len(finals) <= 1
    assert said or not finals
    assert kinds.count(do.SendReport) + kinds.count(do.SendError) <= 1


def check_turns(effects: list[do.Effect], *, is_roleplay: bool) -> None:
    """Numbers grow; a turn is prepared before it is said; another is handed out only when the last one is over."""
    alive: int | None = None
    last = 0
    prepared: set[int] = set()
    said: set[int] = set()
    for effect in effects:
        match effect:
            case do.TakeStock(turn):
                assert alive is None
                assert turn > last
                alive = last = turn
            case do.PrepareReply(turn):
                assert turn not in prepared
                assert alive in (None, turn)
                assert turn >= last
                prepared.add(turn)
                alive = last = turn
            case do.Say(turn):
                assert alive == turn
                assert turn in prepared - said
                said.add(turn)
            case do.CancelReply(turn):
                assert alive == turn
                alive = None
            case do.EndInterruption(turn):
                assert turn in said
                alive = None
            case do.CompleteTurn(turn) if is_roleplay:
                assert turn in said
                alive = None


def check_interruptions(effects: list[do.Effect]) -> None:
    """Begin and end alternate; one that has begun ends, or the exam does; the ear is paused and resumed with it."""
    under_way = deaf = False
    for effect in effects:
        match effect:
            case do.PauseListening():
                assert not deaf
                deaf = True
            case do.ResumeListening():
                assert deaf
                deaf = False
            case do.BeginInterruption():
                assert deaf
                assert not under_way
                under_way = True
            case do.EndInterruption():
                assert under_way
                under_way = False
            case do.StopListening():
                return


@settings(max_examples=100, deadline=None)
@given(steps=st.lists(PASSING, max_size=60))
def test_time_alone_is_survived(begin: Begin, steps: list[float]) -> None:
    """Whenever the clock is looked at, what is due is done and the next deadline lies ahead."""
    exam = begin()
    for step in steps:
        exam.until(exam.now + step)
        due = exam.exam.next_deadline()
        assert due is None or due > exam.now
