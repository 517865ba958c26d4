"""The terminal flush: whatever ends an exam of either task, it is ended once, in one order, in silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from server.exam import effects as do
from server.exam import facts
from server.exam.legality import IllegalFact

Begin = Callable[..., Any]
ENOUGH = "Je m'appelle Amadou, je travaille comme cuisinier dans un grand hôtel."
LINE = f"Candidat : {ENOUGH}"

OVER = [facts.ListeningStopped(0.1), facts.PendingHeard()]


def names_of(effects: list[do.Effect]) -> list[str]:
    return [type(effect).__name__ for effect in effects]


@pytest.fixture(params=["t1", "t2"])
def begin(request: pytest.FixtureRequest, interview: Begin, roleplay: Begin) -> Begin:
    """Begin either task."""
    return interview if request.param == "t1" else roleplay


def speaking_t1(interview: Begin) -> Any:
    """A relance is being said, and half of its first sentence has been heard."""
    exam = interview(30)
    exam.says(ENOUGH)
    exam.until(22)
    exam(facts.StockTaken(1, ""), facts.ReplyReady(1))
    exam.until(30)
    exam(facts.SentenceVoiced(1, "Et depuis quand habitez-vous ici ?", 48_000), facts.AudioPlayed(1, 20_000, False))
    return exam


def speaking_t2(roleplay: Begin) -> Any:
    """An answer is being said."""
    exam = roleplay()
    exam.asks(ENOUGH)
    exam(facts.ReplyReady(1))
    exam(facts.SentenceVoiced(1, "Et depuis quand habitez-vous ici ?", 48_000), facts.AudioPlayed(1, 20_000, False))
    return exam


@pytest.fixture
def unborn(begin: Begin) -> Any:
    """An exam of either task that has not started."""
    return begin(start=False)


@pytest.mark.parametrize(
    "fact",
    [
        facts.SpeechStarted(0),
        facts.TurnEnded(0, 0),
        facts.UtteranceHeard(1, "Oui", 0, 1, 1, 1.0),
        facts.RecordFailed(),
    ],
)
def test_nothing_but_an_end_comes_before_the_start(unborn: Any, fact: facts.Fact) -> None:
    """The error names the fact and what was expected, and changes nothing."""
    with pytest.raises(IllegalFact, match=f"{type(fact).__name__} came before SessionStarted"):
        unborn(fact)
    assert unborn.exam.transcript == ""
    assert unborn.exam.next_deadline() is None


def test_a_client_that_leaves_before_the_start_leaves_nothing(unborn: Any) -> None:
    """No production, one close."""
    unborn(facts.ClientLeft(), *OVER)
    assert names_of(unborn.effects) == ["StopListening", "Close"]


def test_a_second_start_is_an_error(begin: Begin) -> None:
    """Also when the end has begun."""
    exam = begin()
    with pytest.raises(IllegalFact, match="SessionStarted came twice"):
        exam(facts.SessionStarted())
    exam(facts.EndRequested())
    with pytest.raises(IllegalFact, match="gathering the last words"):
        exam(facts.SessionStarted())


@pytest.mark.parametrize(
    "fact",
    [facts.ListeningStopped(0), facts.PendingHeard(), facts.Evaluated({}), facts.EvaluationFailed()],
)
def test_an_answer_to_nothing_is_an_error(begin: Begin, fact: facts.Fact) -> None:
    """What was never asked for cannot be answered."""
    with pytest.raises(IllegalFact, match="was not asked for"):
        begin()(fact)


def test_a_report_before_the_evaluation_is_an_error(begin: Begin) -> None:
    """The last words are still being gathered."""
    exam = begin()
    exam.says(ENOUGH)
    exam(facts.EndRequested())
    with pytest.raises(IllegalFact, match="Evaluated"):
        exam(facts.Evaluated({}))


def test_a_turn_that_was_never_handed_out_is_an_error(begin: Begin) -> None:
    """Turn numbers are the core's own."""
    with pytest.raises(IllegalFact, match="turn 3, which was never handed out: the last one is 0"):
        begin()(facts.ReplyReady(3))


def test_a_session_without_a_word_has_no_production(begin: Begin) -> None:
    """EMPTY_TRANSCRIPT, then 1000; nothing was ever recorded or evaluated."""
    exam = begin()
    exam.says("")
    exam(facts.EndRequested(), *OVER)
    assert exam.effects == [
        do.StopListening(),
        do.SendError("EMPTY_TRANSCRIPT", "Aucune parole n’a été entendue : il n’y a rien à évaluer."),
        do.Close(1000),
    ]


