from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.exam.brief import Screen
from server.exam.guard import Language, RelanceScreen, word_count

Rows = list[dict[str, str]]
Run = Callable[[Screen, list[str]], list[str]]

VOCABULARY = (
    "vous tu est-ce que qu'est-ce pourquoi avez-vous choisi comment où quand quel métier travail de la ville avec "
    "famille dans votre le , . ! ? … et n'est-ce pas candidat why do you like what is your work the of in how and "
    "did Relance : ** 1. « »"
)
WORDS = [*VOCABULARY.split(), "\n"]
texts = st.one_of(st.text(max_size=120), st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
openings = {
    "fr": ["Pourquoi avez-vous choisi", "Qu'est-ce que vous aimez dans", "Merci. Comment"],
    "en": ["Why did you choose", "What do you like in", "Thanks. How"],
}


@pytest.mark.parametrize("language", ["fr", "en"])
@given(data=st.data())
def test_what_leaves_is_one_question_of_right_length(language: Language, data: st.DataObject) -> None:
    """Whatever is fed, one question of 10 to 20 words leaves, with one mark at its end, or nothing does."""
    screen = RelanceScreen(language)
    fed = texts | st.tuples(st.sampled_from(openings[language]), texts).map(" ".join)
    for sentence in data.draw(st.lists(fed, max_size=4)):
        assert screen.feed(sentence) == []
    left = screen.finish()
    assert len(left) <= 1
    for question in left:
        assert 10 <= word_count(question) <= 20
        assert question.endswith("?")
        assert question.count("?") == 1
        assert not set("\n*[]<>") & set(question)


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFC", text).casefold()))


@given(st.lists(texts, max_size=3), st.sampled_from(["fr", "en"]))
def test_no_word_is_invented(sentences: list[str], language: Language) -> None:
    """A repair cuts: every word that leaves was fed, but for its capital."""
    screen = RelanceScreen(language)
    for sentence in sentences:
        screen.feed(sentence)
    fed = letters("".join(sentences))
    for question in screen.finish():
        assert all(letters(word) in fed for word in question.split())


def test_relances_of_the_table(table: Callable[[str], Rows], spoken: Run) -> None:
    """Each row: an answer as a model may write it, and what must leave."""
    wrong = []
    for row in table("corpus/relances.tsv"):
        language: Language = row["language"]  # type: ignore[assignment]
        left = spoken(RelanceScreen(language), row["output"].split("¶"))
        if [text.replace("\u00a0", " ") for text in left] != [row["relance"]] * bool(row["relance"]):
            wrong.append((row["case"], row["output"], left))
    assert wrong == []


def test_nothing_leaves_before_the_end() -> None:
    """The answer is judged as a whole: nothing is spoken while it still comes."""
    screen = RelanceScreen("fr")
    assert screen.feed("Qu'est-ce qui vous plaît le plus dans votre métier d'infirmier à l'hôpital ?") == []
    assert len(screen.finish()) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("?", 0),
        ("l'école", 1),
        ("Avez-vous un chat ?", 3),
        ("Où « habitez-vous » ?", 2),
        ("à 10 h 30", 4),
        ("— oui", 1),
    ],
)
def test_words_are_counted_as_a_reader_does(text: str, words: int) -> None:
    """Split at spaces; a mark alone is no word; elision and clitics make none of their own."""
    assert word_count(text) == words
