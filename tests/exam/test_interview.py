"""Task 1: the relance clock decides, and nothing that is heard, late or broken moves it."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from server.exam import effects as do
from server.exam import facts
from server.exam.bank import Need, sentences
from server.exam.interview import BANK_REST_S, BANK_TRIES, Interview
from server.exam.relance_clock import ImpossiblePlan
from server.exam.rules import InterviewRules

Begin = Callable[..., Any]

ENOUGH = "Je m'appelle Amadou, je travaille comme cuisinier dans un grand hôtel."


def ready_relance(interview: Begin, *, at_s: float = 30, **rules: Any) -> Any:
    """A relance lies ready before its time; the candidate is silent."""
    exam = interview(at_s, **rules)
    exam.says(ENOUGH)
    exam.until(at_s - 8)
    exam(facts.StockTaken(1, ""), facts.ReplyReady(1))
    return exam


def test_rules_that_cannot_be_kept_begin_no_interview(stage: ModuleType) -> None:
    """The error comes at construction, not in mid-exam."""

    rules = InterviewRules(interruption_min_spacing_ms=60_000)
    with pytest.raises(ImpossiblePlan):
        Interview(rules, "fr", random.Random(1), stage.Everything)


def test_without_a_drawn_relance_the_examiner_is_silent(interview: Begin) -> None:
    """P0 = 1: whatever the candidate does, nothing is prepared."""
    exam = interview()
    exam.says(ENOUGH)
    exam.until(149)
    assert not [effect for effect in exam.effects if isinstance(effect, (do.TakeStock, do.PrepareReply, do.Say))]


def test_stock_is_taken_a_lead_before_the_drawn_time(interview: Begin) -> None:
    """8 s before, once, and under the number that the relance will have."""
    exam = interview(30)
    assert exam.until(21.9) == []
    assert exam.until(22) == [do.TakeStock(1)]
    assert exam.until(29) == []


def test_the_prompt_holds_closed_segments_and_the_open_one(interview: Begin) -> None:
    """What was said up to the lead is asked about, an open segment included."""
    exam = interview(30)
    exam.says("Je m'appelle Amadou et je travaille")
    exam.until(22)
    (prepare,) = exam(facts.StockTaken(1, "comme cuisinier à Dakar"))
    assert prepare.turn == 1
    assert len(prepare.brief.prompts) == 2
    assert prepare.brief.prompts[0].messages[-1] == (
        "user",
        "Je m'appelle Amadou et je travaille comme cuisinier à Dakar",
    )
    assert prepare.brief.fallback in sentences("fr", Need.RELANCE)


@pytest.mark.parametrize(("words", "need"), [("", Need.NOT_BEGUN), ("un deux trois quatre", Need.LITTLE_SAID)])
def test_with_too_little_heard_the_llm_is_not_asked(interview: Begin, words: str, need: Need) -> None:
    """Under eight words the bank serves, from the list for a candidate who has not begun, or who has said little."""
    exam = interview(30)
    exam.until(22)
    (prepare,) = exam(facts.StockTaken(1, words))
    assert prepare.brief.prompts == ()
    assert prepare.brief.fallback in sentences("fr", need)


def test_eight_words_are_enough(interview: Begin) -> None:
    """The bound itself asks the LLM."""
    exam = interview(30)
    exam.until(22)
    (prepare,) = exam(facts.StockTaken(1, "un deux trois quatre cinq six sept huit"))
    assert prepare.brief.prompts


def test_a_ready_relance_waits_for_its_drawn_time(interview: Begin) -> None:
    """To the silent candidate it is said at that very moment: muting, announcing, speaking, in one breath."""
    exam = ready_relance(interview)
    assert exam.until(29.99) == []
    assert exam.until(30) == [do.PauseListening(), do.BeginInterruption(1), do.Say(1, 30)]


def test_a_speaking_candidate_is_cut_in_the_next_pause(interview: Begin) -> None:
    """From the drawn time on, a pause is what the relance waits for."""
    exam = ready_relance(interview)
    exam(facts.SpeechStarted(0))
    assert exam.until(31) == []
    assert exam(facts.SpeechPaused(0)) == [do.PauseListening(), do.BeginInterruption(1), do.Say(1, 30)]


def test_a_pause_before_the_drawn_time_is_no_opening(interview: Begin) -> None:
    """The clock decides; who speaks again at the drawn time is speaking."""
    exam = ready_relance(interview)
    assert exam(facts.SpeechStarted(0), facts.SpeechPaused(0), facts.SpeechStarted(0)) == []
    assert exam.until(30.5) == []


def test_who_never_pauses_is_cut_when_the_grace_is_over(interview: Begin) -> None:
    """1500 ms at most."""
    exam = ready_relance(interview)
    exam(facts.SpeechStarted(0))
    assert exam.until(31.49) == []
    assert names_of(exam.until(31.5)) == ["PauseListening", "BeginInterruption", "Say"]


def test_the_grace_can_be_off(interview: Begin) -> None:
    """With no grace the relance comes at its time, in mid-word."""
    exam = ready_relance(interview, interruption_pause_grace_ms=0)
    exam(facts.SpeechStarted(0))
    assert names_of(exam.until(30)) == ["PauseListening", "BeginInterruption", "Say"]


def test_a_relance_is_told_to_its_end_in_the_contracts_order(interview: Begin) -> None:
    """turnComplete when all was sent; the interruption ends, and listening begins, when all was heard."""
    exam = ready_relance(interview)
    exam.until(30)
    question = "Qu'est-ce qui vous plaît le plus dans ce métier ?"
    assert exam(facts.SentenceVoiced(1, question, 48_000), facts.ReplyVoiced(1)) == []
    assert exam(facts.AudioSent(1)) == [do.CompleteTurn(1)]
    assert exam(facts.AudioPlayed(1, 20_000, False)) == []
    effects = exam(facts.AudioPlayed(1, 48_000, True))
    transcript = f"Candidat : {ENOUGH}\nExaminateur : {question}"
    assert effects == [
        do.Caption("examiner", question),
        do.EndInterruption(1),
        do.ResumeListening(),
        do.Record(transcript),
    ]
    assert exam.exam.transcript == transcript
    assert (exam.exam.relances, exam.exam.turns) == (1, 2)


def test_audio_heard_before_it_was_reported_sent_still_completes_first(interview: Begin) -> None:
    """turnComplete never follows interruption_end, and comes once."""
    exam = ready_relance(interview)
    exam.until(30)
    effects = exam(facts.SentenceVoiced(1, "Et alors ?", 100), facts.AudioPlayed(1, 100, True), facts.AudioSent(1))
    assert names_of(effects) == ["Caption", "CompleteTurn", "EndInterruption", "ResumeListening", "Record"]


def test_of_an_examiner_alone_nothing_is_recorded(interview: Begin) -> None:
    """As long as the candidate has said nothing there is no production."""
    exam = interview(30)
    exam.until(22)
    exam(facts.StockTaken(1, ""), facts.ReplyReady(1))
    exam.until(30)
    exam.speaks(1, "Prenez votre temps, qui êtes-vous ?")
    assert exam.all(do.Record) == []
    assert exam.all(do.EndInterruption) == [do.EndInterruption(1)]


def test_words_that_the_relance_broke_off_stand_before_it(interview: Begin) -> None:
    """The interruption closes the open segment; its announcement and text come while the examiner speaks."""
    exam = ready_relance(interview)
    exam(facts.SpeechStarted(0))
    exam.until(31.5)
    exam(*exam.segment("et le soir je"))
    exam.speaks(1, "Et le soir ?")
    exam.says("Le soir je lis.")
    assert exam.exam.transcript.splitlines() == [
        f"Candidat : {ENOUGH} et le soir je",
        "Examinateur : Et le soir ?",
        "Candidat : Le soir je lis.",
    ]


def test_a_relance_that_is_late_gives_way_to_the_bank(interview: Begin) -> None:
    """One second after the drawn time; the late one is cancelled and, should it still come, dropped."""
    exam = interview(30)
    exam.says(ENOUGH)
    exam.until(22)
    exam(facts.StockTaken(1, ""))
    assert exam.until(30.9) == []
    cancel, prepare = exam.until(31)
    assert cancel == do.CancelReply(1)
    assert (prepare.turn, prepare.brief.prompts) == (2, ())
    assert prepare.brief.fallback in sentences("fr", Need.RELANCE)
    assert exam(facts.AudioPlayed(1, 0, False), facts.ReplyReady(1)) == []
    assert exam(facts.ReplyReady(2)) == [do.PauseListening(), do.BeginInterruption(2), do.Say(2, 30)]


def test_stock_that_is_never_taken_does_not_block(interview: Begin) -> None:
    """At the drawn time and the patience the bank serves; the late answer is dropped."""
    exam = interview(30)
    exam(facts.SpeechStarted(0))
    cancel, prepare = exam.until(31)[1:]
    assert cancel == do.CancelReply(1)
    assert prepare.brief.fallback in sentences("fr", Need.RELANCE)
    assert exam(facts.StockTaken(1, ENOUGH)) == []


def test_stock_never_taken_of_one_never_heard_asks_who_they_are(interview: Begin) -> None:
    """No voice and no words: the candidate has not begun."""
    exam = interview(30)
    *_, prepare = exam.until(31)
    assert prepare.brief.fallback in sentences("fr", Need.NOT_BEGUN)


@pytest.mark.parametrize("moment", ["preparing", "ready"])
def test_a_relance_that_fails_gives_way_to_the_bank_at_once(interview: Begin, moment: str) -> None:
    """Long before its time there is time for the bank; the client was never muted."""
    exam = interview(30)
    exam.says(ENOUGH)
    exam.until(22)
    exam(facts.StockTaken(1, ""))
    if moment == "ready":
        exam(facts.ReplyReady(1))
    effects = exam(facts.ReplyFailed(1, "llm"))
    assert names_of(effects) == ["CancelReply", "PrepareReply"]
    exam(facts.ReplyReady(2))
    assert names_of(exam.until(30)) == ["PauseListening", "BeginInterruption", "Say"]


def test_a_bank_that_fails_is_tried_again_after_a_rest(interview: Begin) -> None:
    """A drawn relance takes place, be it late; nothing was muted meanwhile."""
    exam = interview(30)
    exam.until(22)
    exam(facts.StockTaken(1, ""))
    assert exam(facts.ReplyFailed(1, "tts")) == [do.CancelReply(1)]
    (again,) = exam.until(22 + BANK_REST_S)
    assert again.turn == 2
    exam(facts.ReplyReady(2))
    assert names_of(exam.until(30)) == ["PauseListening", "BeginInterruption", "Say"]


def test_a_bank_that_is_silent_is_given_up_in_the_end(interview: Begin) -> None:
    """A few tries, each with a bound; then that relance is dropped, and the next one is still to come."""
    exam = interview(30, 70)
    exam.until(61.9)
    assert len(exam.all(do.PrepareReply)) == BANK_TRIES
    assert exam.all(do.BeginInterruption) == exam.all(do.PauseListening) == []
    last = exam.all(do.PrepareReply)[-1].turn
    assert exam.until(62) == [do.TakeStock(last + 1)]


def test_a_relance_whose_voice_dies_is_played_out(interview: Begin) -> None:
    """What there is is heard, kept and completed; the candidate gets the floor back."""
    exam = ready_relance(interview)
    exam.until(30)
    exam(facts.SentenceVoiced(1, "Et depuis quand ?", 24_000))
    assert exam(facts.ReplyFailed(1, "tts")) == []
    assert names_of(exam(facts.AudioSent(1), facts.AudioPlayed(1, 24_000, True))) == [
        "CompleteTurn",
        "Caption",
        "EndInterruption",
        "ResumeListening",
        "Record",
    ]


def test_a_relance_of_which_nothing_more_is_heard_does_not_leave_the_client_muted(interview: Begin) -> None:
    """10 s beyond the sound that is known to be left, the interruption ends by itself; later counts still count."""
    exam = ready_relance(interview)
    exam.until(30)
    exam(facts.SentenceVoiced(1, "Et depuis quand ?", 48_000))
    assert exam.until(41.9) == []
    assert names_of(exam.until(42)) == ["CancelReply", "CompleteTurn", "EndInterruption", "ResumeListening", "Record"]
    assert exam(facts.AudioPlayed(1, 24_000, False)) == [
        do.Record(f"Candidat : {ENOUGH}\nExaminateur : Et"),
    ]


def test_a_second_relance_waits_until_the_first_has_ended(interview: Begin) -> None:
    """Drawn while the first is under way, it is taken up right after it."""
    exam = interview(30, 31)
    exam.says(ENOUGH)
    exam.until(22)
    exam(facts.StockTaken(1, ""), facts.ReplyReady(1))
    exam.until(36)
    assert len(exam.all(do.TakeStock)) == 1
    exam.speaks(1, "Et depuis quand faites-vous ce métier ?")
    assert exam.until(36) == [do.TakeStock(2)]
    (prepare,) = exam(facts.StockTaken(2, ""))
    assert prepare.brief.prompts[0].messages[-1][1].endswith("(Déjà demandé : Et depuis quand faites-vous ce métier ?)")
    assert names_of(exam(facts.ReplyReady(2))) == ["PauseListening", "BeginInterruption", "Say"]


def test_two_relances_of_the_bank_differ(interview: Begin) -> None:
    """What was said once is not said again in the session."""
    exam = interview(30, 60)
    for turn, at in ((1, 30), (2, 60)):
        exam.until(at - 8)
        exam(facts.StockTaken(turn, ""), facts.ReplyReady(turn))
        exam.until(at)
        exam.speaks(turn, exam.all(do.PrepareReply)[-1].brief.fallback)
    first, second = exam.all(do.PrepareReply)
    assert first.brief.fallback != second.brief.fallback


def test_a_candidate_who_spoke_into_the_interruption_is_silent_after_it(interview: Begin) -> None:
    """What the ear reported of dropped audio does not count: the next relance need not wait."""
    exam = interview(30, 60)
    exam.says(ENOUGH)
    exam.until(22)
    exam(facts.StockTaken(1, ""), facts.ReplyReady(1))
    exam.until(30)
    exam(facts.SpeechStarted(0))
    exam.speaks(1, "Et alors, que faites-vous ?")
    exam.until(52)
    exam(facts.StockTaken(2, ""), facts.ReplyReady(2))
    assert names_of(exam.until(60)) == ["PauseListening", "BeginInterruption", "Say"]


def test_the_end_of_a_turn_is_silence_too(interview: Begin) -> None:
    """Should the ear report it, the candidate does not speak any more."""
    exam = ready_relance(interview)
    exam(facts.SpeechStarted(0), facts.TurnEnded(1, 0))
    assert names_of(exam.until(30)) == ["PauseListening", "BeginInterruption", "Say"]


def test_the_candidate_is_warned_once(interview: Begin) -> None:
    """30 s before the time is up."""
    exam = interview()
    assert exam.until(149.9) == []
    assert exam.until(150) == [do.Warn("Il vous reste 30 secondes.")]
    assert exam.until(179.9) == []


def test_an_early_tick_does_nothing(interview: Begin) -> None:
    """And neither does a second one."""
    exam = interview(30)
    assert exam.exam.tick(1.0) == []
    assert exam.exam.tick(22.0) == [do.TakeStock(1)]
    assert exam.exam.tick(22.0) == []


def test_time_comes_before_the_fact(interview: Begin) -> None:
    """What was due is done first, though nobody ticked."""
    exam = interview()
    exam.now = 180.0
    assert names_of(exam(facts.SpeechStarted(0))) == ["StopListening"]


def test_two_segments_lost_in_a_row_end_the_exam(interview: Begin) -> None:
    """One may be bad luck; after the second recognition is gone, and what was said is evaluated."""
    exam = interview()
    exam.says(ENOUGH)
    exam.says("", lost=True)
    exam.says("encore une phrase")
    exam.says("", lost=True)
    assert exam.all(do.StopListening) == []
    exam.says("", lost=True)
    effects = exam(facts.ListeningStopped(0), facts.PendingHeard())
    assert names_of(effects) == ["Record", "Evaluate", "Close"]
    assert effects[-1] == do.Close(4006, "GEMINI_DISCONNECTED")


def names_of(effects: list[do.Effect]) -> list[str]:
    return [type(effect).__name__ for effect in effects]


def test_a_question_that_was_heard_is_not_asked_again(interview: Begin) -> None:
    """Whatever the model answers the second time, the screen of the second relance does not let the first one pass."""
    exam = interview(30, 60)
    exam.says("Je m'appelle Amadou et je travaille comme cuisinier à Dakar.")
    exam.until(22)
    exam(facts.StockTaken(1, ""), facts.ReplyReady(1))
    exam.until(31.5)
    question = "Et depuis quand travaillez-vous dans cette ville ?"
    exam(facts.SentenceVoiced(1, question, 48_000), facts.ReplyVoiced(1), facts.AudioSent(1))
    exam(facts.AudioPlayed(1, 48_000, True))
    exam.until(52)
    (prepare,) = [effect for effect in exam(facts.StockTaken(2, "")) if isinstance(effect, do.PrepareReply)]
    screen = prepare.brief.new_screen()
    assert screen.feed("Et depuis quand  travaillez-vous dans cette ville ?") == []
    assert screen.feed("Et que cuisinez-vous pour vos amis ?") == ["Et que cuisinez-vous pour vos amis ?"]