def test_a_record_that_fails_at_the_end_is_told(begin: Begin) -> None:
    """PERSISTENCE_FAILED, then 1011; a report that should still come is dropped."""
    exam = begin()
    exam.says(ENOUGH)
    exam(facts.EndRequested(), *OVER)
    effects = exam(facts.RecordFailed(final=True), facts.Evaluated({}))
    assert names_of(effects) == ["SendError", "Close"]
    assert effects[0].code == "PERSISTENCE_FAILED"
    assert effects[1] == do.Close(1011, "PERSISTENCE_FAILED")


def test_a_record_that_fails_in_between_is_made_up_for_by_the_next(begin: Begin) -> None:
    """Each holds the whole transcript."""
    exam = begin()
    exam.says(ENOUGH)
    assert exam(facts.RecordFailed()) == []
    exam(facts.EndRequested(), *OVER)
    assert exam(facts.RecordFailed()) == []
    assert exam.all(do.Record)[-1] == do.Record(LINE, final=True)


def test_an_evaluation_that_fails_is_told(begin: Begin) -> None:
    """CORRECTION_FAILED, then 1011; the production stays."""
    exam = begin()
    exam.says(ENOUGH)
    exam(facts.EndRequested(), *OVER)
    effects = exam(facts.EvaluationFailed())
    assert effects[0].code == "CORRECTION_FAILED"
    assert effects[1] == do.Close(1011, "CORRECTION_FAILED")


def test_the_end_has_one_order(begin: Begin) -> None:
    """Stop listening, gather, record, evaluate, report, close."""
    exam = begin()
    exam.says(ENOUGH)
    assert exam(facts.EndRequested()) == [do.StopListening()]
    assert exam(*OVER) == [do.Record(LINE, final=True), do.Evaluate()]
    assert exam(facts.Evaluated({"score": 12})) == [do.SendReport({"score": 12}), do.Close(1000)]
    assert exam.exam.next_deadline() is None


def test_the_time_being_up_ends_as_a_request_does(interview: Begin, roleplay: Begin) -> None:
    """180 s and 15 minutes."""
    for exam, timeout_s in ((interview(), 180), (roleplay(), 900)):
        exam.until(timeout_s - 0.1)
        assert exam.until(timeout_s) == [do.StopListening()]


def test_words_that_are_on_their_way_are_kept(begin: Begin) -> None:
    """`end` in the middle of a word: the open segment is closed, recognised and recorded."""
    exam = begin()
    exam.says(ENOUGH)
    exam(facts.SpeechStarted(0), facts.EndRequested(), facts.ListeningStopped(0.5))
    assert names_of(exam(*exam.segment("et j'aime le bri"))) == ["Caption", "Record"]
    (record, _) = exam(facts.PendingHeard())
    assert record == do.Record(f"{LINE} et j'aime le bri", final=True)


@pytest.mark.parametrize(("expected_s", "wait_s"), [(0.5, 3.0), (1.5, 3.0), (4.0, 8.0)])
def test_the_wait_is_the_grace_or_twice_the_expected_time(begin: Begin, expected_s: float, wait_s: float) -> None:
    """Whichever is longer; counted from the moment when listening stopped. Later words are dropped."""
    exam = begin()
    exam.says(ENOUGH)
    exam.until(10)
    exam(facts.EndRequested(), facts.ListeningStopped(expected_s))
    assert exam.until(10 + wait_s - 0.01) == []
    assert names_of(exam.until(10 + wait_s)) == ["Record", "Evaluate"]
    assert exam(*exam.segment("trop tard"), facts.PendingHeard()) == []
    assert exam.exam.transcript == LINE


def test_an_ear_that_does_not_answer_holds_nothing_up(begin: Begin) -> None:
    """Without ListeningStopped the grace alone counts."""
    exam = begin()
    exam.says(ENOUGH)
    exam(facts.EndRequested())
    assert names_of(exam.until(3)) == ["Record", "Evaluate"]


def test_a_relance_that_is_being_said_is_cut_and_kept_as_far_as_it_was_heard(interview: Begin) -> None:
    """No interruption_end, no caption, no turnComplete after the end; the last count decides."""
    exam = speaking_t1(interview)
    assert exam(facts.EndRequested()) == [do.CancelReply(1), do.StopListening()]
    assert exam(facts.PendingHeard()) == []
    late = (facts.AudioSent(1), facts.ReplyVoiced(1), facts.ReplyReady(1))
    assert exam(*late) == []
    effects = exam(facts.AudioPlayed(1, 24_000, False))
    assert effects == [do.Record(f"{LINE}\nExaminateur : Et depuis quand", final=True), do.Evaluate()]


