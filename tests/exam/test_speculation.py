"""Task 2: a reply that is prepared in a pause is said at the decision, or leaves no trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from server.exam import effects as do
from server.exam import facts

Begin = Callable[..., Any]


def names_of(effects: list[do.Effect]) -> list[str]:
    return [type(effect).__name__ for effect in effects]


def last_words(prepare: do.PrepareReply) -> str:
    """The candidate's turn, as the LLM is asked about it."""
    role, words = prepare.brief.prompts[0].messages[-1]
    assert role == "user"
    return words


def utterance(number: int, text: str) -> facts.UtteranceHeard:
    return facts.UtteranceHeard(number, text, 0, 900, 800, 0.9)


@pytest.fixture
def pausing(roleplay: Begin) -> Any:
    """The candidate has said « C'est combien ? » and fallen silent; stock of it was taken, a reply is prepared."""
    exam = roleplay(speculations=3)
    exam(facts.SpeechStarted(0), facts.SpeechSustained(250))
    assert exam(facts.SpeechPaused(1_000)) == [do.TakeStock(1)]
    (prepare,) = exam(facts.StockTaken(1, "C'est combien ?"))
    assert (prepare.turn, last_words(prepare)) == (1, "C'est combien ?")
    return exam


def decided(text: str = "C'est combien ?") -> tuple[facts.Fact, ...]:
    """The segment is closed, recognised, and the turn is over."""
    return facts.SegmentClosed(1, 0, 1_200), utterance(1, text), facts.TurnEnded(1, 3_000)


def test_a_confirmed_speculation_is_said_at_the_decision(pausing: Any) -> None:
    """Nothing is left to wait for; it counts as any other turn."""
    pausing(facts.ReplyReady(1))
    assert pausing(*decided())[-1] == do.Say(1)
    assert (pausing.exam.speculations.confirmed, pausing.exam.speculations.wasted) == (1, 0)
    pausing.speaks(1, "Dix euros.")
    assert pausing.exam.transcript == "Candidat : C'est combien ?\nExaminateur : Dix euros."


def test_one_that_is_not_ready_yet_is_said_when_it_is(pausing: Any) -> None:
    """The LLM is slower than the silence: its lead is kept, nothing is asked twice."""
    assert names_of(pausing(*decided())) == ["Caption", "Record"]
    assert pausing(facts.ReplyReady(1)) == [do.Say(1)]
    assert len(pausing.all(do.PrepareReply)) == 1


def test_stock_that_comes_after_the_decision_still_serves(roleplay: Begin) -> None:
    """Recognition is slower than the silence."""
    exam = roleplay(speculations=3)
    exam(facts.SpeechStarted(0), facts.SpeechPaused(1_000), facts.SegmentClosed(1, 0, 1_200))
    assert exam(facts.TurnEnded(1, 1_500)) == []
    assert names_of(exam(facts.StockTaken(1, "Combien ?"))) == ["PrepareReply"]
    assert names_of(exam(utterance(1, "Combien ?"))) == ["Caption", "Record"]
    assert exam(facts.ReplyReady(1)) == [do.Say(1)]


def test_a_candidate_who_goes_on_has_it_dropped(pausing: Any) -> None:
    """Also when it lay ready; what is answered at the end is all that was said."""
    pausing(facts.ReplyReady(1))
    assert pausing(facts.SpeechStarted(1_900)) == [do.CancelReply(1)]
    assert pausing(facts.SpeechPaused(2_500)) == [do.TakeStock(2)]
    (prepare,) = pausing(facts.StockTaken(2, "C'est combien ? Pour deux."))
    assert last_words(prepare) == "C'est combien ? Pour deux."
    assert pausing.exam.speculations.wasted == 1
    pausing(facts.ReplyReady(2))
    assert pausing(*decided("C'est combien ? Pour deux."))[-1] == do.Say(2)
    pausing.speaks(2, "Vingt euros.")
    assert pausing.exam.transcript == "Candidat : C'est combien ? Pour deux.\nExaminateur : Vingt euros."


def test_other_words_at_the_decision_are_answered_themselves(pausing: Any) -> None:
    """The segment was understood otherwise than its beginning: the reply to the old words is never heard."""
    pausing(facts.ReplyReady(1))
    *_, cancel, prepare = pausing(*decided("C'est comment ?"))
    assert cancel == do.CancelReply(1)
    assert last_words(prepare) == "C'est comment ?"
    assert (pausing.exam.speculations.confirmed, pausing.exam.speculations.wasted) == (0, 1)


def test_one_that_fails_is_forgotten(pausing: Any) -> None:
    """It costs none of the turn's own two tries."""
    assert pausing(facts.ReplyFailed(1, "tts")) == [do.CancelReply(1)]
    assert names_of(pausing(*decided()))[-1] == "PrepareReply"
    assert names_of(pausing(facts.ReplyFailed(2, "tts"))) == ["CancelReply", "PrepareReply"]
    assert pausing(facts.ReplyReady(3)) == [do.Say(3)]


