"""From sent samples and heard moments to turns: rules that need no server."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.bench.hearing import Heard, Kind
from server.bench.inside import Counted, read_metrics
from server.bench.microphone import CHUNK_S, CHUNK_SAMPLES
from server.bench.moments import barge_ins, counting, interview_turns, roleplay_turns, unforeseen
from server.bench.record import Stage
from server.bench.sent import Sent
from server.bench.sitting import Sat
from server.bench.spoken import Spoken, SpokenTurn
from server.client.events import Closed

TURN = SpokenTurn(begun=16_000, speech_end=32_000, pause_seen=35_584, decision=64_256)
NEXT = SpokenTurn(begun=96_000, speech_end=112_000, pause_seen=115_584, decision=144_256)


def sent(seconds: float = 12.0, late_s: dict[int, float] | None = None) -> Sent:
    """A stream on its schedule, but for the chunks that are late; what is due meanwhile leaves right behind them."""
    stream, at = Sent(), 0.0
    for number in range(round(seconds / CHUNK_S)):
        due = (number + 1) * CHUNK_S
        at = max(due + (late_s or {}).get(number, 0.0), at + 1e-4)
        stream.tick(due, at)
        stream.note(np.zeros(CHUNK_SAMPLES, np.int16), at)
    return stream


def sat(*heard: tuple[Kind, float], stream: Sent | None = None, counted: tuple[Counted, ...] = ()) -> Sat:
    return Sat(stream or sent(), tuple(Heard(*each) for each in heard), counted, Closed(1000, ""), {})


@given(st.lists(st.integers(1, 700), min_size=1, max_size=50), st.data())
def test_a_sample_left_with_its_chunk(sizes: list[int], data: st.DataObject) -> None:
    """Whatever the chunks' sizes, the time of a position is that of the chunk that brought the sample before it."""
    stream = Sent()
    for number, size in enumerate(sizes):
        stream.note(np.full(size, number, np.int16), float(number))
    position = data.draw(st.integers(1, sum(sizes)))
    assert stream.time_of(position) == stream.pcm()[position - 1]
    for outside in (0, sum(sizes) + 1):
        with pytest.raises(ValueError, match="expected a position"):
            stream.time_of(outside)


@given(st.floats(0, 3))
def test_the_gap_is_from_the_decisions_sending_to_the_first_frame(gap_s: float) -> None:
    """The decision's last sample leaves at 4.02 s with its chunk; the end of speech at 2 s."""
    (turn,) = roleplay_turns(1, sat((Kind.FIRST_FRAME, 4.02 + gap_s)), Spoken((TURN,), (), ()))
    assert turn.marks_ms["first frame"] == pytest.approx(2020 + 1000 * gap_s, abs=0.01)
    assert turn.marks_ms["decision"] == pytest.approx(2020, abs=0.01)
    assert turn.marks_ms["speech begun"] == pytest.approx(-980, abs=0.01)
    assert turn.faults == ()


def test_each_turn_has_the_answer_that_follows_it() -> None:
    """An answer belongs to the turn whose speech had ended; one before all speech belongs to none."""
    exam = sat((Kind.FIRST_FRAME, 0.5), (Kind.FIRST_FRAME, 4.1), (Kind.FIRST_FRAME, 9.2))
    turns = roleplay_turns(1, exam, Spoken((TURN, NEXT), (), ()))
    assert [turn.marks_ms["first frame"] for turn in turns] == pytest.approx([2100, 2200], abs=0.01)
    assert unforeseen(exam, turns) == 1


def test_a_turn_without_an_answer_does_not_count() -> None:
    """It stays in the record and says so."""
    turns = roleplay_turns(1, sat((Kind.FIRST_FRAME, 9.2)), Spoken((TURN, NEXT), (), ()))
    assert [turn.faults for turn in turns] == [("no answer",), ()]
    assert counting(turns) == turns[1:]


def test_an_answer_before_the_decision_does_not_count() -> None:
    """A server that does not wait for the silence is no fast server."""
    (turn,) = roleplay_turns(1, sat((Kind.FIRST_FRAME, 3.9)), Spoken((TURN,), (), ()))
    assert turn.faults == ("answered before its decision",)


@pytest.mark.parametrize(("chunk", "counts"), [(99, False), (200, False), (204, False), (150, True), (400, True)])
def test_a_client_that_was_late_where_it_matters_does_not_count(chunk: int, counts: bool) -> None:
    """Late at the end of speech, at the decision or at the first frame; in the silence between it only sends."""
    stream = sent(late_s={chunk: 0.025})
    (turn,) = roleplay_turns(1, sat((Kind.FIRST_FRAME, 4.1), stream=stream), Spoken((TURN,), (), ()))
    assert (turn.faults == ()) is counts
    assert turn.faults in ((), ("the client was late by 25 ms",))


def test_a_barge_in_counts_from_the_first_sustained_speech_into_the_answer() -> None:
    """Sustained speech before the answer is the question's; a second stretch after the first is the same barge-in."""
    exam = sat((Kind.FIRST_FRAME, 4.1), (Kind.INTERRUPTED, 6.09), (Kind.FIRST_FRAME, 9.2), (Kind.TURN_COMPLETE, 11.0))
    ((took_ms, late_ms),) = barge_ins(exam, Spoken((TURN, NEXT), (20_480, 96_000, 97_280, 170_000), ()))
    assert took_ms == pytest.approx(90, abs=0.01)
    assert late_ms == pytest.approx(0, abs=0.01)


def test_relances_are_told_in_their_order_and_one_that_never_came_is_missed() -> None:
    """The second drawn time without an interruption is a turn without an answer."""
    exam = sat((Kind.INTERRUPTION_START, 3.05), (Kind.FIRST_FRAME, 3.06), (Kind.INTERRUPTION_END, 6.0))
    first, second = interview_turns(1, exam, (3.0, 8.0))
    assert first.marks_ms == pytest.approx({"interruption_start": 50, "first frame": 60}, abs=0.01)
    assert (first.faults, second.faults) == ((), ("no answer",))


def test_stages_are_a_turns_own_only_when_the_server_was_asked_after_each() -> None:
    """Counters that were read once a turn give each turn its part; read more or less often, they give none."""
    text = (
        'relance_stage_seconds_count{stage="gap",task="t2"} %d\nrelance_stage_seconds_sum{stage="gap",task="t2"} %f\n'
    )
    counted = tuple(read_metrics(text % (number, number * 0.25), "t2") for number in range(3))
    spoken = Spoken((TURN, NEXT), (), ())
    assert [turn.stages for turn in roleplay_turns(1, sat(counted=counted), spoken)] == [{"gap": Stage(1, 250.0)}] * 2
    assert [turn.stages for turn in roleplay_turns(1, sat(counted=counted[:2]), spoken)] == [{}, {}]
    assert read_metrics(text % (1, 0.25), "t1").stages == {}