def test_an_answer_that_is_being_said_is_cut_and_kept_as_far_as_it_was_heard(roleplay: Begin) -> None:
    """As in task 1; also when all of it had been heard."""
    exam = speaking_t2(roleplay)
    assert exam(facts.EndRequested()) == [do.CancelReply(1), do.StopListening()]
    effects = exam(facts.AudioPlayed(1, 48_000, True), *OVER)
    assert effects == [
        do.Record(f"{LINE}\nExaminateur : Et depuis quand habitez-vous ici ?", final=True),
        do.Evaluate(),
    ]


def test_the_count_of_a_cut_turn_is_not_waited_for_for_ever(interview: Begin) -> None:
    """Without it the last known count stands: 20 000 of 48 000 samples."""
    exam = speaking_t1(interview)
    exam(facts.EndRequested(), *OVER)
    (record, _) = exam.until(exam.now + 3)
    assert record.transcript.endswith("Examinateur : Et depuis")


def test_a_reply_in_preparation_is_dropped(roleplay: Begin) -> None:
    """Should it become ready all the same, it is not said; nothing is waited for."""
    exam = roleplay()
    exam.asks(ENOUGH)
    assert exam(facts.EndRequested()) == [do.CancelReply(1), do.StopListening()]
    assert names_of(exam(facts.ReplyReady(1), *OVER)) == ["Record", "Evaluate"]


def test_no_relance_begins_after_the_end(interview: Begin) -> None:
    """The clock's time comes, and goes."""
    exam = interview(30)
    exam.says(ENOUGH)
    exam.until(29)
    exam(facts.StockTaken(1, ""), facts.ReplyReady(1), facts.EndRequested())
    exam.until(60)
    assert exam.all(do.Say) == exam.all(do.BeginInterruption) == []


ENDS = [facts.EndRequested(), facts.ClientLeft(), facts.LimitExceeded(1008, "AUDIO_BACKLOG")]


@pytest.mark.parametrize("first", ENDS)
@pytest.mark.parametrize("second", ENDS)
def test_the_first_end_wins(begin: Begin, first: facts.Fact, second: facts.Fact) -> None:
    """One evaluation, one close, its code that of the first cause; whoever asked for the end and then left, left."""
    exam = begin()
    exam.says(ENOUGH)
    exam(first, second, second, *OVER)
    waits = first == facts.EndRequested() and second != facts.ClientLeft()
    if waits:
        exam(facts.Evaluated({"score": 12}))
    else:
        assert exam(facts.Evaluated({"score": 12})) == []
    left = do.Close(1001, "CLIENT_LEFT")
    close = {"EndRequested": do.Close(1000) if waits else left, "ClientLeft": left}
    assert exam.only(do.Close) == close.get(type(first).__name__, do.Close(1008, "AUDIO_BACKLOG"))
    exam.only(do.Evaluate)
    assert len(exam.all(do.SendReport)) == int(waits)


def test_end_and_timeout_at_the_same_moment_are_one_end(begin: Begin) -> None:
    """The time comes first; the request changes nothing."""
    exam = begin(session_timeout_ms=60_000, session_warning_ms=50_000)
    exam.says(ENOUGH)
    exam.until(59)
    exam.now = 60.0
    exam(facts.EndRequested(), facts.EndRequested(), *OVER, facts.Evaluated({}))
    exam.until(600)
    assert names_of(exam.effects[-5:]) == ["StopListening", "Record", "Evaluate", "SendReport", "Close"]
    exam.only(do.StopListening)


def test_a_client_that_left_is_told_nothing(begin: Begin) -> None:
    """Its production is recorded and evaluated, and the socket's end is one close."""
    exam = begin()
    exam.says(ENOUGH)
    effects = exam(facts.ClientLeft(), *OVER)
    assert names_of(effects) == ["StopListening", "Record", "Evaluate", "Close"]


def test_a_client_that_leaves_while_it_waits_ends_the_session_at_once(begin: Begin) -> None:
    """Nobody waits for the report: the evaluation goes on in the background, and the user's place is free."""
    exam = begin()
    exam.says(ENOUGH)
    exam(facts.EndRequested(), *OVER)
    assert exam(facts.ClientLeft()) == [do.Close(1001, "CLIENT_LEFT")]
    assert exam(facts.Evaluated({})) == []


def test_a_client_that_leaves_while_its_last_words_are_gathered_waits_for_no_report(begin: Begin) -> None:
    """They are heard and recorded all the same."""
    exam = begin()
    exam.says(ENOUGH)
    exam(facts.EndRequested(), facts.ListeningStopped(0.5), facts.ClientLeft())
    exam(*exam.segment("et j'aime le bricolage"))
    effects = exam(facts.PendingHeard())
    assert effects[0] == do.Record(f"{LINE} et j'aime le bricolage", final=True)
    assert effects[1:] == [do.Evaluate(), do.Close(1001, "CLIENT_LEFT")]


