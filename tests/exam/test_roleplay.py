"""Task 2: the candidate leads; one turn, one decision, all its segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from server.exam import effects as do
from server.exam import facts
from server.exam.bank import Need, sentences

Begin = Callable[..., Any]


def names_of(effects: list[do.Effect]) -> list[str]:
    return [type(effect).__name__ for effect in effects]


def last_words(prepare: do.PrepareReply) -> str:
    """The candidate's turn, as the LLM is asked about it."""
    role, words = prepare.brief.prompts[0].messages[-1]
    assert role == "user"
    return words


def answering(roleplay: Begin) -> Any:
    """The examiner is saying its first answer, of two sentences of 2 s each, to « C'est combien ? »."""
    exam = roleplay()
    exam.asks("C'est combien ?")
    exam(facts.ReplyReady(1))
    exam(facts.SentenceVoiced(1, "Le billet coûte dix euros.", 48_000))
    exam(facts.SentenceVoiced(1, "Le départ est à midi.", 48_000))
    return exam


def test_a_reply_that_fails_twice_ends_the_exam(roleplay: Begin) -> None:
    """One more try under a new number, then 4006; what was said is stored and evaluated."""
    exam = roleplay()
    exam.asks("C'est combien ?")
    cancel, again = exam(facts.ReplyFailed(1, "llm"))
    assert (cancel, again.turn) == (do.CancelReply(1), 2)
    assert last_words(again) == "C'est combien ?"
    exam(facts.ReplyFailed(2, "llm"))
    effects = exam(facts.ListeningStopped(0), facts.PendingHeard())
    assert names_of(effects) == ["Record", "Evaluate", "Close"]
    assert effects[-1] == do.Close(4006, "GEMINI_DISCONNECTED")


def test_the_second_try_may_succeed_and_the_next_turn_has_two_again(roleplay: Begin) -> None:
    """Tries are counted by decision."""
    exam = roleplay()
    exam.asks("C'est combien ?")
    exam(facts.ReplyFailed(1, "tts"))
    assert exam(facts.ReplyReady(2)) == [do.Say(2)]
    exam.speaks(2, "Dix euros.")
    exam.asks("Et pour deux ?")
    assert names_of(exam(facts.ReplyFailed(3, "tts"))) == ["CancelReply", "PrepareReply"]


def test_two_segments_lost_in_a_row_end_the_exam(roleplay: Begin) -> None:
    """Recognition is an engine too."""
    exam = roleplay()
    exam.says("Bonjour")
    exam.asks("")
    exam.says("", lost=True)
    exam.says("", lost=True)
    exam(facts.ListeningStopped(0))
    assert exam(facts.PendingHeard())[-1] == do.Close(4006, "GEMINI_DISCONNECTED")


def test_lost_words_have_a_sentence_of_the_bank_for_an_answer(roleplay: Begin) -> None:
    """There is nothing to ask the LLM about; the candidate hears that the examiner is there, and may say it again."""
    exam = roleplay()
    exam.says("", lost=True)
    (prepare,) = exam(facts.TurnEnded(1, 3_000))
    assert prepare.brief.prompts == ()
    assert prepare.brief.fallback in sentences("fr", Need.STATEMENT)
    exam(facts.ReplyReady(1))
    exam.speaks(1, prepare.brief.fallback)
    assert last_words(exam.asks("C'est combien ?")[-1]) == "C'est combien ?"


def test_the_examiner_waits_in_silence(roleplay: Begin) -> None:
    """However long, the candidate begins."""
    assert roleplay().until(839) == []


def test_a_turn_is_answered_when_it_has_ended_and_its_text_is_there(roleplay: Begin) -> None:
    """The text may come after the decision, and segments in any order."""
    exam = roleplay()
    exam(facts.SpeechStarted(0), facts.SegmentClosed(1, 0, 900))
    exam(facts.SpeechStarted(1_100), facts.SegmentClosed(2, 1_100, 2_000))
    assert exam(facts.TurnEnded(2, 4_000)) == []
    assert names_of(exam(utterance(2, "un billet pour Rennes."))) == ["Caption", "Record"]
    effects = exam(utterance(1, "Bonjour, je voudrais"))
    assert names_of(effects) == ["Caption", "Record", "PrepareReply"]
    assert last_words(effects[-1]) == "Bonjour, je voudrais un billet pour Rennes."


