from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.exam.brief import Screen
from server.exam.guard import Language, PassiveScreen, is_question
from server.exam.guard.text import QUESTION_MARKS

Rows = list[dict[str, str]]
Run = Callable[[Screen, list[str]], list[str]]

VOCABULARY = (
    "vous tu je est-ce que qu' voulez-vous avez où quand comment combien quel quelle est le la prix , . ! ? … « » "
    "oui non d'accord si dites-moi n'est-ce pas ça va et mais do you what is the are can I right isn't it when "
    "tell me Client : ** ( ) [ ] - 1. <think> </think>"
)
WORDS = [*VOCABULARY.split(), "\n"]
texts = st.one_of(st.text(max_size=120), st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join))
languages: st.SearchStrategy[Language] = st.sampled_from(["fr", "en"])


@given(st.lists(texts, max_size=5), languages)
def test_nothing_that_asks_passes(sentences: list[str], language: Language) -> None:
    """Whatever is fed, what passes bears no question mark of any script and has no interrogative form."""
    screen = PassiveScreen(language)
    for text in [passed for sentence in sentences for passed in screen.feed(sentence)] + screen.finish():
        assert not set(text) & set(QUESTION_MARKS)
        assert not is_question(text, language)
        assert text == text.strip()
        assert any(map(str.isalnum, text))


@given(texts, languages)
def test_what_passed_passes_again(sentence: str, language: Language) -> None:
    """What passed needs no second look: fed again, it loses no letter."""
    for text in PassiveScreen(language).feed(sentence):
        again = PassiveScreen(language)
        left = "".join(again.feed(text) + again.finish())
        assert list(filter(str.isalnum, left)) == list(filter(str.isalnum, text))


def test_a_statement_before_its_question_stays(table: Callable[[str], Rows], spoken: Run) -> None:
    """Where a whole statement stands before the question, it stays; half a one goes with it."""
    for row in table("corpus/turns.tsv"):
        expected = [text for text in row["spoken"].split("¶") if text]
        language: Language = row["language"]  # type: ignore[assignment]
        assert spoken(PassiveScreen(language), [row["sentence"]]) == expected, row


def test_sentences_pass_at_once() -> None:
    """A finished sentence is returned by the feed that brought it: the voice need not wait."""
    assert PassiveScreen("fr").feed("Le prix est de dix euros.") == ["Le prix est de dix euros."]


def test_an_answer_cut_short_loses_its_broken_end(spoken: Run) -> None:
    """The last sentence is dropped when it breaks off, unless it is all there is."""
    assert spoken(PassiveScreen("fr"), ["Oui, c'est libre.", "Si vous avez des questions ou besoin"]) == [
        "Oui, c'est libre."
    ]
    assert spoken(PassiveScreen("fr"), ["Oui, c'est libre"]) == ["Oui, c'est libre"]


def test_lines_without_an_end_pass_in_order(spoken: Run) -> None:
    """Items of a list have no full stop: each passes when the next line shows that it was whole."""
    lines = ["Voici les prix :", "- le lundi dix euros", "- le mardi huit euros", "C'est tout."]
    expected = ["Voici les prix :", "le lundi dix euros", "le mardi huit euros", "C'est tout."]
    assert spoken(PassiveScreen("fr"), lines) == expected


def test_nothing_passes_once_it_speaks_for_the_candidate(spoken: Run) -> None:
    """A model that goes on with the candidate's line has ended its own answer."""
    lines = ["Vendeur : Le vélo coûte cent euros.", "Client : Je le prends.", "Vendeur : Très bien."]
    assert spoken(PassiveScreen("fr"), lines) == ["Le vélo coûte cent euros."]


@pytest.mark.parametrize("mark", sorted(QUESTION_MARKS))
def test_every_script_s_mark_is_a_mark(mark: str) -> None:
    """A question mark of another script does not smuggle a question through."""
    assert is_question(f"Pour deux personnes {mark}", "fr")


def test_takes_under_a_millisecond_a_sentence(table: Callable[[str], Rows]) -> None:
    """The guard costs nothing beside an engine: under 1 ms a sentence, on average over the corpus."""
    sentences = [row["sentence"] for part in ("dev", "heldout") for row in table(f"corpus/fr_{part}.tsv")]
    screen = PassiveScreen("fr")
    started = perf_counter()
    for sentence in sentences:
        screen.feed(sentence)
    assert (perf_counter() - started) / len(sentences) < 0.001


def test_a_sentence_that_comes_again_is_not_said_again() -> None:
    """A model that goes round in circles is heard once."""
    screen = PassiveScreen("en")
    said = [kept for _ in range(3) for kept in screen.feed("You can visit the flat at noon.")]
    assert [*said, *screen.finish()] == ["You can visit the flat at noon."]