def test_a_client_that_leaves_after_a_silent_exam_is_told_nothing(begin: Begin) -> None:
    """Not even that there was nothing to mark."""
    exam = begin()
    exam(facts.EndRequested(), facts.ClientLeft())
    assert exam(*OVER) == [do.Close(1001, "CLIENT_LEFT")]


def test_a_limit_closes_with_its_own_code_once_the_evaluation_has_begun(begin: Begin) -> None:
    """The client's words until then are not lost."""
    exam = begin()
    exam.says(ENOUGH)
    effects = exam(facts.LimitExceeded(1001, "IDLE_TIMEOUT"), *OVER)
    assert names_of(effects) == ["StopListening", "Record", "Evaluate", "Close"]
    assert effects[-1] == do.Close(1001, "IDLE_TIMEOUT")


def test_a_limit_on_a_session_without_a_word_is_only_a_close(begin: Begin) -> None:
    """Its code says why."""
    exam = begin()
    exam(facts.LimitExceeded(1001, "IDLE_TIMEOUT"), *OVER)
    assert names_of(exam.effects) == ["StopListening", "Close"]


def test_recognition_that_fails_during_the_flush_changes_nothing(begin: Begin) -> None:
    """The end has begun; its cause stays."""
    exam = begin()
    exam.says(ENOUGH)
    exam(facts.EndRequested())
    exam.says("", lost=True)
    exam.says("", lost=True)
    assert names_of(exam(*OVER, facts.Evaluated({}))) == ["Record", "Evaluate", "SendReport", "Close"]


def test_after_the_close_everything_is_dropped(begin: Begin) -> None:
    """Even what would have been an error before."""
    exam = begin()
    exam(facts.EndRequested(), *OVER)
    late = (facts.SessionStarted(), facts.ReplyReady(9), facts.Evaluated({}), facts.ClientLeft(), *OVER)
    assert exam(*late) == []
    assert exam.until(1_000) == []


def test_words_that_are_all_there_is_are_waited_for_longer(begin: Begin) -> None:
    """Recognition is late (its process was killed): a candidate who spoke is not told that nothing was said."""
    exam = begin()
    exam(facts.SpeechStarted(0), facts.EndRequested(), facts.ListeningStopped(0.5))
    assert exam.until(44) == []
    exam(facts.UtteranceHeard(1, ENOUGH, 0, 3000, 2500, 0.9))
    assert exam(facts.PendingHeard()) == [do.Record(LINE, final=True), do.Evaluate()]


def test_words_that_never_come_are_an_engine_failure(begin: Begin) -> None:
    """At the last moment, 45 s after the end: 4006, not an empty transcript."""
    exam = begin()
    exam(facts.SpeechStarted(0), facts.EndRequested(), facts.ListeningStopped(0.5))
    assert exam.until(44) == []
    assert exam.until(46) == [do.Close(4006, "GEMINI_DISCONNECTED")]


def test_words_that_were_lost_are_an_engine_failure(begin: Begin) -> None:
    """Recognition gave the only segment up: there was speech, so it is no empty transcript."""
    exam = begin()
    exam(facts.SpeechStarted(0), facts.EndRequested(), facts.ListeningStopped(0.5))
    exam(facts.UtteranceHeard(1, "", 0, 3000, 2500, 0.0, lost=True))
    assert exam(facts.PendingHeard()) == [do.Close(4006, "GEMINI_DISCONNECTED")]


def test_the_last_words_of_a_client_that_left_are_waited_for_longer(begin: Begin) -> None:
    """Nobody waits for the report: the words that are still on their way belong to the production."""
    exam = begin()
    exam.says(ENOUGH)
    exam(facts.ClientLeft(), facts.ListeningStopped(0.5))
    assert exam.until(40) == []
    assert names_of(exam(facts.PendingHeard())) == ["Record", "Evaluate", "Close"]


def test_a_server_that_stops_does_not_wait_for_the_report(begin: Begin) -> None:
    """What was said is stored; a client that is merely silent, on the other hand, is waiting for its report."""
    exam = begin()
    exam.says(ENOUGH)
    exam(facts.EndRequested(), *OVER)
    assert exam(facts.LimitExceeded(1001, "IDLE_TIMEOUT")) == []
    assert exam(facts.LimitExceeded(1001, "GOING_AWAY")) == [do.Close(1001, "GOING_AWAY")]
