"""The dialogue: order of speech, what was heard, the history's stable prefix."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.exam.dialogue import Dialogue
from server.exam.spoken import Spoken, tail


def said(dialogue: Dialogue, turn: int, *sentences: tuple[str, int], played: int, keep_place: bool = False) -> Spoken:
    spoken = Spoken(turn)
    for text, samples in sentences:
        spoken.voice(text, samples)
    dialogue.say(spoken, keep_place=keep_place)
    spoken.play(played, complete=False)
    return spoken


def test_a_turn_that_was_not_heard_is_in_no_reading() -> None:
    """Text produced is nothing; samples played are all."""
    dialogue = Dialogue("fr")
    said(dialogue, 1, ("Bonjour madame.", 24_000), played=0)
    assert dialogue.lines == []
    assert dialogue.history(1_000) == ()
    assert dialogue.examiner_texts == []
    assert dialogue.is_empty


@pytest.mark.parametrize(
    ("played", "text"),
    [
        (0, ""),
        (2_000, ""),
        (5_000, "Le"),
        (12_000, "Le train"),
        (24_000, "Le train part demain."),
        (36_000, "Le train part demain. Il est"),
        (48_000, "Le train part demain. Il est complet."),
        (99_000, "Le train part demain. Il est complet."),
    ],
)
def test_a_broken_sentence_is_cut_at_a_word_in_proportion_to_its_samples(played: int, text: str) -> None:
    """Half of the samples are half of the letters, down to the last whole word."""
    spoken = Spoken(1, [("Le train part demain.", 24_000), ("Il est complet.", 24_000)])
    spoken.play(played, complete=False)
    assert spoken.text == text


def test_an_older_count_of_samples_takes_nothing_back() -> None:
    """Counts race; the highest is what was heard."""
    spoken = Spoken(1, [("Oui.", 100), ("Non.", 100)])
    spoken.play(200, complete=False)
    spoken.play(100, complete=False)
    assert spoken.text == "Oui. Non."


def test_a_sentence_without_sound_was_not_said() -> None:
    """What is only marks has no samples, and no place in the dialogue."""
    spoken = Spoken(1)
    spoken.voice("…", 0)
    spoken.voice("Oui.", 100)
    spoken.play(0, complete=True)
    assert spoken.text == "Oui."


@given(
    sentences=st.lists(st.tuples(st.text(max_size=30), st.integers(0, 50_000)), max_size=5),
    played=st.integers(0, 300_000),
)
def test_what_was_heard_is_the_beginning_of_what_was_voiced(sentences: list[tuple[str, int]], played: int) -> None:
    """Whatever the texts and counts: whole words from the beginning, and nothing else."""
    spoken = Spoken(1)
    for text, samples in sentences:
        spoken.voice(text, samples)
    spoken.play(played, complete=False)
    voiced = " ".join(text for text, samples in spoken.sentences if text).split()
    assert spoken.text.split() == voiced[: len(spoken.text.split())]


def test_a_late_text_goes_to_the_place_of_its_segment() -> None:
    """Recognition may be slow; order is that of speech."""
    dialogue = Dialogue("fr")
    dialogue.announce(1)
    said(dialogue, 1, ("D'accord.", 100), played=100)
    dialogue.announce(2)
    dialogue.hear(2, "Et demain ?")
    dialogue.hear(1, "C'est combien ?")
    assert dialogue.lines == ["Candidat : C'est combien ?", "Examinateur : D'accord.", "Candidat : Et demain ?"]


def test_a_segment_that_the_examiner_broke_off_goes_before_the_turn() -> None:
    """It is announced after the turn has begun, but was spoken before."""
    dialogue = Dialogue("en")
    said(dialogue, 1, ("And then?", 100), played=100, keep_place=True)
    dialogue.announce(1)
    dialogue.release()
    dialogue.announce(2)
    dialogue.hear(2, "Then we left.")
    dialogue.hear(1, "We were at")
    assert dialogue.lines == ["Candidate: We were at", "Examiner: And then?", "Candidate: Then we left."]


def test_segments_of_one_turn_are_one_line_and_line_breaks_are_spaces() -> None:
    """A line a turn, whatever recognition writes."""
    dialogue = Dialogue("fr")
    dialogue.hear(1, " Bonjour\nmadame ")
    dialogue.hear(2, "")
    dialogue.hear(3, "je voudrais\tun billet")
    assert dialogue.lines == ["Candidat : Bonjour madame je voudrais un billet"]
    assert dialogue.candidate_text == "Bonjour madame je voudrais un billet"


def test_two_turns_of_the_examiner_are_two_lines_but_one_message() -> None:
    """Chat templates want roles to alternate."""
    dialogue = Dialogue("fr")
    dialogue.hear(1, "Euh")
    said(dialogue, 1, ("Allez-y.", 100), played=100)
    said(dialogue, 2, ("Je vous écoute.", 100), played=100)
    assert dialogue.lines[1:] == ["Examinateur : Allez-y.", "Examinateur : Je vous écoute."]
    assert dialogue.history(1_000) == (("user", "Euh"), ("assistant", "Allez-y. Je vous écoute."))


def test_an_aside_and_an_unheard_turn_leave_open_what_is_unanswered() -> None:
    """Unanswered is what was said, asides left out, since the examiner was last heard."""
    dialogue = Dialogue("fr")
    dialogue.hear(1, "C'est combien ?")
    said(dialogue, 1, ("Dix euros.", 100), played=0)
    assert dialogue.unanswered() == "C'est combien ?"
    said(dialogue, 2, ("Dix euros.", 100), played=100)
    dialogue.announce(2, aside=True)
    dialogue.hear(2, "Oui")
    assert dialogue.unanswered() == ""
    dialogue.hear(3, "Et pour deux ?")
    assert dialogue.unanswered() == "Et pour deux ?"
    assert dialogue.history(1_000)[-1] == ("user", "Oui Et pour deux ?")


def exchange(dialogue: Dialogue, number: int, size: int) -> None:
    dialogue.hear(number, f"question {number} " + "x" * size)
    said(dialogue, number, (f"Réponse {number}. " + "y" * size, 100), played=100)


@given(st.lists(st.integers(0, 200), min_size=40, max_size=40), st.integers(100, 1_000))
def test_each_history_begins_with_the_one_before_but_at_a_cut(sizes: list[int], budget: int) -> None:
    """Over 40 turns a server with a cache reads only what is new; a cut leaves half of the budget at most."""
    dialogue = Dialogue("fr")
    before: tuple[tuple[str, str], ...] = ()
    for number, size in enumerate(sizes):
        dialogue.hear(number, f"question {number} " + "x" * size)
        history = dialogue.history(budget)
        total = sum(len(text) for _, text in history)
        assert total <= budget
        assert history[0][0] == history[-1][0] == "user"
        is_cut = history[: len(before)] != before
        assert not is_cut or len(history) == 1 or total <= budget // 2
        before = history
        said(dialogue, number, (f"Réponse {number}.", 100), played=100)


def test_cuts_are_rare() -> None:
    """Half of the budget at a time: in 40 turns of a twentieth of the budget each, four cuts and no more."""
    dialogue = Dialogue("fr")
    before: tuple[tuple[str, str], ...] = ()
    cuts = 0
    for number in range(40):
        exchange(dialogue, number, 15)
        history = dialogue.history(1_000)
        cuts += history[: len(before)] != before
        before = history
    assert 1 <= cuts <= 5


def test_a_single_message_above_the_budget_keeps_its_end() -> None:
    """The newest words matter most, and a prompt must fit its context."""
    dialogue = Dialogue("fr")
    dialogue.hear(1, "un deux trois quatre")
    assert dialogue.history(12) == (("user", "quatre"),)
    assert tail("un deux", 7) == "un deux"