def test_a_confirmed_one_that_fails_is_tried_once_more(pausing: Any) -> None:
    """From the decision on it is the turn's first try."""
    pausing(*decided())
    assert names_of(pausing(facts.ReplyFailed(1, "tts"))) == ["CancelReply", "PrepareReply"]
    pausing(facts.ReplyFailed(2, "tts"))
    assert pausing(facts.ListeningStopped(0), facts.PendingHeard())[-1] == do.Close(4006, "GEMINI_DISCONNECTED")


def test_a_turn_has_a_budget_of_them(pausing: Any) -> None:
    """Three in a turn; then it goes as if there were none. The next turn has three again."""
    for turn in (2, 3):
        pausing(facts.SpeechStarted(0), facts.SpeechPaused(0), facts.StockTaken(turn, "C'est combien ?"))
    assert pausing(facts.SpeechStarted(0)) == [do.CancelReply(3)]
    assert pausing(facts.SpeechPaused(0)) == []
    assert names_of(pausing(*decided()))[-1] == "PrepareReply"
    pausing(facts.ReplyReady(4))
    pausing.speaks(4, "Dix euros.")
    pausing(facts.SpeechStarted(0), facts.SpeechSustained(0))
    assert pausing(facts.SpeechPaused(0)) == [do.TakeStock(5)]


def test_a_pause_without_words_costs_nothing_of_the_budget(roleplay: Begin) -> None:
    """A cough: there is nothing to answer."""
    exam = roleplay(speculations=1)
    for turn in range(1, 6):
        exam(facts.SpeechStarted(0), facts.SpeechPaused(100))
        assert exam(facts.StockTaken(turn, " ")) == [do.CancelReply(turn)]
    exam(facts.SpeechStarted(0), facts.SpeechPaused(1_000))
    assert names_of(exam(facts.StockTaken(6, "Bonjour."))) == ["PrepareReply"]


def test_under_load_there_is_none(roleplay: Begin) -> None:
    """The server says whether it has room."""
    exam = roleplay(speculations=3, has_room=lambda: False)
    exam(facts.SpeechStarted(0))
    assert exam(facts.SpeechPaused(1_000)) == []
    assert names_of(exam(*decided()))[-1] == "PrepareReply"


@pytest.mark.parametrize("stage", ["stock", "prepared", "ready"])
@pytest.mark.parametrize("end", [facts.EndRequested(), facts.ClientLeft(), None], ids=["end", "left", "timeout"])
def test_the_end_drops_it(roleplay: Begin, stage: str, end: facts.Fact | None) -> None:
    """Nothing of it is heard or stored."""
    exam = roleplay(speculations=3)
    exam(facts.SpeechStarted(0), facts.SpeechPaused(1_000))
    if stage != "stock":
        exam(facts.StockTaken(1, "C'est combien ?"))
    if stage == "ready":
        exam(facts.ReplyReady(1), facts.SentenceVoiced(1, "Dix euros.", 24_000))
    effects = exam(end) if end else exam.until(900)
    assert names_of(effects)[-2:] == ["CancelReply", "StopListening"]
    exam(facts.SegmentClosed(1, 0, 900), utterance(1, "C'est combien ?"), facts.ListeningStopped(0))
    exam(facts.PendingHeard())
    assert exam.all(do.Record)[-1].transcript == "Candidat : C'est combien ?"
    assert exam.all(do.Say) == []


def test_a_barge_in_may_be_followed_by_one(roleplay: Begin) -> None:
    """The floor is yielded; the pause after that speech has a speculation of its own."""
    exam = roleplay(speculations=3)
    exam(facts.SpeechStarted(0), facts.SpeechPaused(900), facts.StockTaken(1, "Combien ?"), facts.ReplyReady(1))
    exam(facts.SegmentClosed(1, 0, 1_000), utterance(1, "Combien ?"))
    assert exam(facts.TurnEnded(1, 3_000)) == [do.Say(1)]
    exam(facts.SentenceVoiced(1, "Dix euros par personne.", 48_000), facts.SpeechStarted(4_000))
    assert exam(facts.SpeechPaused(4_100)) == []
    exam(facts.SpeechStarted(4_150), facts.SpeechSustained(4_400), facts.AudioPlayed(1, 24_000, False))
    assert exam(facts.SpeechPaused(5_000)) == [do.TakeStock(2)]
    (prepare,) = exam(facts.StockTaken(2, "Pardon ?"))
    assert prepare.brief.prompts[0].messages[1:] == (
        ("user", "Combien ?"),
        ("assistant", "Dix euros"),
        ("user", "Pardon ?"),
    )


def test_a_dropped_one_moves_no_cut_in_the_history(roleplay: Begin) -> None:
    """The budget is passed by words that are not said yet: the cut is kept only at the decision."""
    exam = roleplay(speculations=9, history_budget_chars=100)
    exam.asks("a" * 60)
    exam(facts.ReplyReady(exam.last_turn))
    exam.speaks(exam.last_turn, "b" * 30)
    exam(facts.SpeechStarted(0), facts.SpeechPaused(0))
    exam(facts.StockTaken(exam.last_turn, "c" * 80))
    assert len(exam.all(do.PrepareReply)[-1].brief.prompts[0].messages) == 2
    exam(facts.SpeechStarted(0), facts.SpeechPaused(0))
    exam(facts.StockTaken(exam.last_turn, "c"))
    assert len(exam.all(do.PrepareReply)[-1].brief.prompts[0].messages) == 4
