from __future__ import annotations

from collections.abc import Callable

import pytest

from server.exam.guard import Language, PassiveScreen, is_question

Rows = list[dict[str, str]]
PARTS = ("dev", "heldout", "hard")
Corpus = Callable[[Language], Rows]


@pytest.fixture(scope="session")
def corpus(table: Callable[[str], Rows]) -> Corpus:
    """Every labelled sentence of a language: ``q`` asks, ``p`` is plain."""
    return lambda language: [row for part in PARTS for row in table(f"corpus/{language}_{part}.tsv")]


def spoken_of(sentence: str, language: Language) -> list[str]:
    screen = PassiveScreen(language)
    return screen.feed(sentence) + screen.finish()


def asks(passed: list[str], language: Language) -> bool:
    return any("?" in text or is_question(text, language) for text in passed)


@pytest.mark.parametrize("language", ["fr", "en"])
def test_no_marked_question_passes(corpus: Corpus, language: Language) -> None:
    """A question with its mark never passes in task 2; nor does any other question once it is given its mark."""
    for row in corpus(language):
        if row["label"] == "q":
            marked = row["sentence"] if row["form"] == "marked" else row["sentence"].rstrip(".") + " ?"
            assert not asks(spoken_of(marked, language), language), row


@pytest.mark.parametrize("language", ["fr", "en"])
def test_unmarked_questions_are_caught(corpus: Corpus, language: Language) -> None:
    """Of the questions without a mark, 98 in 100 do not pass as they are."""
    rows = [row for row in corpus(language) if row["label"] == "q" and row["form"] != "marked"]
    missed = [row for row in rows if spoken_of(row["sentence"], language) == [row["sentence"]]]
    assert len(missed) <= 0.02 * len(rows), missed


@pytest.mark.parametrize("language", ["fr", "en"])
def test_plain_sentences_are_kept(corpus: Corpus, language: Language) -> None:
    """Of the sentences that ask nothing, however much they look like it, at most 2 in 100 are lost or changed."""
    rows = [row for row in corpus(language) if row["label"] == "p"]
    lost = [row for row in rows if spoken_of(row["sentence"], language) != [row["sentence"]]]
    assert len(lost) <= 0.02 * len(rows), lost


@pytest.mark.parametrize(("language", "least"), [("fr", 330), ("en", 120)])
def test_the_corpus_is_large_enough(corpus: Corpus, language: Language, least: int) -> None:
    """330 French and 120 English sentences at least, and no sentence twice."""
    sentences = [row["sentence"] for row in corpus(language)]
    assert len(sentences) >= least
    assert len(set(sentences)) == len(sentences)


@pytest.mark.parametrize("label", ["keep", "drop"])
def test_out_of_role(table: Callable[[str], Rows], label: str) -> None:
    """Talk of machines, of the exam, in another language or for the candidate is dropped; what looks like it stays."""
    for row in table("corpus/roles.tsv"):
        if row["label"] == label:
            language: Language = row["language"]  # type: ignore[assignment]
            expected = [row["sentence"]] if label == "keep" else []
            assert spoken_of(row["sentence"], language) == expected, row