def test_a_pause_for_thought_ends_nothing(roleplay: Begin) -> None:
    """Only TurnEnded is a decision."""
    exam = roleplay()
    assert names_of(exam.says("Bonjour, euh")) == ["Caption", "Record"]
    assert exam.until(60) == []


def test_a_turn_without_a_word_asks_for_nothing(roleplay: Begin) -> None:
    """A cough."""
    assert roleplay().asks("") == []


def test_a_ready_reply_is_said_at_once(roleplay: Begin) -> None:
    """The decision has been made; there is nothing left to wait for."""
    exam = roleplay()
    exam.asks("C'est combien ?")
    assert exam(facts.ReplyReady(1)) == [do.Say(1)]


def test_a_heard_reply_is_complete_and_recorded(roleplay: Begin) -> None:
    """Captions as sentences are heard; turnComplete when all has been."""
    exam = answering(roleplay)
    assert exam(facts.AudioPlayed(1, 47_000, False)) == []
    assert exam(facts.AudioPlayed(1, 50_000, False)) == [do.Caption("examiner", "Le billet coûte dix euros.")]
    assert exam(facts.AudioSent(1)) == []
    assert exam(facts.AudioPlayed(1, 96_000, True)) == [
        do.Caption("examiner", "Le départ est à midi."),
        do.CompleteTurn(1),
        do.Record("Candidat : C'est combien ?\nExaminateur : Le billet coûte dix euros. Le départ est à midi."),
    ]
    assert exam.exam.relances == 0


def test_the_history_goes_with_the_next_question(roleplay: Begin) -> None:
    """Roles alternate, the system message first."""
    exam = roleplay()
    exam.asks("C'est combien ?")
    exam(facts.ReplyReady(1))
    exam.speaks(1, "Dix euros.")
    exam.asks("Et pour deux ?")
    messages = exam.all(do.PrepareReply)[-1].brief.prompts[0].messages
    assert messages[0][0] == "system"
    assert messages[1:] == (("user", "C'est combien ?"), ("assistant", "Dix euros."), ("user", "Et pour deux ?"))


def test_the_fallback_is_a_statement_and_none_repeats_soon(roleplay: Begin) -> None:
    """Each is spent once before any comes back."""
    exam = roleplay()
    said = []
    for turn in range(1, 12):
        exam.asks(f"Question {turn} ?")
        said.append(exam.all(do.PrepareReply)[-1].brief.fallback)
        exam(facts.ReplyReady(turn))
        exam.speaks(turn, "Très bien.")
    statements = sentences("fr", Need.STATEMENT)
    assert said[: len(statements)] == list(statements)
    assert said[len(statements) : 2 * len(statements)] == list(statements)


def test_speech_before_the_reply_keeps_the_turn_open(roleplay: Begin) -> None:
    """Nothing was said yet: the reply is dropped, and the next decision answers all segments."""
    exam = roleplay()
    exam.asks("Je voudrais un billet.")
    exam(facts.SpeechStarted(3_500))
    assert exam(facts.SpeechSustained(3_750)) == [do.CancelReply(1)]
    assert exam(facts.AudioPlayed(1, 0, False), facts.ReplyReady(1), facts.ReplyFailed(1, "llm")) == []
    effects = exam(*exam.segment("Pour demain."), facts.TurnEnded(2, 6_000))
    assert last_words(effects[-1]) == "Je voudrais un billet. Pour demain."
    assert effects[-1].turn == 2


def test_a_cough_before_the_reply_does_not_leave_the_examiner_mute(roleplay: Begin) -> None:
    """What was added is empty: the same turn is prepared again."""
    exam = roleplay()
    exam.asks("Je voudrais un billet.")
    effects = exam.asks("")
    assert names_of(effects) == ["CancelReply", "PrepareReply"]
    assert last_words(effects[-1]) == "Je voudrais un billet."


def test_speech_takes_back_a_decision_that_waits_for_its_text(roleplay: Begin) -> None:
    """The turn went on: its next end decides."""
    exam = roleplay()
    exam(facts.SpeechStarted(0), facts.SegmentClosed(1, 0, 900), facts.TurnEnded(1, 3_000))
    exam(facts.SpeechStarted(3_100), facts.SpeechSustained(3_350))
    assert names_of(exam(utterance(1, "Bonjour"))) == ["Caption", "Record"]
    effects = exam(facts.SegmentClosed(2, 3_100, 4_000), utterance(2, "un billet"), facts.TurnEnded(2, 6_000))
    assert last_words(effects[-1]) == "Bonjour un billet"


def test_a_sound_that_is_not_sustained_cuts_nothing(roleplay: Begin) -> None:
    """Neither a reply in preparation nor one that is said."""
    exam = roleplay()
    exam.asks("C'est combien ?")
    assert exam(facts.SpeechStarted(3_100), facts.SpeechPaused(3_200)) == []
    assert exam(facts.ReplyReady(1)) == [do.Say(1)]
    assert exam(facts.SpeechStarted(3_400)) == []


def test_a_candidate_who_cuts_in_gets_the_floor_and_only_what_was_heard_stays(roleplay: Begin) -> None:
    """Cancelled and yielded at once; the last count of samples cuts the dialogue, at a word."""
    exam = answering(roleplay)
    exam(facts.SpeechStarted(5_000))
    assert exam(facts.SpeechSustained(5_250)) == [do.CancelReply(1), do.YieldFloor(1)]
    heard = "Candidat : C'est combien ?\nExaminateur : Le billet coûte dix euros. Le départ"
    assert exam(facts.AudioPlayed(1, 72_000, False)) == [
        do.Caption("examiner", "Le billet coûte dix euros."),
        do.Record(heard),
    ]
    effects = exam(*exam.segment("Pardon, dix euros ?"), facts.TurnEnded(2, 8_000))
    messages = effects[-1].brief.prompts[0].messages[1:]
    assert messages == (
        ("user", "C'est combien ?"),
        ("assistant", "Le billet coûte dix euros. Le départ"),
        ("user", "Pardon, dix euros ?"),
    )
    assert exam.all(do.CompleteTurn) == []


def test_the_length_of_the_sentence_that_was_cut_may_come_after_the_cut(roleplay: Begin) -> None:
    """A sentence that was still being voiced is told with the length that it would have had."""
    exam = roleplay()
    exam.asks("C'est combien ?")
    exam(facts.ReplyReady(1), facts.SpeechStarted(5_000), facts.SpeechSustained(5_250))
    exam(facts.SentenceVoiced(1, "Le billet coûte dix euros.", 48_000), facts.AudioPlayed(1, 24_000, False))
    assert exam.exam.transcript.endswith("Examinateur : Le billet")


def test_after_a_cut_only_counts_are_still_taken(roleplay: Begin) -> None:
    """All other late facts of the turn are dropped."""
    exam = answering(roleplay)
    exam(facts.SpeechStarted(5_000), facts.SpeechSustained(5_250))
    late = (facts.ReplyReady(1), facts.ReplyVoiced(1), facts.AudioSent(1), facts.ReplyFailed(1, "tts"))
    assert exam(*late) == []


def test_a_cut_before_a_word_was_heard_leaves_the_question_unanswered(roleplay: Begin) -> None:
    """A cough at the first sample: the same question is answered again."""
    exam = answering(roleplay)
    exam(facts.SpeechStarted(5_000), facts.SpeechSustained(5_250), facts.AudioPlayed(1, 0, False))
    effects = exam(*exam.segment(""), facts.TurnEnded(2, 8_000))
    assert names_of(effects) == ["PrepareReply"]
    assert last_words(effects[-1]) == "C'est combien ?"


def test_a_cough_into_an_answer_that_was_heard_asks_for_nothing(roleplay: Begin) -> None:
    """The floor was yielded; the candidate leads on."""
    exam = answering(roleplay)
    exam(facts.SpeechStarted(5_000), facts.SpeechSustained(5_250), facts.AudioPlayed(1, 60_000, False))
    assert exam(*exam.segment(""), facts.TurnEnded(2, 8_000)) == []


@pytest.mark.parametrize("ends", ["while the examiner speaks", "after it"])
def test_a_short_word_into_the_answer_is_kept_and_asks_for_nothing(roleplay: Begin, ends: str) -> None:
    """« Oui » is in its place in the transcript, and goes with the next question."""
    exam = answering(roleplay)
    exam(facts.SpeechStarted(5_000), facts.SpeechPaused(5_200))
    exam(*exam.segment("Oui"))
    if ends == "while the examiner speaks":
        assert exam(facts.TurnEnded(2, 7_200)) == []
    exam(facts.AudioPlayed(1, 96_000, True))
    if ends == "after it":
        assert exam(facts.TurnEnded(2, 7_200)) == []
    assert exam.exam.transcript.splitlines()[-1] == "Candidat : Oui"
    exam.asks("Et pour deux ?")
    assert last_words(exam.all(do.PrepareReply)[-1]) == "Oui Et pour deux ?"


def test_speech_that_began_under_the_answer_and_went_on_after_it_is_a_turn(roleplay: Begin) -> None:
    """Sustained when the examiner was done: it cuts nothing, and it is answered."""
    exam = answering(roleplay)
    exam(facts.SpeechStarted(5_000), facts.AudioPlayed(1, 96_000, True))
    assert exam(facts.SpeechSustained(5_250)) == []
    effects = exam(*exam.segment("Et pour deux ?"), facts.TurnEnded(2, 8_000))
    assert last_words(effects[-1]) == "Et pour deux ?"


def test_a_word_that_began_before_the_answer_stands_before_it(roleplay: Begin) -> None:
    """Order is that of speech, though the segment closes while the examiner speaks; the answer covers it."""
    exam = roleplay()
    exam.asks("C'est combien ?")
    exam(facts.SpeechStarted(3_100), facts.ReplyReady(1))
    exam(*exam.segment("Merci"), facts.TurnEnded(2, 6_000))
    exam.speaks(1, "Dix euros.")
    assert exam.exam.transcript.splitlines() == ["Candidat : C'est combien ? Merci", "Examinateur : Dix euros."]
    assert len(exam.all(do.PrepareReply)) == 1


def test_a_turn_that_ends_during_the_preparation_makes_no_second_reply(roleplay: Begin) -> None:
    """A short word after the decision changes nothing about it."""
    exam = roleplay()
    exam.asks("C'est combien ?")
    exam(facts.SpeechStarted(3_100), facts.SpeechPaused(3_200), *exam.segment("Merci"))
    assert exam(facts.TurnEnded(2, 6_000)) == []


def test_an_answer_of_which_nothing_more_is_heard_is_given_up(roleplay: Begin) -> None:
    """The floor goes back to the candidate, whose next turn is answered."""
    exam = answering(roleplay)
    assert names_of(exam.until(14)) == ["CancelReply", "CompleteTurn", "Record"]
    assert names_of(exam.asks("Vous êtes là ?"))[-1] == "PrepareReply"


def test_the_candidate_is_warned_a_minute_before_the_end(roleplay: Begin) -> None:
    """At 14 of 15 minutes."""
    exam = roleplay(language="en")
    assert exam.until(839.9) == []
    assert exam.until(840) == [do.Warn("You have 1 minute left.")]


def test_each_prompt_begins_with_the_one_before_it_over_forty_turns(roleplay: Begin) -> None:
    """Byte for byte, but at the cuts, which are few and leave the system message as it is."""
    exam = roleplay(history_budget_chars=1_000)
    before: tuple[tuple[str, str], ...] = ()
    cuts = 0
    for turn in range(1, 41):
        exam.asks(f"Question numéro {turn} ?")
        messages = exam.all(do.PrepareReply)[-1].brief.prompts[0].messages
        exam(facts.ReplyReady(turn))
        exam.speaks(turn, f"Voici la réponse numéro {turn}.")
        cuts += messages[: len(before)] != before
        assert messages[:1] == (before or messages)[:1]
        before = messages
    assert 1 <= cuts <= 5


def utterance(number: int, text: str) -> facts.UtteranceHeard:
    return facts.UtteranceHeard(number, text, 0, 900, 800, 0.9)
